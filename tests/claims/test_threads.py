"""Estimators that are fitted in threads at once are those fitted in turn."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from groupfs import FeatureGroups, GroupFS, GroupFSPath
from groupfs.baselines import DUFS, MCFS, MGAGR, CompFS, LaplacianScore
from groupfs.baselines import ConcreteAutoencoderSelector as CAE
from groupfs.datasets import load_two_moons
from tests.support.fingerprints import fingerprints


def work():
    """Ten estimators, each with a table and a seed of its own."""
    moons = [load_two_moons(120, random_state=seed) for seed in range(4)]
    path = GroupFSPath(n_groups=3, sparsities=[0.4, 0.8], n_init=1, max_epochs=20, random_state=3)
    counts = sp.csr_array(np.maximum(moons[2].data, 0))
    return [
        (FeatureGroups(random_state=1), moons[0].data),
        (GroupFS(max_epochs=30, feature_neighbors=12, random_state=2), wide(0)),
        (path, moons[1].data),
        (GroupFS(n_groups=4, max_epochs=30, random_state=4), counts),
        (DUFS(max_epochs=30, random_state=5), moons[3].data),
        (CAE(5, max_epochs=10, random_state=6), moons[0].data),
        (CompFS(5, max_epochs=10, random_state=7), moons[1].data, moons[1].target),
        (MCFS(5), wide(1)),
        (MGAGR(5, n_groups=5), wide(1)),
        (LaplacianScore(5), wide(1)),
    ]


def wide(seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((60, 8)) @ rng.standard_normal((8, 90)) + rng.standard_normal(90)


@pytest.mark.slow
def test_ten_threads_find_what_one_finds():
    in_turn = [fitted(*task) for task in work()]
    together = threading.Barrier(10)

    def at_once(task):
        together.wait()
        return fitted(*task)

    filters = list(warnings.filters)
    with ThreadPoolExecutor(10) as threads:
        for _ in range(2):
            assert list(threads.map(at_once, work())) == in_turn
    assert list(warnings.filters) == filters


def fitted(selector, *table):
    return fingerprints(selector.fit(*table))
