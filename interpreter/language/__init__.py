"""The rule language: text, tree, checked tree."""
