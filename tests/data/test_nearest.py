import numpy as np
import pytest

from groupfs.data.correlations import Correlations
from groupfs.data.dense import DenseRows
from groupfs.data.nearest import UnitColumns, largest


@pytest.mark.parametrize("d", [1, 3, 20, 23, 400, 2501])
def test_the_largest_of_folded_rows_are_those_of_sorted_ones(d, rng):
    for values in (rng.standard_normal((6, d)), rng.integers(0, 4, (6, d)).astype(float)):
        for k in {1, min(3, d), min(20, d)}:
            found, column = largest(values, k)
            np.testing.assert_array_equal(np.sort(found), np.sort(values)[:, -k:])
            np.testing.assert_array_equal(np.take_along_axis(values, column, 1), found)
            assert all(len(set(row)) == k for row in column.tolist())


@pytest.mark.parametrize("line", [-0.2, 0.0, 1.1, 9.0])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_largest_above_a_line_are_those_of_sorted_ones(dtype, signed, line, rng):
    values = rng.standard_normal((50, 333)).astype(dtype)
    values[1], values[2] = 0, line
    sizes = values if signed else abs(values)
    found, column = largest(values, 20, line, signed)
    for own, row, place in zip(found, sizes, column, strict=True):
        expected = np.sort(row)[-20:]
        np.testing.assert_array_equal(np.sort(own[own > line]), expected[expected > line])
        np.testing.assert_array_equal(row[place[own > line]], own[own > line])


def test_on_a_device_of_torch_the_same_are_found(rng):
    torch = pytest.importorskip("torch")
    Z = rng.standard_normal((40, 90))
    Z /= np.linalg.norm(Z, axis=0)
    there, here = (UnitColumns(Z, device).block(10, 50) for device in (torch.device("cpu"), None))
    np.testing.assert_allclose(there.numpy(), here, atol=1e-6)
    for found, expected in zip(largest(abs(there), 5), largest(np.abs(here), 5), strict=True):
        np.testing.assert_allclose(np.sort(found), np.sort(expected), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_column_that_is_constant_in_a_sample_goes_with_nothing(dtype, rng):
    Z = rng.standard_normal((30, 5)).astype(dtype)
    Z[:, 2] = 0
    similarity = Correlations(DenseRows(Z, block_entries=1))
    assert not similarity.is_kept and not similarity.quick_block(0, 5)[2, :2].any()
    strength = similarity.strength()
    assert strength[2] == 0 and np.isfinite(strength).all()


@pytest.mark.parametrize("k", [0, 4])
def test_more_numbers_than_there_are_and_none_are_refused(k):
    with pytest.raises(ValueError, match=f"k={k} of 3 numbers"):
        largest(np.zeros((2, 3)), k)
