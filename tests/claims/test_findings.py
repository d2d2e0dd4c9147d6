"""Tables that a fit once stumbled over, written out."""

import numpy as np
import pytest
import scipy.sparse as sp

from groupfs import FeatureGroups, GroupFS
from groupfs.baselines import MCFS, AllFeatures
from groupfs.data.open_table import open_table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
DENSE_AND_SPARSE = pytest.mark.parametrize("form", [np.asarray, sp.csr_array])


@DENSE_AND_SPARSE
def test_a_table_of_zeros_is_constant_and_all_of_its_features_can_be_had(form):
    zeros = form(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="all 3 columns of X are constant"):
        FeatureGroups().fit(zeros)
    assert AllFeatures().fit(zeros).get_support().all()


def test_zeros_that_are_stored_are_zeros(rng):
    X = rng.poisson(0.7, size=(40, 6)).astype(float)
    stored = sp.csr_array((X.ravel(), np.tile(np.arange(6), 40), 6 * np.arange(41)), X.shape)
    plain, odd = (FeatureGroups(random_state=0).fit(table) for table in (sp.csr_array(X), stored))
    np.testing.assert_array_equal(odd.group_smoothness_, plain.group_smoothness_)
    np.testing.assert_array_equal(odd.group_pvalues_, plain.group_pvalues_)
    assert stored.nnz == X.size


@DENSE_AND_SPARSE
def test_large_numbers_that_differ_by_little_are_no_overflow(form):
    X = np.array([[2.0e154, 5e153], [2.1e154, -5e153], [2.05e154, 1e153]])
    table = open_table(FeatureGroups(), form(X), True)
    np.testing.assert_allclose(table.deviations, [4.0824829e152, 4.1096093e153])


@DENSE_AND_SPARSE
@pytest.mark.parametrize("exponent", [-500, -1000])
def test_columns_whose_squares_vanish_are_constant(form, exponent, rng):
    X = np.where(rng.random((30, 4)) < 0.5, rng.standard_normal((30, 4)), 0)
    with pytest.raises(ValueError, match="all 4 columns of X are constant"):
        FeatureGroups().fit(form(np.ldexp(X, exponent)))


@pytest.mark.slow
def test_eigenvalues_too_close_for_lanczos():
    X = np.random.default_rng(42070).lognormal(sigma=5, size=(11, 34))
    settings = {"feature_neighbors": 2, "standardize": False, "max_epochs": 1}
    selector = GroupFS(random_state=0, **settings).fit(X)
    assert sum(map(len, selector.groups_)) == 34


@pytest.mark.slow
def test_rows_on_a_line_have_cluster_directions():
    rng = np.random.default_rng(48741)
    X = np.outer(rng.standard_normal(1100), rng.standard_normal(3))
    assert np.isfinite(MCFS().fit(X).scores_).all()
