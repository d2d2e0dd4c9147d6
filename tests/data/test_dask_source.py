"""Passes over a dask array run where its blocks are, and find what one process finds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from groupfs import FeatureGroups
from groupfs.data.dask_source import DaskSource
from groupfs.data.memory import MERGED_BYTES
from groupfs.data.sources import as_source
from groupfs.data.streamed import choose_plan
from tests.support.sliced import SMALL_PLAN, Sliced, open_streamed, streaming

da = pytest.importorskip("dask.array")
from dask.callbacks import Callback  # noqa: E402

N, D = 1700, 40
LAYOUTS = {
    "rows": lambda X: da.from_array(X, chunks=(400, D)),
    "wide": lambda X: da.from_array(X, chunks=(500, 17)),
    "tall": lambda X: da.from_array(X, chunks=(N, D)),
    "tiny": lambda X: da.from_array(X, chunks=(13, 40)),
    "uneven": lambda X: da.from_array(X, chunks=((1, 0, 900, 799), (39, 1))),
    "sparse": lambda X: da.from_array(X, chunks=(400, D)).map_blocks(sp.csr_matrix),
}


@pytest.fixture
def X(rng):
    X = rng.standard_normal((N, 4))[:, np.arange(D) % 4] + 0.8 * rng.standard_normal((N, D))
    X[np.abs(X) < 0.3] = 0
    return X.astype(np.float32)


def in_pieces(X):
    """Have tasks work on 150 rows at a time."""
    return DaskSource(X, entries=150 * D)


def rows_of(X, **plan):
    return open_streamed(X, replace(SMALL_PLAN, **plan)).rows


def passes(rows):
    """Make every pass there is over rows, (name, numbers)."""
    return {
        "columns": rows.units.columns,
        "mean": rows.units.mean,
        "scale": rows.units.scale,
        "sample": rows.sample.Z,
        "products": rows.all_products(),
        "rows": rows.take(np.array([1600, 3, 3, 402])),
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_pass_finds_what_one_process_finds(X, layout):
    here, there = passes(rows_of(Sliced(X))), passes(rows_of(in_pieces(LAYOUTS[layout](X))))
    for name, expected in here.items():
        np.testing.assert_allclose(there[name], expected, rtol=2e-5, atol=1e-3, err_msg=name)


def test_products_of_all_columns_are_asked_for_once(X, monkeypatch):
    table = open_streamed(LAYOUTS["rows"](X))
    whole = table.similarity.matrix()
    monkeypatch.setattr(DaskSource, "run", lambda *_: pytest.fail("another pass"))
    some = np.array([2, 7, 30])
    found = table.restricted(some).similarity
    np.testing.assert_array_equal(found.matrix(), whole[some][:, some])
    assert found.coordinates().F.shape == (3, 3) and len(found.strength()) == 3


def test_missing_values_anywhere_are_all_named(X):
    X[[3, 900, 1650], [9, 30, 4]] = [np.inf, np.nan, np.inf]
    with pytest.raises(ValueError, match=r"inf\) in 2 columns \(x4, x9\) and NaN.*\(x30\)"):
        rows_of(in_pieces(LAYOUTS["rows"](X)))


def test_blocks_that_are_no_numbers_and_unknown_shapes_are_refused(X):
    X = LAYOUTS["rows"](X)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        as_source(X[X[:, 0] > 0])
    with pytest.raises(ValueError, match="holds <U"):
        rows_of(X.map_blocks(lambda block: block.astype(str), dtype="U8", meta=np.array([["a"]])))


def test_a_large_array_stays_on_a_cluster_and_a_small_one_does_not(X, monkeypatch):
    source = as_source(LAYOUTS["rows"](X))
    monkeypatch.setattr("groupfs.data.streamed.STAYS_ON_CLUSTER", N * D - 1)
    assert choose_plan(source, None) is None
    monkeypatch.setattr("groupfs.data.streamed.on_cluster", lambda: True)
    assert choose_plan(source, None) is not None
    assert choose_plan(as_source(Sliced(X)), None) is None


@pytest.mark.slow
def test_no_task_holds_all_rows_of_an_array_that_is_read(X):
    """Or a worker would need room for an array that fits where it is read alone."""
    heights = []
    watch = Callback(posttask=lambda key, value, *_: heights.append(len(np.atleast_1d(value))))
    with watch:
        whole = DaskSource(LAYOUTS["rows"](X)).read(0, N)
    np.testing.assert_array_equal(whole, X)
    assert max(heights, default=0) < N


def test_a_frame_of_dask_keeps_its_names(X):
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(D)])
    lazy = dd.from_pandas(frame, npartitions=3)
    with streaming():
        selector = FeatureGroups(n_groups=4, n_features_to_select=5, random_state=0).fit(lazy)
    assert selector.feature_names_in_[3] == "gene 3"
    assert adjusted_rand_score(np.arange(D) % 4, selector.group_labels_) == 1
    np.testing.assert_array_equal(selector.transform(lazy), X[:, selector.get_support()])
    frame["gene 5"] = "text"
    with pytest.raises(ValueError, match=r"not numbers: gene 5"):
        FeatureGroups().fit(dd.from_pandas(frame, npartitions=2))


def test_large_findings_are_merged_two_at_a_time_and_rows_come_in_pieces(X):
    taken = []

    class Large:
        n_bytes = MERGED_BYTES

        def split(self, spans):
            return [start for start, _ in spans]

        def measure(self, pieces, part):
            return [(part, max(len(piece) for piece in pieces))]

        def merge(self, found):
            taken.append(len(found))
            return [pair for part in found for pair in part]

    found = in_pieces(LAYOUTS["rows"](X)).run(Large(), 0)
    assert found == [(0, 150), (400, 150), (800, 150), (1200, 150), (1600, 100)]
    assert max(taken) == 2


@pytest.mark.slow
@pytest.mark.cluster
def test_passes_on_workers_are_the_same_with_one_or_two(X):
    distributed = pytest.importorskip("distributed")
    found = []
    for n_workers in (1, 2):
        with (
            distributed.LocalCluster(
                n_workers, processes=True, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster),
        ):
            made = passes(rows_of(in_pieces(LAYOUTS["rows"](X))))
            found.append([np.asarray(value).tobytes() for value in made.values()])
    assert found[0] == found[1]
