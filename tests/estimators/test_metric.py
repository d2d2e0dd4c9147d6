"""The parameter metric, from the estimators' side."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from groupfs import FeatureGroups, persistence
from groupfs.datasets import load_two_moons
from groupfs.discovery.sample_graph import METRICS
from tests.support.sliced import Sliced, streaming

QUICK = {"random_state": 0}
X = load_two_moons(400, random_state=0).data
GRAPH = kneighbors_graph(X[:, :10], 10)
MOONS = [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def fitted(X=X, **parameters):
    return FeatureGroups(**{**QUICK, **parameters}).fit(X)


@pytest.mark.parametrize("metric", [*METRICS, GRAPH], ids=[*METRICS, "graph"])
def test_the_moons_are_found_by_every_metric(metric):
    selector = fitted(metric=metric)
    assert sorted(group.tolist() for group in selector.groups_) == MOONS
    assert (selector.group_smoothness_ > 0.1).all() and selector.group_kept_.all()
    if metric is not METRICS[0]:  # scores and weights of features depend on it
        usual = fitted()
        assert not np.allclose(usual.group_smoothness_, selector.group_smoothness_, rtol=1e-3)
        assert not np.allclose(usual.feature_weights_, selector.feature_weights_, rtol=1e-3)


def test_the_graph_belongs_to_the_rows_whatever_their_order(rng):
    order = rng.permutation(len(X))
    one = fitted(metric=GRAPH).group_smoothness_
    turned = fitted(X[order], metric=GRAPH[order][:, order]).group_smoothness_
    assert turned == pytest.approx(one, abs=0.01)  # chance is drawn anew
    apart = fitted(X[order], metric=GRAPH).group_smoothness_
    assert np.abs(apart).max() < 0.1


def test_sparse_tables_and_graphs_go_together():
    table = np.maximum(X, 0)
    one, other = (fitted(kind(table), metric=GRAPH) for kind in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(one.group_smoothness_, other.group_smoothness_, rtol=1e-4)


@pytest.mark.parametrize("metric", ["rank", GRAPH], ids=["rank", "graph"])
def test_tables_that_are_read_in_blocks_are_looked_at_by_the_metric(metric):
    in_memory = fitted(metric=metric)
    with streaming():
        streamed = fitted(Sliced(X), metric=metric)
    assert [group.tolist() for group in streamed.groups_] == [
        group.tolist() for group in in_memory.groups_
    ]
    np.testing.assert_allclose(streamed.group_smoothness_, in_memory.group_smoothness_, atol=0.05)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.csr_matrix.toarray])
def test_a_selector_with_a_graph_is_drawn_and_stored(kind, tmp_path):
    selector = fitted(metric=kind(GRAPH))
    assert "metric" in repr(selector) and "metric" in selector._repr_html_()
    assert selector.metric.shape == (400, 400)  # drawing leaves it alone
    persistence.save(selector, tmp_path / "model.skops")
    loaded = persistence.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.transform(X), selector.transform(X))


def test_what_is_no_metric_is_refused_in_words():
    with pytest.raises(ValueError, match="'metric' parameter of FeatureGroups must be"):
        fitted(metric="manhattan")
    with pytest.raises(ValueError, match="copies that scikit-learn makes"):
        clone(FeatureGroups(metric=NearestNeighbors().fit(X))).fit(X)
