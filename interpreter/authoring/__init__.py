"""Authoring of rulesets: templates for new files, and validation."""

FORMATS = (".csv", ".graphml", ".gml", ".geojson", ".json")
"""Suffixes of maps of other programs."""
