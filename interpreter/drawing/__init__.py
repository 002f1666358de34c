"""Pictures of graphs and of games played on them. Import its modules one by one."""
