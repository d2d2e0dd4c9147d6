"""Other similarities than correlation: what they find, what they keep to, what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from groupfs import FeatureGroups
from groupfs.utils.errors import ParameterError
from tests.support.related_features import related_table
from tests.support.sliced import streaming

QUICK = {"random_state": 0}


def index(shape, similarity, seed=1):
    X, truth = related_table(shape, seed)
    labels = FeatureGroups(similarity=similarity, **QUICK).fit(X).group_labels_
    planted = truth >= 0
    return adjusted_rand_score(truth[planted], labels[planted])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("shape", "finds", "misses"),
    [
        ("parabola", "distance", "correlation"),
        ("bent, outliers", "rank", "correlation"),
    ],
)
def test_the_right_similarity_finds_what_correlation_misses(shape, finds, misses):
    assert index(shape, finds) > 0.95
    assert index(shape, misses) < 0.8


def test_groups_of_bent_relations_are_kept(rng):
    hidden = rng.standard_normal((2, 300))
    X = rng.standard_normal((300, 12))
    X[:, :8] = (
        0.1 * X[:, :8] + np.concatenate([[a, a**2, np.abs(a), np.cos(2 * a)] for a in hidden]).T
    )
    selector = FeatureGroups(similarity="distance", **QUICK).fit(X)
    assert sorted(of.tolist() for of in selector.groups_) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert selector.group_kept_.all()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("similarity", ["rank", "distance"])
def test_noise_has_no_groups_by_any(similarity):
    kept = [
        FeatureGroups(similarity=similarity, **QUICK)
        .fit(np.random.default_rng(seed).standard_t(3, (150, 30)))
        .group_kept_.any()
        for seed in range(6)
    ]
    assert sum(kept) == 0


def test_a_function_that_is_correlation_finds_what_correlation_finds():
    X, _ = related_table("line", 0)
    own = FeatureGroups(similarity=lambda X: np.abs(np.corrcoef(X.T)), **QUICK).fit(X)
    usual = FeatureGroups(**QUICK).fit(X)
    assert adjusted_rand_score(own.group_labels_, usual.group_labels_) == 1


def test_ranks_do_not_change_when_lines_are_bent():
    X, _ = related_table("line", 0)
    straight = FeatureGroups(similarity="rank", metric="rank", **QUICK).fit(X)
    bent = FeatureGroups(similarity="rank", metric="rank", **QUICK).fit(np.exp(X))
    assert adjusted_rand_score(straight.group_labels_, bent.group_labels_) == 1
    # columns are put in an order by their values, and shuffled in it: groups may change places
    np.testing.assert_allclose(straight.group_smoothness_, bent.group_smoothness_, atol=0.01)


def test_sparse_tables_are_filled_in_where_they_fit(monkeypatch):
    X, _ = related_table("line", 0)
    X = np.where(np.abs(X) < 0.5, 0, X)
    dense = FeatureGroups(similarity="rank", **QUICK).fit(X)
    sparse = FeatureGroups(similarity="rank", **QUICK).fit(sp.csr_array(X))
    np.testing.assert_array_equal(dense.group_labels_, sparse.group_labels_)
    monkeypatch.setattr("groupfs.data.open_table.MOST_FILLED", 1000)
    with pytest.raises(ParameterError, match="needs a dense table"):
        FeatureGroups(similarity="rank", **QUICK).fit(sp.csr_array(X))


def test_tables_larger_than_memory_have_correlations_alone():
    X = np.random.default_rng(0).standard_normal((2000, 60))
    with streaming(), pytest.raises(ParameterError, match="too large for memory"):
        FeatureGroups(similarity="distance", **QUICK).fit(X)


def test_what_has_no_sign_refuses_signs():
    X, _ = related_table("line", 0)
    with pytest.raises(ParameterError, match="has no sign"):
        FeatureGroups(similarity="distance", signed=True).fit(X)


def test_explained_is_the_square_of_the_most_alike():
    X, _ = related_table("parabola", 1)
    selector = FeatureGroups(similarity="distance", **QUICK).fit(X)
    assert (np.diff(selector.explained_) >= -1e-12).all() and selector.explained_[-1] == 1
    first = selector.group_labels_[selector.feature_order_[: selector.n_groups_]]
    assert len(set(first.tolist())) == selector.n_groups_  # one of each group
