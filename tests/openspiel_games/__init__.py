"""Games of ``docs/examples`` that OpenSpiel has too: a module for each, with the attribute ``GAME``."""
