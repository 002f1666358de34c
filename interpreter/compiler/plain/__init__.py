"""The plain form: a closure for each expression and step, as simple as can be. It is the oracle of the other."""
