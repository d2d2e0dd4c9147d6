"""Threads by the size of the work: one for a table of usual size, a few for a large.

Threads wait for each other at the end of every operation, and most operations of a fit take
microseconds. On 2 cores two threads take one to four times as long as one, on 16 cores sixteen take
six times as long; on a busy machine one that waits for a core keeps all others waiting. So where
work is large its blocks are shared among threads of ours, which wait once, at the end, and each has
the libraries work in one.
"""

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from groupfs.utils.progress import doing

#: Numbers of a table, or columns, from which on more than one thread pay, and threads at most.
LARGE_TABLE, MANY_COLUMNS, MOST_THREADS = 2**26, 4096, 8
#: Threads that the work under way may take.
_allowed: ContextVar[int] = ContextVar("threads", default=1)
#: Threads of BLAS that everybody inside has found when entering, and who may look at them.
_before: list[list[int]] = []
_lock = threading.Lock()


def n_threads() -> int:
    """Return how many threads the work that is under way may take."""
    return _allowed.get()


def in_threads(function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """Call a function with several arguments, and yield what it returns, in their order.

    It is called in as many threads as the work may take, and must let others run.
    """
    left = iter(tasks)
    first = list(islice(left, 2 * n_threads()))  # no more than this many wait, or what they return
    if n_threads() == 1 or len(first) < 2:
        for task in chain(first, left):
            doing()
            yield function(*task)
        return
    pool = ThreadPoolExecutor(n_threads(), "groupfs")
    try:
        ready = deque(pool.submit(function, *task) for task in first)
        while ready:
            doing()
            yield ready.popleft().result()
            ready.extend(pool.submit(function, *task) for task in islice(left, 1))
    finally:
        pool.shutdown(cancel_futures=True)


def spans(size: int, step: int) -> list[tuple[int, int]]:
    """Cut numbers below a size into pieces: start and stop of each."""
    return [(start, min(start + step, size)) for start in range(0, size, step)]


@contextmanager
def threads_for(shape: tuple[int, int], own: bool = False) -> Iterator[None]:
    """Work on a table of this shape with as many threads as pay, never more than were set before.

    These are ``own`` threads, or those of BLAS and OpenMP.

    OpenMP, and with it torch, counts threads for each caller apart, so nobody else notices. The
    libraries behind numpy and scipy have one number for the process: the first fit that begins sets
    it, fits beside it may lower it, and the last that ends puts it back.
    """
    is_large = shape[0] * shape[1] >= LARGE_TABLE or shape[1] >= MANY_COLUMNS
    wanted = MOST_THREADS if is_large else 1
    # None also if somebody is just importing it
    count_torch = getattr(sys.modules.get("torch"), "get_num_threads", None)
    libraries = _controller(count_torch is not None)
    openmp = libraries.select(user_api="openmp")
    before = [library.num_threads for library in openmp.lib_controllers]
    if count_torch:
        # asking makes torch set the number of this caller, which it would else do amidst the work
        before = [count_torch()]
    wanted = min([wanted, *before, effective_n_jobs(-1)])
    blas = libraries.select(user_api="blas").lib_controllers
    token = _allowed.set(min([wanted, *(library.num_threads for library in blas)]) if own else 1)
    wanted = 1 if own else wanted
    try:
        with openmp.limit(limits=wanted), _blas_limited_to(wanted, blas):
            yield
    finally:
        _allowed.reset(token)


@contextmanager
def _blas_limited_to(n_threads: int, libraries: list[Any]) -> Iterator[None]:
    """Give BLAS so many threads at most; the last of those inside gives back what there were."""
    with _lock:
        now = [library.num_threads for library in libraries]
        _before.append(now)
        _set_threads(libraries, [min(n, n_threads) for n in now])
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:  # so these are what the first has found
                _set_threads(libraries, before)


def _set_threads(libraries: list[Any], numbers: list[int]) -> None:
    """Set the threads of libraries; the thread that does may be another than that which did last.

    threadpoolctl lets the first thread that sets a number alone change it, since version 3.8.
    """
    for library, n in zip(libraries, numbers, strict=True):
        release = getattr(library, "clear_controlling_thread", lambda force: None)
        release(force=True)
        library.set_num_threads(n)
        release(force=True)


@lru_cache(maxsize=2)
def _controller(with_torch: bool) -> ThreadpoolController:
    """Find the libraries once, and again when torch has come: the others are loaded by then."""
    return ThreadpoolController()
