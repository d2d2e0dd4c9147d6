"""A path on a cluster is the path on one machine, also when a worker is lost on the way."""

import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from joblib import parallel_config

from groupfs import GroupFSPath
from groupfs.datasets import load_two_moons
from groupfs.estimators.stability import refit
from groupfs.training import path_runs
from groupfs.training.run import train_models
from tests.support.fingerprints import fingerprints
from tests.support.problems import prepared

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")

pytestmark = pytest.mark.cluster

SETTINGS = {
    "n_groups": 3,
    "sparsities": np.geomspace(0.3, 2.5, 12),
    "n_resamples": 3,
    "max_epochs": 25,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(200, random_state=0).data


@pytest.fixture(scope="module")
def alone(moons):
    return fingerprints(GroupFSPath(**SETTINGS).fit(moons))


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_cluster_gives_the_result_of_one_process(client, moons, alone):
    with parallel_config(backend="dask"):
        path = GroupFSPath(**SETTINGS).fit(moons)
    assert fingerprints(path) == alone


@pytest.mark.parametrize("table", ["small", "sent once"])
def test_a_worker_that_is_killed_half_way_changes_nothing(table, client, moons, alone, monkeypatch):
    if table == "sent once":
        monkeypatch.setattr(path_runs, "SENT_ONCE", 0)
    client.wait_for_workers(2)
    killed = []
    killer = threading.Thread(target=kill_a_worker, args=(client, killed))
    killer.start()
    with parallel_config(backend="dask"):
        path = GroupFSPath(**SETTINGS).fit(moons)
    killer.join()
    assert killed
    assert fingerprints(path) == alone


def kill_a_worker(client, killed):
    """Wait until both workers are at work, then take one of them away."""
    while sum(bool(tasks) for tasks in client.processing().values()) < 2:
        time.sleep(0.01)
    time.sleep(0.1)
    worker, pid = next(iter(client.run(os.getpid).items()))
    os.kill(pid, signal.SIGKILL)
    killed.append(worker)


def test_what_workers_may_only_read_is_no_reason_to_warn(moons):
    """Arrays that came from another process lie in memory that must not be written."""
    problem = prepared(moons, n_groups=3, max_epochs=3)
    buffers = []
    sent = pickle.dumps(problem, protocol=5, buffer_callback=buffers.append)
    arrived = pickle.loads(sent, buffers=[bytes(buffer) for buffer in buffers])
    assert not arrived.table.rows.Z.flags.writeable
    weights = np.array([problem.critical_sparsity_weight])
    index = np.arange(0, 200, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        there = train_models(arrived, weights)
        refit(arrived.table, index, 0, arrived.settings, 0.7, arrived.device)
    np.testing.assert_array_equal(there.gates, train_models(problem, weights).gates)
