"""Real tables for tests; skipped with a reason where the published files are not at hand."""

import pytest

from benchmarks.tables import TablesMissing, load


def real_table(name):
    try:
        return load(name)
    except TablesMissing as missing:
        pytest.skip(str(missing))
