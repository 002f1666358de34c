"""Authoring of rulesets: templates for new files, and validation."""

KINDS = ("map", "overlay", "edition", "game")
"""Kinds of new files."""
FORMATS = (".csv", ".graphml", ".gml", ".geojson", ".json")
"""Suffixes of maps of other programs."""
