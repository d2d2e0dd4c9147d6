"""Whatever the table, read in blocks of a few rows: numbers or a sentence, an unchanged input."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from groupfs import FeatureGroups
from groupfs.data.open_table import open_table
from tests.support.any_table import GROUP_SETTINGS, check, examples, varying
from tests.support.sliced import SMALL_PLAN, streaming
from tests.support.strategies import build, recipes

FORMS = {"array": np.asarray, "csr": sp.csr_array, "csc": sp.csc_array}
#: Seven rows are read at a time.
TINY = replace(SMALL_PLAN, sample_rows=30, block_rows=7)


@pytest.mark.slow
@given(recipes(), GROUP_SETTINGS, st.sampled_from(sorted(FORMS)))
@examples(25)
def test_any_streamed_table_gives_groups_that_are_numbers_or_a_sentence(recipe, chosen, form):
    with streaming(TINY):
        check(FeatureGroups(random_state=0, **chosen), build(recipe), FORMS[form])


@given(recipes(), st.sampled_from(sorted(FORMS)), st.booleans())
@examples(25)
def test_streamed_rows_of_any_table_are_those_in_memory(recipe, form, standardize):
    X = build(recipe)
    clear = np.ptp(X, axis=0) >= 1e-9 * np.abs(X).max(0)  # of others few digits are left
    surely = varying(X)[1] & clear
    assume(surely.sum() >= 2)
    X = X[:, surely | (np.ptp(X, axis=0) == 0)]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            tables = [
                open_table(FeatureGroups(), X, standardize),
                open_table(FeatureGroups(), FORMS[form](X), standardize, plan=TINY),
            ]
        except ValueError as refusal:
            assert "overflow" in str(refusal)
            return
    for table in tables:
        table.rows.to(torch.device("cpu"), torch.float64)
        rows = table.rows.take(torch.arange(min(len(X), 5)))
        found.append(rows[:, np.argsort(table.columns)].numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-4)
