"""How the tests are run: properties always by the same examples in continuous integration, and no cache of a user's."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

os.environ["REGELWERK_CACHE"] = "off"  # tests of the cache name a folder of their own
