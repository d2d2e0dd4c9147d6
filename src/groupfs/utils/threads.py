"""Threads by the size of the work: one where a table is small, as many as are set where it is not.

Threads wait for each other at the end of every operation, and most operations of a fit take
microseconds. On a busy machine one that waits for a core keeps all others waiting.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache

import torch
from threadpoolctl import ThreadpoolController

#: Numbers of a table from which on more than one thread pay.
LARGE_TABLE = 2**22


@contextmanager
def threads_for(shape: tuple[int, int]) -> Iterator[None]:
    """Work on a table of this shape with as many threads as pay.

    OpenMP, and with it torch, counts threads for each caller apart, so nobody else notices. The
    libraries behind numpy and scipy have one number for the process: it is set by the first small
    fit that begins and put back by the last that ends.
    """
    if shape[0] * shape[1] >= LARGE_TABLE:
        yield
        return
    torch.get_num_threads()  # or torch would set the number when this caller first works with it
    with _controller().select(user_api="openmp").limit(limits=1), _one_for_all:
        yield


class _OneForAll:
    """One thread for BLAS while anybody is inside."""

    def __init__(self) -> None:
        self._lock, self._n_inside, self._limits = threading.Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limits.enter_context(_controller().select(user_api="blas").limit(limits=1))
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limits.close()


_one_for_all = _OneForAll()


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Find the libraries once: torch, numpy and scipy are loaded before the first fit."""
    return ThreadpoolController()
