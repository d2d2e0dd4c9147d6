"""Work ahead in a background thread: the next block is read while this one is used."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")
#: Items that are made before they are asked for, at most.
DEPTH = 2


def prefetch(items: Iterable[Item], depth: int = DEPTH) -> Iterator[Item]:
    """Yield the items, the next ones being made in a thread while the last one is used.

    An error in the thread is raised where the item would have been. Leaving early ends the thread.
    """
    source, end = iter(items), object()
    pool = ThreadPoolExecutor(1, "groupfs-prefetch")
    try:
        ready: deque[Any] = deque(pool.submit(next, source, end) for _ in range(depth))
        while (item := ready.popleft().result()) is not end:
            ready.append(pool.submit(next, source, end))
            yield item
    finally:
        pool.shutdown(cancel_futures=True)
