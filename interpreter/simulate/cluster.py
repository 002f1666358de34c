"""The same games past one machine: workers of a Dask cluster. Dask is installed with `regelwerk[cluster]`.

The scheduler gives the games of a worker that is lost to another one. A game is known by its seed, so nothing can be
counted twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from typing import Any

from interpreter.simulate.workers import Crew

__all__ = ["LOCAL", "ClusterUnavailable", "cluster", "local_cluster"]

LOCAL = "local"
"""Instead of an address: a cluster of this machine's processes, which lasts as long as it is used."""
TIMEOUT = 30
"""So many seconds a cluster has to answer, and to have a worker."""


class ClusterUnavailable(Exception):
    """There is no cluster to be had; says why."""


@contextmanager
def cluster(address: str, jobs: int) -> Iterator[Crew]:
    """The workers of a cluster, or of one of this machine with so many of them."""
    with ExitStack() as stack:
        where = stack.enter_context(local_cluster(jobs)) if address == LOCAL else address
        yield stack.enter_context(_workers(where))


@contextmanager
def local_cluster(jobs: int) -> Iterator[Any]:
    """A cluster of so many processes of this machine; one that ends is begun anew."""
    from logging import CRITICAL

    try:
        from distributed import LocalCluster
    except ImportError:
        raise _missing() from None
    with LocalCluster(
        n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=CRITICAL
    ) as found:
        yield found


@contextmanager
def _workers(where: Any) -> Iterator[Crew]:
    try:
        from distributed import Client, KilledWorker
        from distributed.comm.addressing import get_address_host_port
    except ImportError:
        raise _missing() from None
    try:
        if isinstance(where, str):
            get_address_host_port(where)  # a client that fails over it would take a minute to go
    except ValueError as error:
        raise ClusterUnavailable(
            f"got the address `{where}`, want one as tcp://10.0.0.5:8786 or `{LOCAL}`: {error}"
        ) from None
    try:
        client = Client(where, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterUnavailable(f"no cluster answers at {where}: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=TIMEOUT)
        except TimeoutError:
            raise ClusterUnavailable(f"the cluster at {where} has no workers") from None
        executor = client.get_executor(pure=False)
        try:
            yield Crew(
                executor,
                lambda: max(1, sum(client.ncores().values())),
                lambda: executor.shutdown(wait=False),
                (KilledWorker, CancelledError),
            )
        finally:
            executor.shutdown(wait=False)


def _missing() -> ClusterUnavailable:
    return ClusterUnavailable("a cluster needs Dask: `pip install 'regelwerk[cluster]'`, here and on its workers")
