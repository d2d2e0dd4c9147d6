"""Read and check what figures and reports are drawn from: rows, labels and images."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupfs.data.open_table import read_rows
from groupfs.utils.types import FloatArray, IntArray

#: Rows that pictures are drawn from, at most, and numbers that these rows may hold.
MOST_ROWS, MOST_NUMBERS = 1500, 30_000_000


def read_some_rows(selector: Any, X: Any) -> tuple[FloatArray, int, IntArray]:
    """Read standardised rows for a picture, at random if too many; gaps are NaN.

    Returns what :func:`~groupfs.data.open_table.read_rows` does.
    """
    most_rows = min(MOST_ROWS, max(100, MOST_NUMBERS // selector.n_features_in_))
    return read_rows(selector, X, most_rows, keep_gaps=True)


def mean_image(selector: Any, shape: tuple[int, int]) -> FloatArray:
    """Return the mean of every pixel in the table of a fit, (d,); refuse a shape that differs."""
    if len(shape) != 2 or shape[0] * shape[1] != selector.n_features_in_:
        raise ValueError(
            f"image_shape={tuple(shape)} does not fit {selector.n_features_in_} features; give the "
            "height and width of the images, whose product is that number."
        )
    mean: FloatArray = selector._columns().mean
    return mean


def check_labels(labels: ArrayLike, n_samples: int) -> NDArray[Any]:
    """Check that there is one label per sample, and return them as an array."""
    values = np.asarray(labels)
    if values.shape != (n_samples,):
        raise ValueError(
            f"labels has shape {values.shape} but X has {n_samples} samples; give one label per "
            "sample."
        )
    return values
