"""The plain form: a closure for each expression and step. It is simple, complete and the reference for the module."""
