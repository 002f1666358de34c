"""Simulation on the workers of a Dask cluster. Dask comes with the extra `cluster`.

The scheduler reassigns the games of a lost worker. Games are identified by seed, so none is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from interpreter.base.extras import Unavailable, install_command
from interpreter.simulate.workers import Crew

if TYPE_CHECKING:
    from distributed import LocalCluster

__all__ = ["LOCAL", "cluster", "local_cluster"]

LOCAL = "local"
"""Address that stands for a temporary cluster of local processes."""
TIMEOUT = 30
"""Seconds to wait for a cluster to answer, and for its first worker."""


@contextmanager
def cluster(address: str, jobs: int) -> Iterator[Crew]:
    """Provide the workers of a cluster, or of a local one with ``jobs`` workers."""
    with local_cluster(jobs) if address == LOCAL else nullcontext(address) as target, _workers(target) as crew:
        yield crew


@contextmanager
def local_cluster(jobs: int) -> Iterator[LocalCluster]:
    """Provide a cluster of local processes. A process that ends is restarted."""
    from logging import CRITICAL

    with _dask().LocalCluster(
        n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=CRITICAL
    ) as local:
        yield local


@contextmanager
def _workers(address: str | LocalCluster) -> Iterator[Crew]:
    dask = _dask()
    try:
        if isinstance(address, str):
            dask.comm.get_address_host_port(address)  # a client takes a minute to fail on an invalid address
    except ValueError as error:
        message = f"got the address `{address}`, want one as tcp://10.0.0.5:8786 or `{LOCAL}`: {error}"
        raise Unavailable(message) from None
    try:
        client = dask.Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise Unavailable(f"no cluster answers at {address}: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=TIMEOUT)
        except TimeoutError:
            raise Unavailable(f"the cluster at {address} has no workers") from None
        executor = client.get_executor(pure=False)
        try:
            yield Crew(
                executor,
                lambda: max(1, sum(client.ncores().values())),
                lambda: executor.shutdown(wait=False),
                (dask.KilledWorker, CancelledError),
            )
        finally:
            executor.shutdown(wait=False)


def _dask() -> ModuleType:
    try:
        return import_module("distributed")
    except ImportError:
        needs = f"a cluster needs Dask: `{install_command('cluster')}`, and the same on its workers"
        raise Unavailable(needs) from None
