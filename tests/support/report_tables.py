"""Small fitted selectors for the tests of the report."""

import base64
import warnings

import numpy as np
import pandas as pd

from groupfs import FeatureGroups
from groupfs.datasets import load_two_moons
from groupfs.utils.warn import ConstantColumnsWarning

#: Names that would do harm in a page that took them for HTML.
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "\"&amp;'",
    "a_name_without_an_end_" * 8,
]


def moons_table():
    moons = load_two_moons(200, random_state=0)
    return pd.DataFrame(moons.data, columns=moons.feature_names), moons.target


def fitted(X, **settings):
    return FeatureGroups(**{"n_groups": 12, "random_state": 0, **settings}).fit(X)


def mixed_table():
    """Two blocks of five with a reversed feature each, four of noise and a constant one."""
    X, _ = blocks((5, 5), 2.0, n_samples=120)
    X[:, [1, 7]] *= -1
    noise = np.random.default_rng(3).standard_normal((120, 4))
    names = [f"{kind}{i}" for kind in "uv" for i in range(5)] + [f"noise{i}" for i in range(4)]
    return pd.DataFrame(np.hstack([X, noise]), columns=names).assign(same=1.0)


def nested_table(n_samples=600):
    """Six groups of four features, three of them in each of two broader ones."""
    rng = np.random.default_rng(0)
    broad = rng.standard_normal((n_samples, 2)).repeat(3, axis=1)
    groups = np.sqrt(0.4) * broad + np.sqrt(0.6) * rng.standard_normal((n_samples, 6))
    return groups.repeat(4, axis=1) + 0.7 * rng.standard_normal((n_samples, 24))


def noise_table(n_features=8):
    """Columns that have nothing to do with each other."""
    values = np.random.default_rng(0).standard_normal((60, n_features))
    return pd.DataFrame(values, columns=[f"n{i}" for i in range(n_features)])


def blocks(sizes, shared, n_samples=60, seed=0):
    """Columns that share one signal per block, and their blocks."""
    rng = np.random.default_rng(seed)
    one = [shared * rng.normal(size=(n_samples, 1)) for _ in sizes]
    parts = [s + rng.normal(size=(n_samples, k)) for s, k in zip(one, sizes, strict=True)]
    return np.hstack(parts), np.repeat(np.arange(len(sizes)), sizes)


def many_features(n_features=20_000, n_varying=5000, n_samples=20):
    """As many columns as a gene table has, in known groups, most of them constant: no search."""
    rng = np.random.default_rng(0)
    labels = np.arange(n_features) % 26
    shared = rng.standard_normal((n_samples, 26))[:, labels]
    X = shared * (labels < 9) + rng.standard_normal((n_samples, n_features))
    X[:, n_varying:] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnsWarning)
        return FeatureGroups(groups=labels, random_state=0).fit(X), X


def many_groups(n_groups=2000):
    """Known groups of two, more than a page can show."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 2 * n_groups)).astype(np.float32)
    settings = {"n_features_to_select": 20, "random_state": 0}
    return FeatureGroups(groups=np.arange(2 * n_groups) // 2, **settings).fit(X), X


def unpack(packed):
    """Read back what ``groupfs.report.schema.pack`` wrote, up to the rounding."""
    kind = "<u2" if packed["bits"] == 16 else "u1"
    steps = np.frombuffer(base64.b64decode(packed["data"]), kind).reshape(packed["shape"])
    span = packed["high"] - packed["low"]
    return packed["low"] + span * steps / (2 ** packed["bits"] - 1)
