"""Explanations: names of a ruleset, legality of a choice, provenance of a line of the log."""
