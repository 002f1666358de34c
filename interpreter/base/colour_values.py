"""Print colours of words that name a colour."""

from __future__ import annotations

__all__ = ["NAMED"]

NAMED = {
    "red": "#c8523f",
    "pink": "#d98aa6",
    "magenta": "#b0508f",
    "purple": "#8467a8",
    "violet": "#8467a8",
    "indigo": "#5a5ba0",
    "blue": "#4a7fb5",
    "turquoise": "#3fa09a",
    "teal": "#2f827d",
    "cyan": "#4fa9bf",
    "green": "#6d9b4a",
    "lime": "#a3b84a",
    "yellow": "#e0b83c",
    "gold": "#d0a23a",
    "orange": "#dc8a3c",
    "brown": "#9b6f47",
    "black": "#4a4a4a",
    "grey": "#8f9296",
    "gray": "#8f9296",
    "white": "#f2efe6",
}
