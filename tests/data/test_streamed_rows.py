import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.metrics import adjusted_rand_score

from groupfs import GroupFS, GroupFSPath
from groupfs.data.open_table import open_table
from groupfs.data.streamed_rows import StreamRows
from groupfs.graphs.feature_neighbors import exact_neighbors, sketched_neighbors
from groupfs.report import render, summarize
from tests.support.sliced import SMALL_PLAN, Sliced, streaming

FAST = {"max_epochs": 2, "n_init": 1, "random_state": 0}
KINDS = pytest.mark.parametrize("kind", [np.asarray, Sliced, sp.csr_array, pd.DataFrame])


def planted(rng, N=2000, d=60, C=4):
    labels = np.arange(d) % C
    X = rng.standard_normal((N, C))[:, labels] + 0.8 * rng.standard_normal((N, d))
    return X.astype(np.float32), labels


@pytest.fixture
def streams():
    """Every table is streamed."""
    with streaming():
        yield


def streamed(X, standardize=True, **plan) -> StreamRows:
    return open_table(GroupFS(), X, standardize, plan=replace(SMALL_PLAN, **plan)).rows


@KINDS
@pytest.mark.parametrize("standardize", [True, False])
def test_streamed_rows_are_the_rows_in_memory(rng, kind, standardize):
    X = np.maximum(rng.standard_normal((1500, 9)), 0) * np.arange(1, 10)
    X[:, 4] = 3.0
    X[:, 5] *= 1e-200  # squares that vanish: constant, both ways
    with pytest.warns(UserWarning, match="2 constant columns .*: x4, x5"):
        here = open_table(GroupFS(), X, standardize).rows
    with pytest.warns(UserWarning, match="2 constant columns .*: x4, x5"):
        there = streamed(kind(X), standardize)
    assert here.plan is None and there.plan == SMALL_PLAN
    index = torch.tensor([5, 1400, 5, 0])
    here.to(torch.device("cpu"), torch.float64)
    there.to(torch.device("cpu"), torch.float64)
    np.testing.assert_allclose(there.take(index), here.take(index), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        there.column_products(2, 6), here.column_products(2, 6), rtol=1e-5, atol=1e-3
    )
    np.testing.assert_allclose(there.column_norms, here.column_norms, rtol=1e-9)
    labels = np.arange(7) % 3
    for ours, theirs in zip(
        there.group_products(labels, 3), here.group_products(labels, 3), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-3)


def test_distances_of_pairs_are_those_of_all(rng):
    rows = streamed(planted(rng)[0])
    partners = rng.integers(60, size=(60, 5))
    Z = rows.take(torch.arange(2000)).double().numpy()
    exact = np.square(Z[:, :, None] - Z[:, partners]).sum(0)
    np.testing.assert_allclose(rows.pair_distances(partners, 2000), exact, rtol=1e-5, atol=0.1)


def test_distances_from_some_rows_compare_the_same_rows(rng):
    factors = np.repeat(rng.standard_t(2, (6000, 10)), 4, axis=1)
    rows = streamed((factors + 0.1 * rng.standard_normal((6000, 40))).astype(np.float32))
    label = rows.units.columns // 4
    partners = np.array([np.flatnonzero(label == own) for own in label])
    part = rows.pair_distances(partners, 600)
    others = partners != np.arange(40)[:, None]
    # of heavy tails a tenth of the rows has another norm: differences must not come from that
    assert (part[others] > 0).all()
    exact = rows.pair_distances(partners, 6000)
    assert 0.5 < np.median(part[others] / exact[others]) < 2


def test_a_sketch_finds_the_neighbours_of_all_rows(rng):
    rows = streamed(planted(rng, N=4000, d=200, C=5)[0])
    _, exact, _ = exact_neighbors(rows, 10)
    distances, found, _ = sketched_neighbors(rows, 10)
    shared = [len(set(a) & set(b)) for a, b in zip(exact, found, strict=True)]
    assert np.mean(shared) > 8.5  # of 11, itself included
    assert (np.diff(distances, axis=1) >= 0).all()
    np.testing.assert_array_equal(found[:, 0], np.arange(200))


@pytest.mark.slow
def test_too_many_products_are_sketched(rng):
    X, labels = planted(rng, d=600, C=5)
    tight = replace(SMALL_PLAN, slab_bytes=2**19)
    assert streamed(X).is_exact and not streamed(X, slab_bytes=2**19).is_exact
    with streaming(tight):
        selector = GroupFS(5, **FAST).fit(X)
    assert adjusted_rand_score(labels, selector.group_labels_) == 1


