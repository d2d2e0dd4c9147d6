"""Seconds of the stages of a fit, taken by the functions that a fit goes through.

Functions are replaced by ones that look at the clock while a fit is timed. Seconds of a function
within another count for its own stage alone; what is in none is the rest.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch

from benchmarks.machine import now

#: Stages by the functions they take, in the module that calls them or that a fit imports them from.
STAGES = {
    "groupfs.data.open_table.open_table": "open",
    "groupfs.discovery.discover.measure_related": "chance",
    "groupfs.discovery.discover.chance_cohesion": "chance",
    "groupfs.discovery.discover.connect_features": "graph",
    "groupfs.discovery.discover._levels": "tree",
    "groupfs.discovery.discover.describe": "describe",
    "groupfs.discovery.smoothness.feature_smoothness": "order",
    "groupfs.selector.GroupSelector._rank": "order",
}
NAMES = tuple(dict.fromkeys(STAGES.values()))


class Clock:
    """Seconds of every stage, and rows of all shuffled tables that chance was measured by."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(NAMES, 0.0)
        self.n_shuffled = 0
        self._inner: list[float] = []  #: seconds within each function that is running

    def watched(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that does the same and adds its seconds to a stage."""

        @functools.wraps(function)
        def watched(*args: Any, **parameters: Any) -> Any:
            began = now()
            self._inner.append(0.0)
            try:
                result = function(*args, **parameters)
            finally:
                whole = now() - began
                self.seconds[stage] += whole - self._inner.pop()
                if self._inner:
                    self._inner[-1] += whole
            chance = getattr(result, "chance", None)
            if chance is not None:
                self.n_shuffled = len(chance.seeds) * chance.similarity.shape[0]
            return result

        return watched


@contextmanager
def watched_stages() -> Iterator[Clock]:
    """Watch the fits that are made here; a function that is not there is an error."""
    clock = Clock()
    with ExitStack() as stack:
        for place, stage in STAGES.items():
            stack.enter_context(patch(place, clock.watched(stage, resolve_name(place))))
        yield clock
