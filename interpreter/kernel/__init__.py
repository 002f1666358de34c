"""The state of a game and the effects that change it."""
