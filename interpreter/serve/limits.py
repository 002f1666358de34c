"""Limits of clients, so that one does not stop the others.

A client is the address of a request, behind a reverse proxy the one that the proxy forwards.
"""

from __future__ import annotations

import time
from contextlib import suppress
from ipaddress import IPv6Address, ip_address

from starlette.types import Scope

__all__ = ["Allowance", "client_of"]

MOST_KNOWN = 10_000


class Allowance:
    """Rate limit: ``most`` actions at once for each key, and ``a_second`` in the long run."""

    def __init__(self, most: float, a_second: float) -> None:
        self.most, self.a_second = most, a_second
        self._left: dict[str, tuple[float, float]] = {}

    def takes(self, key: str) -> bool:
        """Return whether a key may act now, and count it."""
        now = time.monotonic()
        left, then = self._left.pop(key, (self.most, now))
        left = min(self.most, left + (now - then) * self.a_second)
        if len(self._left) >= MOST_KNOWN:
            del self._left[next(iter(self._left))]
        self._left[key] = max(0.0, left - 1), now
        return left >= 1


def client_of(scope: Scope) -> str:
    """Return the address of a client; of an IPv6 address the network, all of which one client may have."""
    host = str((scope.get("client") or ("",))[0])
    with suppress(ValueError):
        address = ip_address(host)
        if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
            return address.exploded[:19]
    return host
