"""What the first features explain in rows left out, held to regressions without each row."""

import numpy as np
import pytest

from groupfs import FeatureGroups
from groupfs.selection.held_out import squares_left_out


def without_each_row(A, Y, w):
    """Leave out every row in turn, and predict it from the first 1, 2, ... columns."""
    found = np.zeros(A.shape[1])
    for i in range(len(A)):
        own = np.delete(np.arange(len(A)), i)
        mean_a, mean_y = A[own].mean(0), Y[own].mean(0)
        for k in range(1, A.shape[1] + 1):
            coefficients = np.linalg.lstsq(A[own, :k] - mean_a[:k], Y[own] - mean_y, rcond=None)[0]
            error = Y[i] - mean_y - (A[i, :k] - mean_a[:k]) @ coefficients
            found[k - 1] += np.square(error) @ w
    return found


def test_leverages_say_what_regressions_without_each_row_do(rng):
    Y = rng.standard_normal((30, 5)) + rng.standard_normal((30, 1))
    A = np.column_stack([Y[:, :2], Y[:, 0], rng.standard_normal((30, 2))])  # one is there twice
    A = np.column_stack([A[:, :3], np.zeros(30), A[:, 3:]])  # and one does not vary in these rows
    A, Y, w = A - A.mean(0), Y - Y.mean(0), rng.random(5)
    np.testing.assert_allclose(squares_left_out(A, Y, w), without_each_row(A, Y, w), rtol=1e-8)


@pytest.mark.parametrize("n_rows", [40, 2000])
def test_few_rows_flatter_what_is_explained(n_rows, rng):
    F = rng.standard_normal((n_rows, 4))
    X = F[:, np.repeat(np.arange(4), 8)] + rng.standard_normal((n_rows, 32))
    selector = FeatureGroups(random_state=0).fit(X)
    k = int(selector.get_support().sum())
    within, left_out = selector.explained_[k - 1], selector.explained_held_out_[k - 1]
    assert (within - left_out > 0.05) if n_rows == 40 else (0 < within - left_out < 0.02)
    alike = FeatureGroups(similarity="distance", random_state=0).fit(X[:200])
    assert alike.explained_held_out_ is None
