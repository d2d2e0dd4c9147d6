"""Show on a terminal what is being done, where it takes more than two seconds, or tell a page."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

#: Seconds before a bar appears, and between two looks of it.
DELAY, EVERY = 2.0, 0.2
#: Features and numbers of a table that surely takes no longer than that.
FEW_FEATURES, FEW_NUMBERS = 150, 2**18
#: The bar of the fit that is under way in this thread.
_bar: ContextVar[Any] = ContextVar("bar", default=None)
#: Takes the steps in place of a bar.
_listener: ContextVar[Callable[[str], object] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[str], object]) -> Iterator[None]:
    """Have a function called with every step that begins, in place of a bar."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def progress(n_steps: int, X: Any) -> Iterator[None]:
    """Show a bar of so many steps for work on a table, if it is large and there is a terminal."""
    is_small = isinstance(X, np.ndarray) and X.size <= FEW_NUMBERS and X.shape[-1] <= FEW_FEATURES
    if is_small or _listener.get() or not getattr(sys.stderr, "isatty", bool)():
        yield
        return
    from tqdm import tqdm

    looks = {"bar_format": "{desc} |{bar:20}| {elapsed}", "leave": False, "file": sys.stderr}
    with tqdm(total=n_steps, delay=DELAY, **looks) as bar:
        token = _bar.set(bar)
        try:
            yield
        finally:
            _bar.reset(token)


def doing(what: str | None = None) -> None:
    """Say which step begins; None says that the last one goes on."""
    if what is not None and (listener := _listener.get()):
        listener(what)
    if (bar := _bar.get()) is None:
        return
    if what is not None:
        bar.update(1 if bar.desc else 0)  # the step before is done
        bar.set_description_str(what, refresh=False)
    if time.time() - bar.start_t > DELAY and time.time() - bar.last_print_t > EVERY:
        bar.refresh()
        bar.last_print_t = time.time()
