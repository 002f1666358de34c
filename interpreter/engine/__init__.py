"""A composed ruleset, and the games it plays."""
