"""How far groups tell of the samples what the others tell."""

import numpy as np
import pytest

from groupfs import FeatureGroups
from groupfs.discovery.shared_structure import beyond_chance
from groupfs.discovery.smoothness import sample_affinity
from groupfs.utils.errors import ParameterError


@pytest.fixture
def table(rng):
    """Two groups that tell three clusters of samples, and a shift of the columns of a third."""
    centre = rng.integers(0, 3, 300)
    hidden = [1.5 * rng.permutation(3)[centre] + 0.5 * rng.standard_normal(300) for _ in "ab"]
    hidden.append(rng.standard_normal(300))
    return np.repeat(np.array(hidden).T, 6, axis=1) + 0.6 * rng.standard_normal((300, 18))


@pytest.mark.parametrize("n_seen", [1, 5, 40])
def test_chance_is_that_of_normal_columns_drawn_many_times(rng, n_seen):
    """The oracle: the same figure of columns that know nothing, its mean 0 and deviation 1."""
    seen = rng.standard_normal((80, n_seen))
    drawn = [beyond_chance(seen, rng.standard_normal((80, 1)), 7, "euclidean") for _ in range(2000)]
    assert abs(np.mean(drawn)) < 0.1 and abs(np.std(drawn) - 1) < 0.1


def test_one_column_is_as_the_formula_says(rng):
    seen, x = rng.standard_normal((40, 4)), rng.standard_normal(40)
    x = (x - x.mean()) / x.std()
    W = sample_affinity(seen, 7)
    W -= np.diag(np.diag(W))
    P = W / W.sum(1)[:, None]
    J = np.eye(40) - 1 / 40
    A = J @ (P + P.T) @ J / 2
    literal = (x @ A @ x - np.trace(A)) / np.sqrt(2 * (A**2).sum())
    assert beyond_chance(seen, x[:, None], 7, "euclidean") == pytest.approx(literal, rel=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "rank"])
def test_groups_that_share_clusters_come_before_a_shift(table, metric):
    selector = FeatureGroups(random_state=0, metric=metric).fit(table)
    assert selector.n_groups_ == 3
    shift = selector.group_labels_[12]
    found = selector.shared_structure(table)
    assert found.argmin() == shift and found[shift] < 2
    assert np.delete(found, shift).min() > 5


def test_gaps_and_one_group_are_no_trouble(table):
    table[::17, 3] = np.nan
    assert np.isfinite(FeatureGroups(random_state=0).fit(table).shared_structure(table)).all()
    one = FeatureGroups(random_state=0).fit(table[:, :6])
    assert one.shared_structure(table[:, :6]).tolist() == [0.0] * one.n_groups_


def test_a_graph_that_is_given_is_refused(table, rng):
    graph = sample_affinity(rng.standard_normal((300, 3)), 7)
    selector = FeatureGroups(random_state=0, metric=graph).fit(table)
    with pytest.raises(ParameterError, match="group_smoothness_"):
        selector.shared_structure(table)
