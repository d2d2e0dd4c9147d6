"""What figures and reports are drawn from: tables, labels and images that fit the selector."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from groupfs.utils.fitted_selector import FittedSelector
from groupfs.utils.types import FloatArray

Matrix: TypeAlias = FloatArray | sp.csc_array


def check_table(selector: FittedSelector, X: Any) -> Matrix:
    """Check that X has the columns the selector was fitted on; return it dense or sparse."""
    matrix = sp.csc_array(X) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != selector.n_features_in_:
        raise ValueError(
            f"X has shape {matrix.shape}, but the selector was fitted on "
            f"{selector.n_features_in_} features; give the table it was fitted on."
        )
    return matrix


def check_labels(labels: ArrayLike, n_samples: int) -> NDArray[Any]:
    """Check that there is one label per sample, and return them as an array."""
    values = np.asarray(labels)
    if values.shape != (n_samples,):
        raise ValueError(
            f"labels has shape {values.shape} but X has {n_samples} samples; give one label per "
            "sample."
        )
    return values


def check_image(shape: tuple[int, int], n_features: int) -> None:
    """Refuse an image that has not one pixel per feature."""
    if len(shape) != 2 or shape[0] * shape[1] != n_features:
        raise ValueError(
            f"image_shape={tuple(shape)} does not fit {n_features} features; give the height and "
            "width of the images, whose product is that number."
        )
