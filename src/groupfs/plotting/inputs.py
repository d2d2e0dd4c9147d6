"""Check labels and images that figures and reports are drawn from."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
