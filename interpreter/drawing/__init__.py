"""Pictures of graphs, and of games that are played on them. Modules are imported one by one."""
