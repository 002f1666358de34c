"""Bots: each chooses among the legal options, with random numbers of its own."""
