"""The parameter metric, from the estimators' side."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors, kneighbors_graph

from groupfs import GroupFS, GroupFSPath, persistence
from groupfs.datasets import load_two_moons
from groupfs.graphs.sample_graph import METRICS
from tests.support.sliced import Sliced, streaming

QUICK = {"max_epochs": 5, "random_state": 0}
X = load_two_moons(400, random_state=0).data
GRAPH = kneighbors_graph(X[:, :10], 10)


def fitted(X=X, kind=GroupFS, **parameters):
    return kind(**{**QUICK, **parameters}).fit(X)


@pytest.mark.parametrize("metric", [*METRICS, GRAPH], ids=[*METRICS, "graph"])
def test_the_moons_are_found_by_every_metric(metric):
    selector = fitted(metric=metric)
    assert sorted(group.tolist() for group in selector.groups_) == [
        [0, 1, 2, 3, 4],
        [5, 6, 7, 8, 9],
    ]
    assert (selector.group_scores_ > 0.1).all() and selector.get_support().sum() == 10


@pytest.mark.parametrize("metric", [*METRICS[1:], GRAPH], ids=[*METRICS[1:], "graph"])
def test_scores_and_weights_of_features_depend_on_the_metric(metric):
    one, other = fitted(), fitted(metric=metric)
    assert not np.allclose(np.sort(one.group_scores_), np.sort(other.group_scores_), rtol=1e-3)
    assert not np.allclose(one.feature_weights_, other.feature_weights_, rtol=1e-3)


def test_one_graph_is_the_same_in_whatever_it_comes():
    expected = fitted(metric=GRAPH)
    neighbors = [
        kind(n_neighbors=10).fit(X[:, :10]) for kind in (NearestNeighbors, KNeighborsTransformer)
    ]
    for metric in (GRAPH.toarray(), sp.csr_array(GRAPH), GRAPH.tocoo(), *neighbors):
        found = fitted(metric=metric)
        np.testing.assert_array_equal(found.group_scores_, expected.group_scores_)
        np.testing.assert_array_equal(found.group_gates_, expected.group_gates_)


def test_the_graph_belongs_to_the_rows_whatever_their_order(rng):
    order = rng.permutation(len(X))
    one = fitted(metric=GRAPH).group_scores_
    turned = fitted(X[order], metric=GRAPH[order][:, order]).group_scores_
    assert turned == pytest.approx(one, abs=0.01)  # chance is drawn anew
    apart = fitted(X[order], metric=GRAPH).group_scores_
    assert np.abs(apart).max() < 0.1


def test_sparse_tables_and_graphs_go_together():
    table = np.maximum(X, 0)
    one, other = (fitted(kind(table), metric=GRAPH) for kind in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(one.group_scores_, other.group_scores_, rtol=1e-4)


@pytest.mark.parametrize("metric", ["rank", "diffusion", GRAPH], ids=["rank", "diffusion", "graph"])
def test_tables_that_are_read_in_blocks_are_looked_at_by_the_metric(metric):
    in_memory = fitted(metric=metric)
    with streaming():
        streamed = fitted(Sliced(X), metric=metric)
    assert [group.tolist() for group in streamed.groups_] == [
        group.tolist() for group in in_memory.groups_
    ]
    np.testing.assert_allclose(streamed.group_scores_, in_memory.group_scores_, atol=0.05)


@pytest.mark.parametrize(
    "metric", ["cosine", "geodesic", GRAPH], ids=["cosine", "geodesic", "graph"]
)
@pytest.mark.parametrize("resample", ["subsample", "bootstrap"])
def test_paths_and_resamples_use_the_metric(metric, resample):
    path = fitted(
        kind=GroupFSPath,
        metric=metric,
        sparsities=[0.5, 1.0],
        n_resamples=2,
        resample=resample,
    )
    assert path.stability_.selected[:, :10].mean() > 0.9
    assert sorted(map(tuple, path.groups_)) == [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9)]


@pytest.mark.parametrize("metric", ["rank", "diffusion", GRAPH], ids=["rank", "diffusion", "graph"])
def test_the_published_method_takes_a_metric(metric):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = fitted(preset="paper", n_groups=3, metric=metric)
    assert sorted(map(len, selector.groups_)) == [5, 5, 10]


def test_a_killed_path_goes_on_only_with_the_same_graph(tmp_path):
    from groupfs.data.open_table import open_table
    from groupfs.training.checkpoints import fingerprint

    def name(metric):
        estimator = GroupFSPath(metric=metric, **QUICK)
        table = open_table(estimator, X, True)
        return fingerprint(table, estimator._settings(table), {}, table.rows.device)

    other = GRAPH.copy()
    other.data[0] = 2
    assert name(GRAPH) == name(GRAPH.toarray()) != name(other)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.csr_matrix.toarray])
def test_a_selector_with_a_graph_is_drawn_and_stored(kind, tmp_path):
    selector = fitted(metric=kind(GRAPH), max_epochs=1)
    assert "metric" in repr(selector) and "metric" in selector._repr_html_()
    assert selector.metric.shape == (400, 400)  # drawing leaves it alone
    persistence.save(selector, tmp_path / "model.skops")
    loaded = persistence.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.transform(X), selector.transform(X))


def test_what_is_no_metric_is_refused_in_words():
    with pytest.raises(ValueError, match="'metric' parameter of GroupFS must be"):
        fitted(metric="manhattan")
    with pytest.raises(ValueError, match=r"shape \(20, 20\) but X has 400 samples"):
        fitted(metric=np.ones((20, 20)))
    with pytest.raises(ValueError, match="copies that scikit-learn makes"):
        clone(GroupFS(metric=NearestNeighbors().fit(X))).fit(X)
