"""The tables that methods are compared on: the paper's, and scikit-learn's own."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from experiments.protocol import standardized
from groupfs.datasets import fetch_dataset

#: The paper's nine tables with an accuracy for every method.
NINE = (
    *("allaml", "lung500", "metabric", "heart_disease", "yale"),
    *("ar10p", "pie10p", "nmnist38", "nmnist"),
)
SCIKIT_LEARN = {"digits": load_digits, "wine": load_wine, "breast_cancer": load_breast_cancer}


class Labelled(NamedTuple):
    """A table with its classes; methods get X, and only CompFS and the judging get y."""

    X: NDArray[np.float64]  #: as published, (N, d)
    y: NDArray[np.int64]  #: (N,)
    Z: NDArray[np.float64]  #: standardised, (N, d)
    names: list[str]  #: of the columns


@lru_cache(maxsize=2)
def load(name: str) -> Labelled:
    bunch = SCIKIT_LEARN[name]() if name in SCIKIT_LEARN else fetch_dataset(name)
    X = np.asarray(bunch.data, dtype=np.float64)
    return Labelled(X, bunch.target, standardized(X), [str(n) for n in bunch.feature_names])
