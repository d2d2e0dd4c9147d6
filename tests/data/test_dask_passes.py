"""Passes over a dask array run where its blocks are, and find what one process finds."""

import os
import pickle
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.metrics import adjusted_rand_score

from groupfs import GroupFS
from groupfs.data import dask_passes, memory_plan
from groupfs.data.block_sources import DaskSource, PartSource, as_source
from groupfs.data.open_table import choose_plan, open_table
from groupfs.data.row_sums import random_places
from groupfs.data.survey import survey
from tests.support.sliced import SMALL_PLAN, Sliced, streaming

da = pytest.importorskip("dask.array")

N, D = 1700, 40
FAST = {"n_init": 1, "max_epochs": 2, "random_state": 0}


def planted(rng, n=N, d=D, C=4):
    labels = np.arange(d) % C
    X = rng.standard_normal((n, C))[:, labels] + 0.8 * rng.standard_normal((n, d))
    X[np.abs(X) < 0.3] = 0
    return X.astype(np.float32), labels


def as_csr(X, chunks):
    return da.from_array(X, chunks=(chunks, X.shape[1])).map_blocks(sp.csr_matrix)


LAYOUTS = {
    "rows": lambda X: da.from_array(X, chunks=(400, D)),
    "wide": lambda X: da.from_array(X, chunks=(500, 17)),
    "tall": lambda X: da.from_array(X, chunks=(N, D)),
    "tiny": lambda X: da.from_array(X, chunks=(13, 40)),
    "uneven": lambda X: da.from_array(X, chunks=((1, 0, 900, 799), (39, 1))),
    "sparse": lambda X: as_csr(X, 400),
    "double": lambda X: da.from_array(X.astype(np.float64), chunks=(300, 11)),
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Tasks work on 150 rows at a time, and merge few findings."""
    monkeypatch.setattr(dask_passes, "WORKER_ENTRIES", 150 * D)
    monkeypatch.setattr(dask_passes, "MOST_MERGED", 3)


def rows_of(X, **plan):
    return open_table(GroupFS(), X, True, plan=replace(SMALL_PLAN, **plan)).rows


def passes(rows):
    """Make every pass there is over rows, (name, numbers)."""
    labels = np.arange(D) % 3
    partners = np.random.default_rng(1).integers(D, size=(D, 5))
    half = np.arange(0, N, 2)
    again = rows.resampled(half, True)
    return {
        "norms": rows.column_norms,
        "columns": rows.units.columns,
        "mean": rows.units.mean,
        "scale": rows.units.scale,
        "sample": rows.sample.Z,
        "products": rows.column_products(3, 21).numpy(),
        "some products": rows.products_of(np.array([5, 2, 30])).numpy(),
        "distances": rows.pair_distances(partners, N),
        "distances from some": rows.pair_distances(partners, 500, signed=False),
        "sketch": rows.sketch().Z,
        "groups": np.concatenate(rows.group_products(labels, 3)),
        "rows": rows.take(torch.tensor([1600, 3, 3, 402])).numpy(),
        "mean of half": again.units.mean,
        "sample of half": again.sample.Z,
        "products of half": again.restricted(np.arange(4)).column_products(0, 4).numpy(),
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_pass_finds_what_one_process_finds(rng, layout):
    X, _ = planted(rng)
    here, there = passes(rows_of(Sliced(X))), passes(rows_of(LAYOUTS[layout](X)))
    for name, expected in here.items():
        rounding = 5e-6 * N if "distances" in name else 1e-3  # of sums that cancel
        np.testing.assert_allclose(there[name], expected, rtol=2e-5, atol=rounding, err_msg=name)


def test_columns_far_from_zero_lose_nothing(rng):
    X = planted(rng)[0].astype(np.float64) * 1e-3 + 1e6 + np.linspace(0, 1, N)[:, None]
    here, there = rows_of(Sliced(X)), rows_of(da.from_array(X, chunks=(130, 9)))
    np.testing.assert_array_equal(there.units.columns, here.units.columns)
    exact = X.astype(np.longdouble)[:, here.units.columns]
    np.testing.assert_allclose(there.units.scale, exact.std(0).astype(float), rtol=1e-8)
    np.testing.assert_allclose(there.units.mean, exact.mean(0).astype(float), rtol=1e-14)


def test_signs_of_a_row_are_its_own():
    places, signs = random_places(0, 5000, 10)
    np.testing.assert_array_equal(np.unique(places), np.arange(10))
    assert np.bincount(places).min() > 400 and abs(signs.mean()) < 0.05
    for found, expected in zip(random_places(17, 9, 10), (places, signs), strict=True):
        np.testing.assert_array_equal(found, expected[17:26])


def test_inner_products_of_a_sketch_are_off_by_what_projections_are_off(rng):
    X, _ = planted(rng)
    rows = rows_of(LAYOUTS["rows"](X), sample_rows=128)
    sketch, exact = rows.sketch().Z.astype(float), rows.column_products(0, D).numpy()
    assert len(sketch) == 128
    error = (sketch.T @ sketch - exact) / N
    r = exact / N
    expected = np.sqrt((1 + np.square(r)) / 128)
    assert 0.7 < np.sqrt(np.mean((error / expected) ** 2)) < 1.3


def test_blocks_never_come_to_the_client_as_a_whole(rng, monkeypatch):
    X, _ = planted(rng)
    source = as_source(LAYOUTS["rows"](X))
    for reader in ("read", "_fetch"):
        monkeypatch.setattr(DaskSource, reader, lambda *_: pytest.fail("a block was read"))
    with streaming(replace(SMALL_PLAN, sample_rows=300)):
        GroupFS(4, batch_size=100, **FAST).fit(source.X)


def test_tall_blocks_are_worked_on_in_pieces(rng):
    seen = []

    class Watch:
        n_bytes = 8

        def split(self, spans):
            return spans

        def measure(self, pieces, part):
            seen.extend(piece.shape for piece in pieces)
            return 0

        def merge(self, found):
            return 0

    dask_passes.run_pass(as_source(LAYOUTS["tall"](planted(rng)[0])).chunked, Watch())
    assert max(n for n, _ in seen) <= 150 and sum(n for n, _ in seen) == N


def test_products_of_all_columns_are_asked_for_once(rng, monkeypatch):
    X, _ = planted(rng)
    rows = rows_of(LAYOUTS["rows"](X))
    part = rows.column_products(3, 9).numpy()
    whole = rows.column_products(0, D)
    monkeypatch.setattr(DaskSource, "run_there", lambda *_: pytest.fail("another pass"))
    np.testing.assert_allclose(rows.column_products(3, 9), part, rtol=1e-5, atol=1e-3)
    columns = np.array([7, 2, 30])
    np.testing.assert_array_equal(rows.products_of(columns), whole[columns])
    found = rows.restricted(columns).column_products(0, 3)
    np.testing.assert_array_equal(found, whole[columns][:, columns])
    found.zero_()  # is the caller's
    np.testing.assert_array_equal(rows.column_products(0, D), whole)
    assert pickle.loads(pickle.dumps(rows))._all_products is None


@pytest.mark.parametrize("layout", ["rows", "sparse"])
def test_dask_is_told_how_large_a_survey_is(rng, layout):
    sizeof = pytest.importorskip("dask.sizeof").sizeof
    found = survey(as_source(LAYOUTS[layout](planted(rng)[0])), SMALL_PLAN)
    assert 0.9 < sizeof(found) / len(pickle.dumps(found)) < 1.1


def test_small_chunks_are_worked_on_together(rng):
    chunks = as_source(LAYOUTS["tiny"](planted(rng)[0])).chunked.chunks
    assert [(c.start, c.stop) for c in chunks[:2]] == [(0, 143), (143, 286)]
    assert chunks[-1].stop == N


@pytest.mark.parametrize("layout", ["wide", "sparse"])
@pytest.mark.parametrize(("value", "words"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_missing_values_are_refused_in_the_same_words(rng, layout, value, words):
    X, _ = planted(rng)
    X[1600, 7] = value
    refusals = []
    for table in (Sliced(X), LAYOUTS[layout](X)):
        with pytest.raises(ValueError, match=f"{words}.*x7") as refusal:
            rows_of(table)
        refusals.append(str(refusal.value))
    assert refusals[0] == refusals[1]


def test_missing_values_anywhere_are_all_named(rng):
    X, _ = planted(rng)
    X[[3, 900, 1650], [9, 30, 4]] = [np.inf, np.nan, np.inf]
    with pytest.raises(ValueError, match=r"inf\) in 2 columns \(x4, x9\) and NaN.*\(x30\)"):
        rows_of(LAYOUTS["rows"](X))


def test_blocks_that_are_no_numbers_and_unknown_shapes_are_refused(rng):
    X = LAYOUTS["rows"](planted(rng)[0])
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        as_source(X[X[:, 0] > 0])
    with pytest.raises(ValueError, match="holds <U"):
        rows_of(X.map_blocks(lambda block: block.astype(str), dtype="U8", meta=np.array([["a"]])))


def test_batches_are_rows_of_the_sample_and_never_twice(rng):
    rows = rows_of(LAYOUTS["rows"](planted(rng)[0]), sample_rows=300)
    assert rows.plan.batch_rows == 300
    held = {row.tobytes() for row in rows.sample.Z}
    out = torch.empty(128, D)
    n_steps = 0
    for _ in rows.batches(9, np.random.default_rng(0), out):
        batch = {row.tobytes() for row in out.numpy()}
        assert len(batch) == 128 and batch <= held
        n_steps += 1
    assert n_steps == 9


def test_a_large_array_stays_on_a_cluster_and_a_small_one_does_not(rng, monkeypatch):
    source = as_source(LAYOUTS["rows"](planted(rng)[0]))
    assert choose_plan(source, 1, None) is None
    monkeypatch.setattr("groupfs.data.open_table.STAYS_ON_CLUSTER", N * D - 1)
    assert choose_plan(source, 1, None) is None
    monkeypatch.setattr("groupfs.data.open_table.on_cluster", lambda: True)
    assert choose_plan(source, 1, None) is not None
    assert choose_plan(as_source(Sliced(np.zeros((N, D)))), 1, None) is None


def test_a_source_goes_to_other_processes_with_its_rows(rng):
    X, _ = planted(rng)
    source = pickle.loads(pickle.dumps(PartSource(as_source(LAYOUTS["wide"](X)), np.array([4, 9]))))
    assert source.is_remote
    np.testing.assert_array_equal(source.read(0, 2), X[[4, 9]])


@pytest.mark.slow
def test_a_frame_in_parquet_files_keeps_its_names(rng, tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    X, labels = planted(rng)
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(D)])
    frame["gene 3"] = (10 * frame["gene 3"]).astype(np.int16)
    for part in range(3):
        frame[part::3].to_parquet(tmp_path / f"{part}.parquet")
    lazy = dd.read_parquet(tmp_path)
    assert np.isnan(lazy.to_dask_array().shape[0])
    with streaming():
        selector = GroupFS(4, n_features_to_select=5, **FAST).fit(lazy)
    assert selector.feature_names_in_[3] == "gene 3"
    assert adjusted_rand_score(labels, selector.group_labels_) == 1
    found = selector.transform(lazy)
    expected = np.concatenate([frame[part::3].to_numpy() for part in range(3)])
    np.testing.assert_array_equal(found, expected[:, selector.get_support()])
    assert open_table(GroupFS(), lazy, True).names[3] == "gene 3"  # in memory
    frame["gene 5"] = "text"
    with pytest.raises(ValueError, match=r"not numbers: gene 5"):
        GroupFS().fit(dd.from_pandas(frame, npartitions=2))


def test_a_zarr_array_through_dask(rng, tmp_path):
    zarr = pytest.importorskip("zarr")
    X, _ = planted(rng)
    stored = zarr.create_array(str(tmp_path / "x"), shape=X.shape, chunks=(200, 16), dtype="f4")
    stored[:] = X
    here, there = rows_of(Sliced(X)), rows_of(da.from_zarr(str(tmp_path / "x")))
    np.testing.assert_array_equal(there.sample.Z, here.sample.Z)
    expected = here.column_products(0, D)
    np.testing.assert_allclose(there.column_products(0, D), expected, rtol=2e-5, atol=1e-3)


def test_merges_of_large_findings_take_two_at_a_time(rng, monkeypatch):
    monkeypatch.setattr(dask_passes, "MERGED_BYTES", memory_plan.MERGED_BYTES)
    taken = []

    class Large:
        n_bytes = memory_plan.MERGED_BYTES

        def split(self, spans):
            return [start for start, _ in spans]

        def measure(self, pieces, part):
            return [part]

        def merge(self, found):
            taken.append(len(found))
            return sum(found, [])

    chunked = as_source(LAYOUTS["rows"](planted(rng)[0])).chunked
    assert dask_passes.run_pass(chunked, Large()) == [0, 400, 800, 1200, 1600]
    assert set(taken) == {2}


# -- on workers --


def lazy_table(n_rows=10_000, rows_of_chunk=500):
    """Make rows on the workers, each chunk from its own seed, slowly enough to be interrupted."""

    def chunk(block_info=None):
        (start, stop), _ = block_info[None]["array-location"]
        rng = np.random.default_rng(start)
        factors = rng.standard_normal((stop - start, 4), dtype=np.float32)
        noise = rng.standard_normal((stop - start, D), dtype=np.float32)
        time.sleep(0.02)
        return factors[:, np.arange(D) % 4] + 0.8 * noise

    heights = (rows_of_chunk,) * (n_rows // rows_of_chunk)
    return da.map_blocks(chunk, chunks=(heights, (D,)), dtype=np.float32, meta=np.zeros((0, 0)))


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, processes=True, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def found_on(client, X):
    """Make passes on workers; return what was found to the last bit, and bytes of what was sent."""
    sent = []
    gather = client.gather

    def watched(*args, **kwargs):
        found = gather(*args, **kwargs)
        sent.append(len(pickle.dumps(found)))
        return found

    client.gather = watched
    rows = rows_of(X)
    found = [rows.sample.Z, rows.units.mean, rows.units.scale, rows.column_products(0, D).numpy()]
    found += [rows.sketch().Z, *rows.group_products(np.arange(D) % 4, 4)]
    found += [rows.pair_distances(np.tile(np.arange(7), (D, 1)), 10_000)]
    client.gather = gather
    return [np.asarray(value).tobytes() for value in found], sent


def kill_a_worker(client, killed):
    """Wait until both workers are at work, then take one of them away."""
    while sum(bool(tasks) for tasks in client.processing().values()) < 2:
        time.sleep(0.01)
    time.sleep(0.2)
    _, pid = next(iter(client.run(os.getpid).items()))
    os.kill(pid, signal.SIGKILL)
    killed.set()


@pytest.mark.slow
@pytest.mark.cluster
def test_passes_on_workers_are_the_same_with_one_or_two_or_one_lost(cluster):
    X = lazy_table()
    one, sent = found_on(cluster, X)
    assert max(sent) < 1.1 * 1000 * D * 4 + 50_000  # the sample is the largest
    assert sum(sent) < 0.3 * 10_000 * D * 4
    cluster.cluster.scale(2)
    cluster.wait_for_workers(2)
    assert found_on(cluster, X)[0] == one
    assert found_on(cluster, X.persist())[0] == one  # workers hold the blocks already
    killed = threading.Event()
    threading.Thread(target=kill_a_worker, args=(cluster, killed)).start()
    assert found_on(cluster, X)[0] == one
    assert killed.is_set()
