"""The rule language: text, syntax tree, checked tree."""
