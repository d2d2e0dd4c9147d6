"""All rows of a table that is not in memory, compared on a device: here by the processor."""

import gc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from benchmarks.simulated_cells import PER_MODULE, SIZES, sparse_counts
from groupfs.data import all_rows
from groupfs.data.all_rows import BlocksOfRows, DeviceRows
from groupfs.data.memory import Plan
from groupfs.data.passes import ColumnUnits, SurveyWork
from groupfs.data.sources import as_source
from groupfs.data.streamed import streamed_table
from groupfs.data.table import TableOptions
from groupfs.discovery.describe_groups import Options
from groupfs.discovery.discover import discover

torch = pytest.importorskip("torch")
CPU = torch.device("cpu")
#: Similarities of pairs are not kept; batches are small, the last one with few rows.
PLAN = Plan(sample_rows=200, block_rows=64, block_entries=2**10)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(all_rows, "BATCH_ROWS", 70)


def table(rng, is_sparse):
    X = rng.poisson(0.3, (300, 60)).astype(float)
    X[:, :30] += rng.poisson(0.5, (300, 10)).repeat(3, axis=1)
    X[:, 7] = 4.0  # does not vary
    X[:, 8] = 1e3 + 3 * X[:, 9]
    return sp.csr_array(X) if is_sparse else X


def opened(X, device=CPU):
    names = [f"x{i}" for i in range(X.shape[1])]
    return streamed_table(as_source(X), PLAN, names, TableOptions("Test", True), device)


@pytest.mark.parametrize("is_sparse", [True, False])
def test_a_device_sees_what_the_processor_sees(is_sparse, rng):
    source = as_source(table(rng, is_sparse))
    work = SurveyWork(source.shape, 50)
    here, there = source.run(work, 64), DeviceRows(source, CPU).look_at(work)
    assert_allclose(there.moments.mean, here.moments.mean, rtol=1e-12)
    assert_allclose(there.moments.spread, here.moments.spread, rtol=1e-12, atol=1e-12)
    assert_allclose(there.keys, here.keys, rtol=1e-9, atol=1e-7)
    pairs = zip(*(sp.csr_array(s.sample).toarray() for s in (there, here)), strict=True)
    assert all((a == b).all() for a, b in pairs)


@pytest.mark.parametrize("kind", [">f4", "g", ">i2", "?"])
def test_numbers_of_any_type_are_brought_to_the_device(kind, rng):
    X = table(rng, False).astype(kind)
    X.setflags(write=False)
    work = SurveyWork(X.shape, 50)
    there = DeviceRows(as_source(X), CPU).look_at(work)
    assert_allclose(there.moments.mean, X.astype(float).mean(0), rtol=1e-6)


def test_products_of_columns_are_given_back_before_the_next_are_made(rng, monkeypatch):
    """Of a part of the columns at a time, else they would be twice what is free."""
    monkeypatch.setattr(DeviceRows, "free_bytes", lambda self: 2**17)
    monkeypatch.setattr(all_rows, "AT_ONCE", 2**12)
    rows, made, zeros = DeviceRows(as_source(table(rng, False)), CPU), [], torch.Tensor.new_zeros

    def memory(tensor):
        return tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes()

    def watched(tensor, shape, **options):
        if np.ndim(shape) == 1 and shape[0] == all_rows.N_ROW_BLOCKS:
            held = [memory(own) for own in gc.get_objects() if type(own) is torch.Tensor]
            assert not set(made) & set(held)
            made.append(memory(found := zeros(tensor, shape, **options)))
            return found
        return zeros(tensor, shape, **options)

    monkeypatch.setattr(torch.Tensor, "new_zeros", watched)
    columns = np.delete(np.arange(60), 7)
    units = ColumnUnits(columns, np.zeros(59), np.ones(59), 60)
    for _ in BlocksOfRows(rows, units).correlations():
        pass
    assert len(made) > 1


