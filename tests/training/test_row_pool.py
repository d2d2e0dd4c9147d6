import pickle

import numpy as np
import pytest
import torch

from groupfs.data.rows import DenseRows
from groupfs.models.group_products import GroupProducts
from groupfs.training.row_pool import RowPool
from groupfs.training.settings import MOST_BATCHES


def pool_of(rng, n_rows, d, batch_size, n_bytes=2**31):
    rows = DenseRows(rng.standard_normal((n_rows, d)))
    rows.to(torch.device("cpu"), torch.float64)
    labels = np.arange(d) % 3
    return rows, labels, RowPool.of(rows, labels, 3, batch_size, 2, 0, n_bytes)


@pytest.mark.parametrize(("n_rows", "n_batches"), [(40, 1), (50, 2), (100, 3), (999, MOST_BATCHES)])
def test_batches_have_one_size_and_hold_as_many_rows_as_they_may(rng, n_rows, n_batches):
    rows, _, pool = pool_of(rng, n_rows, 6, 40)
    assert len(pool) == n_batches and not pool.holds_products
    assert {tuple(batch.shape) for batch in pool} == {(40, 6)}
    known = {tuple(row) for row in rows.Z.round(9).tolist()}
    seen = {tuple(row) for batch in pool for row in batch.numpy().round(9).tolist()}
    assert seen <= known and len(seen) == min(n_rows, 40 * MOST_BATCHES)


def test_of_many_features_the_products_over_groups_are_kept(rng):
    rows, labels, pool = pool_of(rng, 40, 90, 40)
    (batch,) = pool
    assert pool.holds_products and isinstance(batch, GroupProducts) and batch.n_features == 90
    # the whole table in some order: products of all rows over a group have its squared norms
    for j in range(3):
        norm = np.square(rows.Z[:, labels == j]).sum()
        assert batch.products[j].trace().item() == pytest.approx(norm)
    assert len(pool_of(rng, 120, 90, 40)[2]) == 3


def test_little_memory_leaves_few_batches_and_no_products(rng):
    pool = pool_of(rng, 120, 90, 40, n_bytes=16 * 2 * 40 * 90)[2]
    assert len(pool) == 2 and not pool.holds_products
    assert len(pool_of(rng, 120, 90, 40, n_bytes=1)[2]) == 1


def test_a_pool_can_be_sent_to_other_processes(rng):
    pool = pool_of(rng, 40, 90, 40)[2]
    again = pickle.loads(pickle.dumps(pool))
    torch.testing.assert_close(again.batches[0].products, pool.batches[0].products)
    assert again.n_bytes == pool.n_bytes == 8 * 3 * 40**2