@pytest.mark.parametrize("kind", [np.asarray, Sliced, sp.csr_array])
def test_an_epoch_deals_out_every_row_once(rng, kind):
    X = np.column_stack([np.arange(1024.0), rng.standard_normal(1024)])
    rows = streamed(kind(X))
    out = torch.empty(128, 2)
    seen = np.concatenate(
        [out.numpy().copy() for _ in rows.batches(8, np.random.default_rng(0), out)]
    )
    assert len(np.unique(seen.round(5), axis=0)) == 1024


def test_rows_sorted_by_kind_are_mixed_in_a_batch(rng):
    kind = np.repeat(np.arange(16), 256)
    rows = streamed(Sliced(np.column_stack([kind, rng.standard_normal(4096)])))
    out = torch.empty(128, 2)
    index = rows.units.columns.tolist().index(0)
    values = [
        len(np.unique(out[:, index].numpy().round(4)))
        for _ in rows.batches(20, np.random.default_rng(0), out)
    ]
    assert min(values) >= 3
    assert np.mean(values) >= 5


@pytest.mark.parametrize("N", [300, 1000, 1500])
@pytest.mark.parametrize("size", [64, 200])
def test_no_row_is_twice_in_a_batch_and_none_is_read_twice(rng, N, size):
    table, out = Sliced(rng.standard_normal((N, 3))), torch.empty(size, 3)
    rows = streamed(table, buffer_rows=16_384)
    table.reads.clear()
    n_steps = -(-N // size)
    for _ in rows.batches(n_steps, np.random.default_rng(0), out):
        assert len(np.unique(out.numpy(), axis=0)) == size
        n_steps -= 1
    assert n_steps == 0
    assert sum(table.reads) <= N


def test_batches_depend_on_the_seed_alone(rng):
    rows, out = streamed(Sliced(planted(rng)[0])), torch.empty(100, 60)

    def dealt(seed):
        return [out.clone() for _ in rows.batches(20, np.random.default_rng(seed), out)]

    first, again, other = dealt(0), dealt(0), dealt(1)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert len(first) == 20
    assert not torch.equal(first[0], other[0])


@pytest.mark.slow
@KINDS
def test_streamed_fits_find_the_groups_found_in_memory(rng, streams, kind):
    X, labels = planted(rng)
    X[np.abs(X) < 0.3] = 0
    before = X.copy()
    selector = GroupFS(4, **FAST).fit(kind(X))
    assert adjusted_rand_score(labels, selector.group_labels_) == 1
    np.testing.assert_array_equal(X, before)
    assert selector.group_selected_.any()
    for value in (selector.centrality_, selector.group_scores_, selector.membership_):
        assert np.isfinite(value).all()


@pytest.mark.slow
def test_streamed_fits_repeat_whatever_the_order_of_the_columns(rng, streams):
    X, _ = planted(rng)
    order = rng.permutation(60)
    one, again, other = (GroupFS(4, **FAST).fit(Sliced(x)) for x in (X, X, X[:, order]))
    np.testing.assert_array_equal(one.membership_, again.membership_)
    np.testing.assert_array_equal(one.group_gates_, again.group_gates_)
    np.testing.assert_array_equal(one.membership_[order], other.membership_)


@pytest.mark.slow
def test_paths_and_resamples_are_streamed(rng, streams):
    X, labels = planted(rng, N=1200)
    path = GroupFSPath(4, sparsities=[0.5, 1.0], n_resamples=2, **FAST).fit(Sliced(X))
    assert adjusted_rand_score(labels, path.group_labels_) == 1
    for found in path.stability_.labels:
        assert adjusted_rand_score(labels, found) == 1


@pytest.mark.slow
def test_a_path_from_a_file_is_shared_among_processes(rng, streams, tmp_path):
    np.save(tmp_path / "x.npy", planted(rng, N=900, d=20)[0])
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    settings = {"sparsities": [0.5, 1.0, 1.5], **FAST, "n_init": 4}
    alone = GroupFSPath(4, **settings).fit(X)
    together = GroupFSPath(4, n_jobs=2, **settings).fit(X)
    np.testing.assert_array_equal(alone.path_.gates, together.path_.gates)


@pytest.mark.slow
def test_no_more_rows_than_planned_are_read_at_a_time(rng, streams, capsys):
    table = Sliced(planted(rng)[0])
    GroupFS(4, verbose=True, **FAST).fit(table)
    assert max(table.reads) == 300
    assert "mean and variance" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [np.asarray, Sliced, sp.csr_array])
