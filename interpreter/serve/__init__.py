"""The table in a browser: a server for games of any ruleset. Modules are imported one by one."""