def test_missing_values_are_found_as_by_the_processor(rng):
    X = table(rng, False)
    X[123, 4] = np.nan
    with pytest.raises(ValueError, match="x4"):
        opened(X)


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("products", [1, 2**30])  # a column at a time, or all
def test_similarities_are_literal_correlations_of_all_rows_and_halves(
    is_sparse, products, rng, monkeypatch
):
    monkeypatch.setattr(all_rows, "AT_ONCE", 2**12)
    monkeypatch.setattr(all_rows, "STRIP", 9)
    X = table(rng, is_sparse)
    rows = DeviceRows(as_source(X), CPU)
    dense = X.toarray() if is_sparse else X
    columns = rng.permutation(np.flatnonzero(np.ptp(dense, axis=0)))
    units = ColumnUnits(columns, dense.mean(0)[columns], dense.std(0)[columns], X.shape[1])
    monkeypatch.setattr(DeviceRows, "free_bytes", lambda self: products)
    found = rows.compare(units)
    # the block of every row, as they were dealt
    blocks = BlocksOfRows(rows, units)
    dealt = [slots // per_block for slots, per_block in map(blocks._slots, rows)]
    block, Z = np.concatenate(dealt), dense[:, columns]
    assert np.ptp(np.bincount(block)) <= 5  # one in each batch
    marked = blocks.marked.numpy() > 0
    assert_array_equal(found.n_rows, [own[block].sum() for own in marked])
    for own, r in zip(marked, found.r, strict=True):
        literal = np.corrcoef(Z[own[block]].T)[tuple(found.edges.T)]
        assert_allclose(r, literal, atol=2e-6)
    literal = np.abs(np.corrcoef(Z.T)) - np.eye(len(columns))
    assert_allclose(found.strength, np.sort(literal)[:, -3:].mean(1), atol=1e-6)


def test_edges_are_the_nearest_neighbours_in_the_whole_or_a_half(rng, monkeypatch):
    monkeypatch.setattr(all_rows, "NEIGHBORS", 2)
    X = table(rng, False)
    columns = np.flatnonzero(np.ptp(X, axis=0))
    units = ColumnUnits(columns, X.mean(0)[columns], X.std(0)[columns], X.shape[1])
    rows = DeviceRows(as_source(X), CPU)
    blocks, expected = BlocksOfRows(rows, units), set[tuple[int, int]]()
    block = np.concatenate([slots // n for slots, n in map(blocks._slots, rows)])
    for own, line in zip(blocks.marked.numpy() > 0, blocks.line.numpy(), strict=True):
        r = np.abs(np.corrcoef(X[own[block]][:, columns].T)) - np.eye(len(columns))
        for i, near in enumerate(np.argsort(-r, axis=1)[:, :2]):
            expected |= {(min(i, j), max(i, j)) for j in near.tolist() if r[i, j] > line}
    assert set(map(tuple, rows.compare(units).edges.tolist())) == expected


def test_columns_of_one_variable_are_not_alike(rng):
    level = rng.integers(4, size=400)
    X = np.column_stack([level == 0, level == 1, level == 2, rng.standard_normal((400, 60))])
    compared = opened(X.astype(float)).similarity.compared
    kept = {tuple(edge) for edge, r in zip(compared.edges, compared.r.T, strict=True) if r.any()}
    own = set(np.flatnonzero(np.isin(opened(X.astype(float)).columns, [0, 1, 2])).tolist())
    assert not any(set(edge) <= own for edge in kept)


def test_planted_modules_are_found_that_a_sample_does_not_show(monkeypatch):
    """Counts of a few thousand cells, in which most genes are rare."""
    monkeypatch.setattr(all_rows, "BATCH_ROWS", 2**10)
    X = sparse_counts(6000, 1700, 0)
    plan = Plan(sample_rows=512, block_rows=1024, block_entries=2**15)
    names = [f"x{i}" for i in range(X.shape[1])]
    module = np.where(np.arange(1700) % PER_MODULE < SIZES[0], np.arange(1700) // PER_MODULE, -1)
    found = {}
    for device in (CPU, None):
        table = streamed_table(as_source(X), plan, names, TableOptions("Test", True), device)
        labels = discover(table, Options(), 0).groups[-1].labels
        inside = labels >= 0
        assert adjusted_rand_score(module[inside], labels[inside]) > 0.98
        found[device] = inside.sum()
    assert found[CPU] > 1.3 * found[None]
