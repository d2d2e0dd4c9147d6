import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from groupfs.data.memory import block_rows
from groupfs.data.sources import (
    as_source,
    is_lazy,
    prefetch,
    read_blocks,
    read_whole,
)
from tests.support.sliced import Sliced

N, D = 300, 7


@pytest.fixture
def table(rng):
    X = rng.standard_normal((N, D)).astype(np.float32)
    X[rng.random((N, D)) < 0.5] = 0
    return X


def memmap(X, folder):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def h5py_dataset(X, folder):
    h5py = pytest.importorskip("h5py")
    file = h5py.File(folder / "x.h5", "w")
    return file.create_dataset("x", data=X, chunks=(100, D), compression="gzip")


def zarr_array(X, folder):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(str(folder / "x.zarr"), shape=X.shape, chunks=(100, D), dtype="f4")
    array[:] = X
    return array


def dask_array(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(90, 4))


def backed(X, folder, matrix):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(matrix(X)).write_h5ad(folder / "x.h5ad")
    return anndata.read_h5ad(folder / "x.h5ad", backed="r").X


KINDS = {
    "array": lambda X, folder: X,
    "fortran": lambda X, folder: np.asfortranarray(X),
    "memmap": memmap,
    "csr": lambda X, folder: sp.csr_array(X),
    "csc": lambda X, folder: sp.csc_matrix(X),
    "frame": lambda X, folder: pd.DataFrame(X.copy()),
    "h5py": h5py_dataset,
    "zarr": zarr_array,
    "dask": dask_array,
    "backed dense": lambda X, folder: backed(X, folder, np.asarray),
    "backed csr": lambda X, folder: backed(X, folder, sp.csr_matrix),
    "backed csc": lambda X, folder: backed(X, folder, sp.csc_matrix),
    "sliced": lambda X, folder: Sliced(X),
}


def dense(block):
    return block.toarray() if sp.issparse(block) else np.asarray(block)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_its_rows(table, tmp_path, kind):
    X = KINDS[kind](table, tmp_path)
    assert is_lazy(X) is (kind not in ("array", "fortran", "csr", "csc", "frame"))
    source = as_source(X)
    assert source.shape == (N, D)
    np.testing.assert_array_equal(dense(source.read(30, 130)), table[30:130])
    rows = np.array([200, 3, 3, 299, 4])
    np.testing.assert_array_equal(dense(source.gather(rows)), table[rows])
    np.testing.assert_array_equal(dense(read_whole(source)), table)
    np.testing.assert_array_equal(
        dense(read_whole(source.restricted(np.array([5, 1])))), table[:, [5, 1]]
    )


def test_duplicate_entries_are_added_up_without_touching_the_table():
    X = sp.csr_array(([1.0, 2.0, 3.0], [4, 4, 0], [0, 2, 3]), shape=(2, D))
    source = as_source(X)
    np.testing.assert_array_equal(source.read(0, 1).toarray(), [[0, 0, 0, 0, 3, 0, 0]])
    np.testing.assert_array_equal(source.gather(np.array([1, 0])).toarray()[1, 4], 3)
    np.testing.assert_array_equal(X.data, [1, 2, 3])
    np.testing.assert_array_equal(X.indices, [4, 4, 0])


def test_rows_far_apart_are_not_bridged(rng):
    X = rng.standard_normal((10_000, 2))
    table, rows = Sliced(X), rng.choice(10_000, 50, replace=False)
    np.testing.assert_array_equal(as_source(table).gather(rows), X[rows])
    assert max(table.reads) <= 50


@pytest.mark.parametrize(
    ("slice_", "words"),
    [
        (np.array([["text"] * D] * 10), "holds <U4"),
        (np.zeros((3, D)), r"in shape \(3, 7\), not 10 rows of 7 numbers"),
    ],
)
def test_slices_that_are_not_rows_of_numbers_are_refused(table, slice_, words):
    class Wrong(Sliced):
        def __getitem__(self, rows):
            return slice_

    with pytest.raises(ValueError, match=words):
        as_source(Wrong(table)).read(0, 10)


def test_columns_of_a_wide_table_are_read_in_blocks_of_whole_rows():
    table = Sliced(np.lib.stride_tricks.as_strided(np.ones(1), (500, 100_000), (0, 0)))
    found = read_whole(as_source(table).restricted(np.array([3])))
    assert found.shape == (500, 1)
    assert max(table.reads) == block_rows(100_000) < 500
    assert [len(block) for block in read_blocks(as_source(table), 200)] == [200, 200, 100]


def test_pages_of_a_private_copy_are_kept(table, tmp_path):
    np.save(tmp_path / "x.npy", table)
    X = np.load(tmp_path / "x.npy", mmap_mode="c")
    X[0, 0] = 42
    source = as_source(X)
    assert source.read(0, 1)[0, 0] == 42
    assert source.read(0, 1)[0, 0] == 42


def test_an_error_is_raised_where_the_item_would_have_been():
    def items():
        yield 1
        raise OSError("disk gone")

    found = prefetch(items())
    assert next(found) == 1
    with pytest.raises(OSError, match="disk gone"):
        next(found)


def test_leaving_early_ends_the_thread_and_the_reading():
    before, made = threading.active_count(), []
    found = prefetch(made.append(i) or i for i in range(10**9))
    assert next(found) == 0
    found.close()
    assert threading.active_count() == before
    assert len(made) <= 4
