"""Hidden information: what the seats of a table may know, and what else could be true for them."""
