"""Lowering: checked procedures become stretches, with what both forms of a game share: facts, watches, constants."""
