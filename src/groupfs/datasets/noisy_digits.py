"""Digits on a background of noise: the published file where it is at hand, else made from MNIST.

Both give images column by column, as the published file has them.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupfs.datasets.parsers import Parsed, pixel_names
from groupfs.datasets.published_files import Content
from groupfs.utils.text import one_line

N_IMAGES = 12_000
N_PER_DIGIT = 500
SHAPE = (28, 28)
SEED = 0


def nmnist(*files: Content) -> Parsed:
    """Parse the published file, or rebuild it from MNIST's images and labels."""
    return _published(*files) if len(files) == 1 else _rebuilt(*files)


def nmnist38(*files: Content) -> Parsed:
    """Return the first 500 threes and the first 500 eights, in the order they come."""
    data, target, names, _ = nmnist(*files)
    rows = [np.flatnonzero(target == digit)[:N_PER_DIGIT] for digit in (3, 8)]
    chosen = np.sort(np.concatenate(rows))
    return Parsed(data[chosen], (target[chosen] == 8).astype(np.int64), names, ["3", "8"])


def _published(amat: Content) -> Parsed:
    """Parse rows of pixels and a label between blanks; its sha256 is not known, so look at it."""
    try:
        values = np.loadtxt(io.BytesIO(amat.data), ndmin=2)
    except ValueError as reason:
        raise ValueError(one_line(f"{amat.name} is not a table of numbers ({reason}).")) from reason
    shape, digits = (N_IMAGES, SHAPE[0] * SHAPE[1] + 1), values[:, -1]
    if values.shape != shape or not (
        np.isfinite(values).all() and np.isin(digits, range(10)).all()
    ):
        raise ValueError(
            f"{amat.name} has the shape {values.shape} and labels from {digits.min():g} to "
            f"{digits.max():g}; the published file has the shape {shape} and labels from 0 to 9."
        )
    return _table(values[:, :-1], digits.astype(np.int64))


def _rebuilt(images: Content, labels: Content) -> Parsed:
    """Draw digits with MNIST's class frequencies; a pixel is the larger of digit and noise."""
    pixels = np.frombuffer(images.data, np.uint8, offset=16).reshape(-1, *SHAPE)
    digits = np.frombuffer(labels.data, np.uint8, offset=8)
    # numpy promises that the numbers of this older generator never change.
    rng = np.random.RandomState(SEED)
    chosen = _draw(rng, digits)
    by_columns = pixels[chosen].transpose(0, 2, 1).reshape(N_IMAGES, -1)
    noise = rng.randint(0, 256, by_columns.shape, dtype=np.uint8)
    return _table(np.maximum(by_columns, noise), digits[chosen].astype(np.int64))


def _draw(rng: np.random.RandomState, digits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Draw rows in random order, of each digit its share; rounding favours the largest rest."""
    share = np.bincount(digits, minlength=10) * N_IMAGES / digits.size
    counts = np.floor(share).astype(np.int64)
    counts[np.argsort(counts - share, kind="stable")[: N_IMAGES - counts.sum()]] += 1
    shuffled = rng.permutation(digits.size)
    kept = np.zeros(digits.size, dtype=bool)
    for digit, count in enumerate(counts):
        kept[np.flatnonzero(digits[shuffled] == digit)[:count]] = True
    return shuffled[kept]


def _table(data: NDArray[Any], digits: NDArray[np.int64]) -> Parsed:
    return Parsed(data, digits, pixel_names(SHAPE), [str(digit) for digit in range(10)])
