"""Tables that are read in pieces, and fits that stream them although they would fit."""

import contextlib

import pytest

from groupfs import FeatureGroups
from groupfs.data.memory import Plan
from groupfs.data.open_table import open_table

#: Blocks of a few hundred rows, and no other limit.
SMALL_PLAN = Plan(sample_rows=1000, block_rows=300, block_entries=2**23)


class Sliced:
    """The least that a table can be: a shape, and rows when sliced; counts what is read."""

    def __init__(self, X):
        self._X, self.shape, self.reads = X, X.shape, []

    def __getitem__(self, rows):
        self.reads.append(rows.stop - rows.start)
        return self._X[rows]


@contextlib.contextmanager
def streaming(plan=SMALL_PLAN):
    """Stream every table as planned, however small it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("groupfs.data.open_table.SURELY_FITS", 0)
        patch.setattr("groupfs.data.open_table.choose_plan", lambda source, *_: source and plan)
        yield


def open_streamed(X, plan=SMALL_PLAN, standardize=True):
    """Open a table as planned, however small it is."""
    with streaming(plan):
        return open_table(FeatureGroups(), X, standardize)
