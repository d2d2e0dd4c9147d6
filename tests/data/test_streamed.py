"""Tables that are streamed give what they give in memory."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from groupfs import FeatureGroups
from groupfs.data.open_table import open_table
from tests.support.sliced import SMALL_PLAN, Sliced, streaming

KINDS = pytest.mark.parametrize("kind", [np.asarray, Sliced, sp.csr_array, pd.DataFrame])


def planted(rng, N=2000, d=60, C=4):
    labels = np.arange(d) % C
    X = rng.standard_normal((N, C))[:, labels] + 0.8 * rng.standard_normal((N, d))
    return X.astype(np.float32), labels


def streamed(X, **plan):
    return open_table(FeatureGroups(), X, True, plan=replace(SMALL_PLAN, **plan)).similarity


def test_distances_from_some_rows_compare_the_same_rows(rng):
    factors = np.repeat(rng.standard_t(2, (6000, 10)), 4, axis=1)
    X = factors + 0.1 * rng.standard_normal((6000, 40))
    rows = streamed(X.astype(np.float32)).rows
    label = rows.units.columns // 4
    partners = np.array([np.flatnonzero(label == own) for own in label])
    part = rows.pair_distances(partners, 600)
    others = partners != np.arange(40)[:, None]
    # of heavy tails a tenth of the rows has another norm: differences must not come from that
    assert (part[others] > 0).all()
    exact = rows.pair_distances(partners, 6000)
    assert 0.5 < np.median(part[others] / exact[others]) < 2


def test_a_sketch_finds_the_neighbours_of_all_rows(rng):
    X = planted(rng, N=4000, d=200, C=5)[0]
    _, exact, _ = streamed(X).neighbors(10, signed=True)
    distances, found, _ = streamed(X, slab_bytes=2**16).neighbors(10, signed=True)
    shared = [len(set(a) & set(b)) for a, b in zip(exact, found, strict=True)]
    assert 8.5 < np.mean(shared) < 11  # of 11, itself included
    assert (np.diff(distances, axis=1) >= 0).all()
    np.testing.assert_array_equal(found[:, 0], np.arange(200))


@pytest.mark.slow
def test_too_many_products_are_sketched(rng):
    X, labels = planted(rng, d=600, C=5)
    assert streamed(X).rows.is_exact and not streamed(X, slab_bytes=2**19).rows.is_exact
    with streaming(replace(SMALL_PLAN, slab_bytes=2**19)):
        selector = FeatureGroups(n_groups=5, random_state=0).fit(X)
    assert adjusted_rand_score(labels, selector.group_labels_) == 1


@pytest.mark.slow
@KINDS
def test_streamed_fits_find_the_groups_found_in_memory(rng, kind):
    X, labels = planted(rng)
    X[np.abs(X) < 0.3] = 0
    before = X.copy()
    with streaming():
        selector = FeatureGroups(random_state=0).fit(kind(X))
    assert adjusted_rand_score(labels, selector.group_labels_) == 1
    np.testing.assert_array_equal(X, before)
    assert selector.group_kept_.any()


@pytest.mark.slow
def test_no_more_rows_than_planned_are_read_at_a_time(rng):
    table = Sliced(planted(rng)[0])
    with streaming():
        FeatureGroups(random_state=0).fit(table)
    assert max(table.reads) == 300


@pytest.mark.parametrize("kind", [np.asarray, Sliced, sp.csr_array])
@pytest.mark.parametrize(("value", "words"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_missing_values_deep_in_the_table_are_refused_by_name(rng, kind, value, words):
    X, _ = planted(rng)
    X[1900, 7] = value
    with streaming(), pytest.raises(ValueError, match=f"{words}.*x7"):
        FeatureGroups().fit(kind(X))


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((0, 3), "Found array with 0 sample"),
        ((5, 1), "Found array with 1 feature"),
        ((float("nan"), 4), "compute_chunk_sizes"),
    ],
)
def test_tables_without_rows_columns_or_size_are_refused(shape, words):
    table = Sliced(np.zeros((0, 0)))
    table.shape = shape
    with streaming(), pytest.raises(ValueError, match=words):
        FeatureGroups().fit(table)
    assert not table.reads


MEASURED = """
import sys
from pathlib import Path
import numpy as np
from groupfs import FeatureGroups

X = np.load(sys.argv[1], mmap_mode="r")
FeatureGroups(n_groups=20, max_memory="850MB", random_state=0).fit(X)
status = Path("/proc/self/status").read_text()
print(1024 * int(status.split("VmHWM:")[1].split()[0]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read as Linux counts it")
def test_memory_stays_below_the_limit(rng, tmp_path):
    shape = (30_000, 1000)  # 120 MB, and 0.95 GB of work beside what Python takes
    X = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, shape)
    for start in range(0, shape[0], 5000):
        X[start : start + 5000] = planted(rng, 5000, shape[1], 20)[0]
    del X
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "x.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 850e6
