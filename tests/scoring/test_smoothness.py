"""Smoothness of features on the sample graph agrees with its formula, whatever the table."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs.data.open_table import open_table
from groupfs.data.rows import DenseRows
from groupfs.scoring import smoothness
from groupfs.scoring.smoothness import feature_smoothness
from tests import reference


def rows_of(X, dtype=torch.float64):
    rows = DenseRows((X - X.mean(0)) / X.std(0))
    rows.to(torch.device("cpu"), dtype)
    return rows


def test_smoothness_is_what_neighbours_share(rng):
    X = rng.standard_normal((60, 9))
    X[:, :4] += 3 * np.sign(rng.standard_normal((60, 1)))
    rows, among = rows_of(X), np.arange(5)
    found = feature_smoothness(rows, among, 7, seed=0)
    assert found == pytest.approx(reference.feature_smoothness(rows.Z, among, 7), abs=1e-9)
    assert found[:4].min() > 0.5 > 0.25 > found[5:].max()


def test_scale_and_sign_of_a_column_do_not_matter(rng):
    X = rng.standard_normal((50, 6)) + rng.standard_normal((50, 1))
    found = feature_smoothness(rows_of(X), np.arange(6), 7, seed=0)
    turned = feature_smoothness(rows_of(X * [1, -2, 3, -4, 5, 1e-3]), np.arange(6), 7, seed=0)
    assert turned == pytest.approx(found, abs=1e-9)


def test_many_rows_are_sampled_and_sparse_tables_give_the_same(rng, monkeypatch):
    X = np.maximum(rng.standard_normal((200, 8)) + rng.standard_normal((200, 1)), 0)
    dense = open_table(object.__new__(Empty), X, True)
    sparse = open_table(object.__new__(Empty), sp.csr_array(X), True)
    for table in (dense, sparse):
        table.rows.to(torch.device("cpu"), torch.float64)
    one, other = (feature_smoothness(t.rows, np.arange(8), 7, seed=0) for t in (dense, sparse))
    assert one == pytest.approx(other, abs=1e-9)
    monkeypatch.setattr(smoothness, "MOST_ROWS", 100)
    fewer = feature_smoothness(dense.rows, np.arange(8), 7, seed=0)
    assert fewer == pytest.approx(one, abs=0.3) and (fewer != one).any()


class Empty:
    """Stands for an estimator, which learns the columns of the table."""
