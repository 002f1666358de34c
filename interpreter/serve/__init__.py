"""Web server for games of any ruleset in the browser. Modules are imported one by one."""
