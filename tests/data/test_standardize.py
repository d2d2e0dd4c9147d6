import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs import GroupFS
from groupfs.data.block_sources import as_source, read_blocks
from groupfs.data.memory_plan import Plan
from groupfs.data.open_table import open_table
from groupfs.data.standardize import (
    SMALLEST_SPREAD,
    ColumnMoments,
    standardized_columns,
)
from groupfs.data.survey import survey

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array])


@FORMS
@pytest.mark.parametrize("size", [70, 1000])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_moments_of_blocks_are_those_of_the_table(rng, form, size, offset):
    X = rng.standard_normal((1000, 5)) * [1e-3, 1, 1e3, 1, 1] + offset
    moments = ColumnMoments(5)
    for block in read_blocks(as_source(form(X)), size):
        moments.add(block)
    np.testing.assert_allclose(moments.mean, X.mean(0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moments.spread, X.std(0), rtol=1e-5 if offset else 1e-12)


@FORMS
def test_a_survey_samples_rows_and_its_keys_do_not_depend_on_blocks(rng, form):
    X = np.maximum(rng.standard_normal((500, 4)), 0)
    whole, parts = (
        survey(as_source(form(X)), Plan(100, 100, size, 100, 2**20, 2**20)) for size in (500, 60)
    )
    np.testing.assert_allclose(whole.keys, parts.keys, atol=1e-10)
    rows = {row.tobytes() for row in X}
    sample = parts.sample
    sample = sample.toarray() if sp.issparse(sample) else sample
    assert sample.shape == (100, 4) and all(row.tobytes() in rows for row in sample)


@FORMS
@pytest.mark.parametrize("value", [0.1, 3.3])
def test_constant_columns_of_long_tables_are_recognised(rng, form, value):
    X = np.column_stack([rng.normal(size=(50_000, 2)), np.full(50_000, value)])
    with pytest.warns(UserWarning, match="1 constant column carries no information and was .* x2"):
        table = open_table(GroupFS(), form(X), True)
    assert sorted(table.columns) == [0, 1]


@FORMS
@pytest.mark.parametrize("unit", [1e-100, 0.9 * SMALLEST_SPREAD, 1e-170])
def test_columns_too_faint_to_square_are_constant_in_memory_and_streamed(rng, form, unit):
    X = rng.standard_normal((300, 4))
    X[:, 1] *= unit / X[:, 1].std()
    plan = Plan(100, 100, 70, 100, 2**20, 2**20)
    for how in ({}, {"plan": plan}):
        found = open_table(GroupFS(), form(X), True, constant=None, **how)
        assert sorted(found.columns) == ([0, 1, 2, 3] if unit > SMALLEST_SPREAD else [0, 2, 3])


@FORMS
def test_resampled_rows_do_not_depend_on_the_unit(rng, form):
    X, index = rng.standard_normal((60, 14)), np.arange(0, 60, 2)
    for standardize in (True, False):
        tables = [open_table(GroupFS(), form(X * unit), standardize) for unit in (1, 1e-30)]
        parts = [table.rows.resampled(index, standardize) for table in tables]
        for part in parts:
            part.to(torch.device("cpu"), torch.float64)
        rows = [part.take(torch.arange(30)) for part in parts]
        torch.testing.assert_close(*rows)
        spread = rows[0].std(0, correction=0)
        assert torch.allclose(spread, torch.ones_like(spread)) == standardize


@FORMS
def test_standardized_columns_have_variance_one_or_are_zero(rng, form):
    X = np.column_stack([rng.normal(3, 2, (50, 2)), np.full(50, 7.0)])
    Z = standardized_columns(form(X), np.array([2, 0]))
    np.testing.assert_allclose(Z[:, 1], (X[:, 0] - X[:, 0].mean()) / X[:, 0].std())
    assert not Z[:, 0].any()
