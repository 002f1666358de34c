"""The fast form: Python functions written from the checked trees, and what runs them."""
