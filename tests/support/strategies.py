"""Tables that people have and that nobody expects, for hypothesis; and the forms they come in.

A table is drawn as a kind of content, a shape, a seed and some twists: a failing example is printed
as these few words, from which ``build`` makes the table again.
"""

import tempfile
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from hypothesis import strategies as st


@dataclass(frozen=True)
class Recipe:
    """How to make a table."""

    content: str
    shape: tuple[int, int]
    seed: int
    twists: list[str]


def build(recipe):
    """The table of a recipe, (n, d) float64."""
    rng = np.random.default_rng(recipe.seed)
    X = CONTENTS[recipe.content](rng, *recipe.shape)
    with np.errstate(all="ignore"):
        for twist in recipe.twists:
            X = TWISTS[twist](rng, X)
    return np.clip(np.nan_to_num(X), -1e300, 1e300)


def _grouped(rng, n, d):
    factors = rng.standard_normal((n, max(1, d // 3)))
    return factors[:, np.arange(d) % factors.shape[1]] + 0.3 * rng.standard_normal((n, d))


def _one_row_differs(rng, n, d):
    X = np.tile(rng.standard_normal(d), (n, 1))
    X[rng.integers(n)] += rng.standard_normal(d)
    return X


CONTENTS = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "groups": _grouped,
    "clusters": lambda rng, n, d: (
        50 * rng.integers(2, size=(n, 1)) + 1e-3 * rng.standard_normal((n, d))
    ),
    "counts": lambda rng, n, d: rng.integers(100, size=(n, d)).astype(float),
    "binary": lambda rng, n, d: rng.integers(2, size=(n, d)).astype(float),
    "mostly zero": lambda rng, n, d: rng.poisson(0.2, size=(n, d)).astype(float),
    "rank one": lambda rng, n, d: np.outer(rng.standard_normal(n), rng.standard_normal(d)),
    "rank two": lambda rng, n, d: rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)),
    "one row differs": _one_row_differs,
    "cauchy": lambda rng, n, d: rng.standard_cauchy((n, d)),
    "lognormal": lambda rng, n, d: rng.lognormal(sigma=5, size=(n, d)),
}


def _some(rng, d):
    """Some of the columns, at least one."""
    return rng.permutation(d)[: rng.integers(1, d + 1)]


def _copy_columns(rng, X):
    X[:, _some(rng, X.shape[1])] = X[:, [0]]
    return X


def _nearly_copy(rng, X):
    where = _some(rng, X.shape[1])
    noise = rng.standard_normal((len(X), len(where))) * 10.0 ** rng.uniform(-15, -2)
    X[:, where] = X[:, [0]] + noise * X[:, [0]].std()
    return X


def _constant(rng, X):
    X[:, _some(rng, X.shape[1])] = rng.choice([0.0, 0.1, -7.0, 1e20, 1e-20])
    return X


def _constant_but_one(rng, X):
    where, value = _some(rng, X.shape[1]), rng.choice([0.1, 1.0, 1e10])
    X[:, where] = value
    X[rng.integers(len(X)), where] = rng.choice([0.0, 0.2, 1e9, np.nextafter(value, np.inf)])
    return X


def _outlier(rng, X):
    X[rng.integers(len(X))] *= 10.0 ** rng.uniform(1, 30)
    return X


def _round(rng, X):
    size = np.abs(X).max() or 1.0
    return np.round(X / size, 1) * size


TWISTS = {
    "scale columns": lambda rng, X: X * 10.0 ** rng.uniform(-30, 30, X.shape[1]),
    "scale table": lambda rng, X: X * 10.0 ** rng.uniform(-30, 30),
    "offset": lambda rng, X: X + X.std(0) * 10.0 ** rng.uniform(0, 17, X.shape[1]),
    "copy columns": _copy_columns,
    "nearly copy": _nearly_copy,
    "constant": _constant,
    "constant but one": _constant_but_one,
    "outlier": _outlier,
    "repeat rows": lambda rng, X: X[rng.integers(max(1, len(X) // 3), size=len(X))],
    "faint": lambda rng, X: X * 10.0 ** rng.uniform(-320, -100),
    "huge": lambda rng, X: X * 10.0 ** rng.uniform(100, 150),
    "round": _round,
}

#: Small shapes of every proportion, and a few that take the ways of long and of wide tables.
SHAPES = st.one_of(
    st.tuples(st.integers(2, 9), st.integers(2, 9)),
    st.tuples(st.integers(10, 60), st.integers(2, 12)),
    st.tuples(st.integers(2, 12), st.integers(10, 40)),
    st.sampled_from([(1100, 3), (3, 90), (150, 25)]),
)
SEEDS = st.integers(0, 2**16)


def recipes(contents=tuple(CONTENTS), twists=tuple(TWISTS), most_twists=3):
    """Any table."""
    some = st.lists(st.sampled_from(twists), max_size=most_twists)
    return st.builds(Recipe, st.sampled_from(contents), SHAPES, SEEDS, some)


#: All but the last hold whole numbers up to 100, and that one 0 and 1.
DTYPES = [
    *("float16", "float32", "float64", "longdouble", ">f4", ">f8", "object"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">i2", "bool"),
]


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def _odd_frame(X):
    names = ["", "a", "a ", "ß", "x0", "0", "group", "y,1", "\n", "None"]
    names += [f"f {i}" for i in range(len(names), X.shape[1])]
    return pd.DataFrame(X, columns=names[: X.shape[1]], index=np.arange(len(X)) * -0.5)


def _memmap(X):
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=X.dtype, shape=X.shape)
    mapped[:] = X
    return mapped


FORMS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": _read_only,
    "list": lambda X: X.tolist(),
    "odd names": _odd_frame,
    "numbered names": pd.DataFrame,
    "memmap": _memmap,
    "tensor": torch.tensor,
}
#: Which numpy dtypes torch has as they are.
TORCH_DTYPES = {"float16", "float32", "float64", "bool", "int8", "int16", "int32", "int64", "uint8"}
