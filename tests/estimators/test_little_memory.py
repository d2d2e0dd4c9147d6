"""Fits in little memory keep few memberships of each feature, and find the same groups."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from groupfs import GroupFS, GroupFSPath
from groupfs.data.memory_plan import memory_of_models


@pytest.fixture(scope="module")
def table():
    """Twelve groups of five features, two of them equal, and a constant column."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((150, 12))
    X = np.repeat(factors, 5, axis=1) + 0.3 * rng.standard_normal((150, 60))
    X[:, 11] = 3 * X[:, 10] + 1
    return np.hstack([X, np.ones((150, 1))])


def fit_within(selector, table, n_candidates):
    """Fit with memory for so many memberships of each feature."""
    memory = memory_of_models(60, 12, selector.n_init, n_candidates)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr("groupfs.training.problem.memory_for_models", lambda device: memory)
        warnings.simplefilter("ignore", UserWarning)  # the constant column
        return selector.fit(table)


#: Few candidates are a matter of memberships that are learned, signs and all.
BRIEF = {
    "n_init": 1,
    "max_epochs": 40,
    "ranking": "gate",
    "n_groups_to_select": "open",
    "keep_unrelated": True,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def few(table):
    selector = GroupFS(12, learn_memberships=True, **BRIEF)
    return fit_within(selector, table, 4)


@pytest.mark.slow
def test_the_groups_are_the_same(few, table):
    full = fit_within(clone(few), table, None)
    assert isinstance(full.membership_, np.ndarray)
    assert {frozenset(group) for group in few.groups_} == {frozenset(g) for g in full.groups_}


def test_memberships_are_sparse(few):
    M = few.membership_
    assert isinstance(M, sp.csr_array) and M.shape == (61, 12)
    assert np.diff(M.indptr).max() <= 4
    np.testing.assert_allclose(M.sum(axis=1)[:60], 1)
    assert M[[60]].nnz == 0
    np.testing.assert_array_equal(M.toarray()[:60].argmax(1), few.group_labels_[:60])
    assert few.group_labels_[10] == few.group_labels_[11]


@pytest.mark.slow
def test_a_path_describes_all_of_its_models(table):
    path = GroupFSPath(
        12,
        sparsities=[0.5, 2],
        n_resamples=2,
        learn_memberships=True,
        **{**BRIEF, "n_init": 2, "max_epochs": 10},
    )
    found = fit_within(path, table, 3)
    assert sp.issparse(found.membership_)
    assert found.path_.selection_frequency.shape == (2, 61)
    agreed = {frozenset(group) for group in found.stability_.consensus_groups}
    assert agreed == {frozenset(range(start, start + 5)) for start in range(0, 60, 5)}
