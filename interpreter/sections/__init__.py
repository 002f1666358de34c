"""The language's files as types: each section is a record, each key an attribute that says what it means."""
