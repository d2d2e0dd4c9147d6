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
from tests.support.sliced import SMALL_PLAN, Sliced, open_streamed, streaming

KINDS = pytest.mark.parametrize("kind", [np.asarray, Sliced, sp.csr_array, pd.DataFrame])


def planted(rng, N=2000, d=60, C=4):
    labels = np.arange(d) % C
    X = rng.standard_normal((N, C))[:, labels] + 0.8 * rng.standard_normal((N, d))
    return X.astype(np.float32), labels


def streamed(X, **plan):
    return open_streamed(X, replace(SMALL_PLAN, **plan)).similarity


@pytest.mark.slow
def test_too_many_pairs_are_compared_over_the_sample(rng):
    X, labels = planted(rng, d=600, C=5)
    few = replace(SMALL_PLAN, block_entries=2**17)
    exact, sampled = streamed(X), streamed(X, block_entries=2**17)
    assert exact.shape == (2000, 600) and sampled.shape == (1000, 600)
    np.testing.assert_allclose(sampled.matrix(), exact.matrix(), atol=0.2)
    assert sampled.coordinates().is_sketch and sampled.rows.shape[0] == 2000
    with streaming(few):
        selector = FeatureGroups(n_groups=5, random_state=0).fit(X)
    assert adjusted_rand_score(labels, selector.group_labels_) == 1
    assert selector.set_params(output="scores").transform(X).shape == (2000, 5)


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
