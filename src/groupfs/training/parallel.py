"""Work in parts through joblib, whatever its backend; what all parts need is sent once."""

from __future__ import annotations

from typing import Any

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

#: Bytes above which something is sent to a cluster's workers once, and not with every task. Below,
#: it costs nothing to have the scheduler keep it, which survives the loss of any worker.
SENT_ONCE = 2**20


def runs_here(n_jobs: int | None) -> bool:
    """Whether joblib would run tasks one after the other in this process."""
    backend, _ = get_active_backend()
    on_this_machine = type(backend).__module__ == "joblib._parallel_backends"
    return bool(on_this_machine and effective_n_jobs(n_jobs) == 1)


def shared(thing: Any, n_bytes: int) -> Any:
    """An argument of many tasks: with dask, if it is large, a copy that every worker holds.

    joblib would send it with every task or, if it looked large to dask, to one worker alone, and
    with that worker it would be lost.
    """
    backend, _ = get_active_backend()
    client = getattr(backend, "client", None)
    if client is None or n_bytes < SENT_ONCE:
        return thing
    return client.scatter(thing, broadcast=True, hash=False)