@pytest.mark.parametrize(("value", "words"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_missing_values_deep_in_the_table_are_refused_by_name(rng, streams, kind, value, words):
    X, _ = planted(rng)
    X[1900, 7] = value
    with pytest.raises(ValueError, match=f"{words}.*x7"):
        GroupFS(**FAST).fit(kind(X))


@pytest.mark.slow
def test_names_of_a_frame_are_remembered(rng, streams):
    frame = pd.DataFrame(planted(rng)[0], columns=[f"gene {i}" for i in range(60)])
    selector = GroupFS(4, **FAST).fit(frame)
    assert selector.feature_names_in_[3] == "gene 3"
    assert not hasattr(selector.fit(Sliced(frame.to_numpy())), "feature_names_in_")


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((0, 3), "Found array with 0 sample"),
        ((1, 3), "Found array with 1 sample"),
        ((5, 1), "Found array with 1 feature"),
        ((5, 0), "Found array with 0 feature"),
        ((float("nan"), 4), "compute_chunk_sizes"),
    ],
)
def test_tables_without_rows_columns_or_size_are_refused(streams, shape, words):
    table = Sliced(np.zeros((0, 0)))
    table.shape = shape
    with pytest.raises(ValueError, match=words):
        GroupFS(**FAST).fit(table)
    assert not table.reads


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", ">f8", "int64"])
def test_streamed_tables_may_hold_any_kind_of_number(rng, streams, dtype):
    X, labels = planted(rng, N=600, d=12, C=3)
    X = X > 0 if dtype == "bool" else (10 * X + 100).clip(0, 120).astype(dtype)
    assert adjusted_rand_score(labels, GroupFS(3, **FAST).fit(Sliced(X)).group_labels_) == 1


@pytest.mark.slow
def test_known_groups_of_a_streamed_table(rng, streams):
    X, labels = planted(rng, d=12, C=3)
    selector = GroupFS(groups=labels, **FAST).fit(Sliced(X))
    assert adjusted_rand_score(labels, selector.group_labels_) == 1
    assert (selector.group_scores_ > 0.05).all()


@pytest.mark.slow
def test_a_report_of_a_streamed_table(rng, streams):
    X, _ = planted(rng, d=12, C=3)
    summary = summarize(GroupFS(3, **FAST).fit(Sliced(X)), Sliced(X))
    assert summary["format"] == "groupfs-result"
    assert "<html" in render(summary)


@pytest.mark.slow
def test_transform_reads_only_the_selected_columns(rng, streams):
    X, _ = planted(rng)
    selector = GroupFS(4, n_features_to_select=5, **FAST).fit(Sliced(X))
    np.testing.assert_array_equal(selector.transform(Sliced(X)), X[:, selector.get_support()])
    with pytest.raises(ValueError, match="X has 59 features, but GroupFS is expecting 60"):
        selector.transform(Sliced(X[:, 1:]))


def test_batches_that_do_not_fit_are_refused_or_made_smaller(rng):
    X, _ = planted(rng)
    tight = replace(SMALL_PLAN, batch_rows=100)
    with streaming(tight), pytest.raises(ValueError, match="batch_size=500 does not .*allow 100"):
        GroupFS(4, batch_size=500, **FAST).fit(X)
    settings = GroupFS()._settings(open_table(GroupFS(), X, True, plan=tight))
    assert settings.batch_size == 100
    assert settings.steps_per_epoch == 8  # as many batches as a pool holds


def test_a_graph_of_all_features_that_does_not_fit_is_refused(rng):
    tight = replace(SMALL_PLAN, slab_bytes=1000)
    with streaming(tight), pytest.raises(ValueError, match="feature_neighbors=50"):
        GroupFS(4, feature_neighbors="all", **FAST).fit(planted(rng)[0])


MEASURED = """
import sys
from pathlib import Path
import numpy as np
from groupfs import GroupFS

X = np.load(sys.argv[1], mmap_mode="r")
GroupFS(20, max_epochs=1, batch_size=600, n_init=1, max_memory="850MB", random_state=0).fit(X)
status = Path("/proc/self/status").read_text()
print(1024 * int(status.split("VmHWM:")[1].split()[0]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read as Linux counts it")
def test_memory_stays_below_the_limit(rng, tmp_path):
    shape = (30_000, 1000)  # 120 MB, and 0.95 GB of work beside what Python takes
    X = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, shape)
    labels = np.arange(shape[1]) % 20
    for start in range(0, shape[0], 5000):
        factors = rng.standard_normal((5000, 20), dtype=np.float32)
        noise = rng.standard_normal((5000, shape[1]), dtype=np.float32)
        X[start : start + 5000] = factors[:, labels] + noise
    del X
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(tmp_path / "x.npy")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 850e6
