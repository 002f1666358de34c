"""Automatic players: each chooses among the legal options by the game as it stands and a chance of its own."""
