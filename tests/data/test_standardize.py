from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp

from groupfs import FeatureGroups
from groupfs.data.memory import Plan
from groupfs.data.open_table import open_table
from groupfs.data.passes import SurveyWork
from groupfs.data.sources import as_source, read_blocks
from groupfs.data.standardize import SMALLEST_SPREAD, ColumnMoments, mean_and_deviation
from tests.support.sliced import streaming

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


def test_gaps_count_in_no_mean(rng):
    X = rng.standard_normal((100, 3)) + 5
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 2] = np.nan
    mean, deviation = mean_and_deviation(X)
    known = X[~np.isnan(X[:, 0]), 0]
    np.testing.assert_allclose([mean[0], deviation[0]], [known.mean(), known.std()])
    assert mean[2] == deviation[2] == 0


@FORMS
def test_a_survey_samples_rows_and_its_keys_do_not_depend_on_blocks(rng, form):
    X = np.maximum(rng.standard_normal((500, 4)), 0)
    whole, parts = (as_source(form(X)).run(SurveyWork(X.shape, 100), size) for size in (500, 60))
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
        table = open_table(FeatureGroups(), form(X), True)
    assert sorted(table.columns) == [0, 1]


@FORMS
@pytest.mark.parametrize("unit", [1e-100, 0.9 * SMALLEST_SPREAD, 1e-170])
def test_columns_too_faint_to_square_are_constant_in_memory_and_streamed(rng, form, unit):
    X = rng.standard_normal((300, 4))
    X[:, 1] *= unit / X[:, 1].std()
    for how in (nullcontext(), streaming(Plan(100, 70, 2**20))):
        with how:
            found = open_table(FeatureGroups(), form(X), True, constant=None)
        assert sorted(found.columns) == ([0, 1, 2, 3] if unit > SMALLEST_SPREAD else [0, 2, 3])


@FORMS
def test_resampled_rows_do_not_depend_on_the_unit(rng, form):
    X, index = rng.standard_normal((60, 14)), np.arange(0, 60, 2)
    tables = [open_table(FeatureGroups(), form(X * unit), True) for unit in (1, 1e-30)]
    rows = [table.rows.resampled(index).take(np.arange(30)) for table in tables]
    np.testing.assert_allclose(*rows, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(rows[0].std(0), 1)
