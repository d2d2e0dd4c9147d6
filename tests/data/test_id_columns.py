"""Columns of ids in data frames: they are named in a warning, and others are not."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from groupfs import GroupFS
from groupfs.data.id_columns import warn_of_ids
from groupfs.datasets import load_two_moons
from groupfs.utils.warn import IdColumnsWarning

N = 60
IDS = {
    "customer_id": 7 * np.random.default_rng(0).permutation(N) + 1000,
    "line": np.arange(N),
    "number": np.arange(1, N + 1),
}
FEATURES = {
    "id": np.repeat(np.arange(N // 2), 2),  # occurs again: a group of rows, no id
    "age": np.random.default_rng(0).integers(18, 80, N),
    "year": np.arange(N) + 1960,
    "time_id": np.linspace(0, 1, N),
}


@pytest.mark.parametrize("library", [pd, pl])
def test_whole_numbers_that_all_differ_and_count_or_are_called_ids_are_named(library):
    with pytest.warns(IdColumnsWarning, match="3 columns look like ids.*customer_id, line, number"):
        warn_of_ids(library.DataFrame(IDS | FEATURES))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_ids(library.DataFrame(FEATURES))
        warn_of_ids(np.column_stack(list(IDS.values())))


def test_a_fit_names_the_column_and_how_to_leave_it_out():
    moons = load_two_moons(N, random_state=0)
    frame = pd.DataFrame(moons.data, columns=moons.feature_names)
    frame["customer_id"] = pd.array(IDS["customer_id"], dtype="Int64")
    frame.loc[3, "customer_id"] = pd.NA
    with pytest.warns(IdColumnsWarning, match=r"leave it out: X.drop\(columns=\['customer_id'\]\)"):
        GroupFS(n_groups=4, max_epochs=1, random_state=0).fit(frame)
