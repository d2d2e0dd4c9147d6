"""Work done ahead in a background thread: the next block is read while this one is used."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")
#: Items that wait to be used at most.
DEPTH = 2


class _End:
    """What comes after the last item: nothing, or the error that ended the work."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def ahead(items: Iterable[Item], depth: int = DEPTH) -> Iterator[Item]:
    """The same items, made in a thread while the last ones are used.

    An error in the thread is raised where the item would have been. Leaving early stops the thread.
    """
    ready: queue.Queue[Any] = queue.Queue(depth)
    unwanted = threading.Event()

    def put(item: Any) -> None:
        while not unwanted.is_set():
            try:
                ready.put(item, timeout=0.1)
                return
            except queue.Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put(item)
                if unwanted.is_set():
                    return
            put(_End())
        except BaseException as error:
            put(_End(error))

    thread = threading.Thread(target=work, name="groupfs-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item = ready.get()
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item
    finally:
        unwanted.set()
        thread.join()
