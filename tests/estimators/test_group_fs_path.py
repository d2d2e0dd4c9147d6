"""The path: many models in one run are the models one would get one by one."""

import threading

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pytest
import torch
from joblib import parallel_config

from groupfs import GroupFS, GroupFSPath
from groupfs.datasets import load_two_moons
from groupfs.estimators import group_fs_path as path
from groupfs.metrics import (
    jaccard_stability,
    kuncheva_stability,
    relevant_group_similarity,
    selection_rates,
)
from groupfs.selection.describe import train_models
from groupfs.training import path_runs as _parts
from groupfs.utils.device import resolve_devices
from tests.support.kill_path import fingerprints
from tests.support.problems import prepared
from tests.support.tables import real_table

SPARSITIES = [0.3, 1.0, 2.5]


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(200, random_state=0)


@pytest.fixture(scope="module")
def fitted(moons):
    return GroupFSPath(random_state=0).fit(moons.data)


def test_default_path_finds_both_groups_over_more_than_threefold_sparsity(moons, fitted):
    assert fitted.path_.gain.shape == (2, 24)
    frequency = fitted.path_.selection_frequency
    right = (frequency[:, :10] == 1).all(1) & (frequency[:, 10:] == 0).all(1)
    found = fitted.path_.sparsities[right]
    assert found.max() / found.min() >= 3
    assert selection_rates(range(10), fitted.get_support(indices=True)) == (1.0, 0.0)
    assert relevant_group_similarity(moons.groups, fitted.groups_) == 1.0


def test_the_chosen_model_has_the_largest_gain(fitted):
    seed, place = fitted.path_.chosen
    assert fitted.path_.gain[seed, place] == fitted.path_.gain.max() == fitted.gain_
    assert fitted.sparsity_ == fitted.path_.chosen_sparsity
    weight = fitted.sparsity_ * fitted.critical_sparsity_weight_
    assert fitted.sparsity_weight_ == pytest.approx(weight)
    np.testing.assert_allclose(fitted.path_.gates[seed, place], fitted.group_gates_)
    last = fitted.history_[-1]
    names = ("sample_smoothness", "feature_smoothness", "group_sparsity")
    np.testing.assert_allclose(fitted.path_.terms[seed, place], [last[name] for name in names])


def test_closing_sparsity_is_the_last_at_which_a_group_is_open(fitted):
    seed, _ = fitted.path_.chosen
    for j, closing in enumerate(fitted.path_.closing_sparsity):
        is_open = fitted.path_.is_open[seed, :, j]
        expected = fitted.path_.sparsities[is_open].max() if is_open.any() else 0
        assert closing == expected
    assert (fitted.path_.closing_sparsity[:2] > fitted.path_.closing_sparsity[2:].max()).all()


def test_path_of_many_equals_fits_of_one(moons):
    problem = prepared(moons.data, n_groups=12, n_init=2)
    weights = np.array(SPARSITIES) * problem.critical_sparsity_weight
    together = train_models(problem, weights)
    for s, seed in enumerate(problem.seeds):
        for p, weight in enumerate(weights):
            problem_alone = prepared(moons.data, n_groups=12, n_init=2)
            problem_alone.seeds = [seed]
            problem_alone.clusters = [problem.clusters[s]]
            problem_alone.gate_start = problem.gate_start[s : s + 1]
            alone = train_models(problem_alone, np.array([weight]))
            assert together.loss[s, p] == pytest.approx(alone.loss[0, 0], abs=1e-4)
            assert together.gain[s, p] == pytest.approx(alone.gain[0, 0], abs=1e-4)


@pytest.mark.parametrize("name", ["two_moons", "heart_disease"])
def test_single_precision_finds_the_groups_of_double_precision(name, moons, monkeypatch):
    X = moons.data if name == "two_moons" else real_table(name)[0]
    single = GroupFS(random_state=0).fit(X)
    for module in ("groupfs.training.problem", "groupfs.utils.device"):
        monkeypatch.setattr(f"{module}.DTYPE", torch.float64)
    double = GroupFS(random_state=0).fit(X)
    assert sorted(map(tuple, single.groups_)) == sorted(map(tuple, double.groups_))
    np.testing.assert_array_equal(single.get_support(), double.get_support())


@pytest.mark.parametrize("split", ["memory", "processes"])
def test_splitting_the_path_changes_nothing(moons, split, monkeypatch):
    settings = {"n_groups": 3, "sparsities": SPARSITIES, "random_state": 0}
    whole = GroupFSPath(**settings).fit(moons.data)
    if split == "memory":
        monkeypatch.setattr(_parts, "models_budget", lambda rows, device: 64 * 20 * 3 * 2)
        parts = GroupFSPath(**settings).fit(moons.data)
    else:
        with parallel_config(backend="loky", inner_max_num_threads=1):
            parts = GroupFSPath(**settings, n_jobs=2).fit(moons.data)
    np.testing.assert_allclose(parts.path_.gain, whole.path_.gain, atol=1e-4)
    np.testing.assert_allclose(parts.path_.gates, whole.path_.gates, atol=1e-2)
    if split == "processes":
        assert fingerprints(parts) == fingerprints(whole)
    assert parts.n_iter_ == whole.n_iter_ == len(parts.history_)
    assert [g.tolist() for g in parts.groups_] == [g.tolist() for g in whole.groups_]


def test_devices_that_share_a_path_change_nothing(moons, monkeypatch):
    settings = {"n_groups": 3, "n_init": 1, "max_epochs": 20, "random_state": 0}
    one = GroupFSPath(**settings).fit(moons.data)
    threads, train = set(), _parts.train_models

    def noted(problem, *rest):
        threads.add((threading.get_ident(), id(problem)))
        return train(problem, *rest)

    monkeypatch.setattr(_parts, "train_models", noted)
    monkeypatch.setattr(path, "resolve_devices", lambda device: [torch.device("cpu")] * 3)
    shared = GroupFSPath(**settings).fit(moons.data)
    assert len(threads) == 3
    assert fingerprints(shared) == fingerprints(one)


@pytest.mark.parametrize(
    ("asked", "n_visible", "expected"),
    [
        ("auto", 2, ["cuda:0", "cuda:1"]),
        ("cuda", 3, ["cuda:0", "cuda:1", "cuda:2"]),
        ("cuda", 1, ["cuda"]),
        ("cuda:1", 2, ["cuda:1"]),
        ("cpu", 2, ["cpu"]),
    ],
)
def test_a_path_takes_all_devices_unless_one_is_named(asked, n_visible, expected, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: n_visible)
    assert [str(device) for device in resolve_devices(asked)] == expected


def test_several_numbers_of_groups_are_compared_by_gain(moons):
    selector = GroupFSPath([2, 3], sparsities=[0.7], n_init=1, random_state=0).fit(moons.data)
    gains = selector.gains_by_n_groups_
    assert set(gains) == {2, 3} and gains[2] != gains[3]
    assert selector.gain_ == gains[selector.n_groups_] == max(gains.values())


def test_an_operation_that_mps_lacks_sends_the_path_to_the_cpu(moons, monkeypatch):
    prepare, devices = _parts.prepare, []

    def unimplemented_on_mps(table, settings, seeds, device):
        devices.append(device.type)
        if device.type == "mps":
            raise NotImplementedError("aten::topk")
        return prepare(table, settings, seeds, device)

    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(_parts, "prepare", unimplemented_on_mps)
    with pytest.warns(UserWarning, match="lacks an operation.*the CPU was used"):
        GroupFSPath(device="mps", sparsities=[0.7], n_init=1, random_state=0).fit(moons.data)
    assert devices == ["mps", "cpu"]


@pytest.mark.parametrize("wrong", [[], [0.0, 1.0], [-1.0], [np.inf]])
def test_sparsities_must_be_positive(moons, wrong):
    with pytest.raises(ValueError, match="sparsities=.*must be positive"):
        GroupFSPath(sparsities=wrong).fit(moons.data)


@pytest.mark.parametrize("resample", ["subsample", "bootstrap"])
def test_resamples_agree_on_the_moons(moons, resample):
    selector = GroupFSPath(
        sparsities=[0.7], n_init=1, n_resamples=4, resample=resample, random_state=0
    ).fit(moons.data)
    stability = selector.stability_
    assert stability.selected.shape == (4, 20)
    assert (stability.selection_frequency[:10] == 1).all()
    assert stability.selection_frequency[10:].max() <= 0.25
    together = stability.cogrouping()
    assert (together[:5, :5] == 1).all() and together[:5, 5:10].max() == 0
    np.testing.assert_array_equal(stability.cogrouping(np.arange(3)), together[:3, :3])
    agreed = [group.tolist() for group in stability.consensus_groups[:2]]
    assert sorted(agreed) == [list(range(5)), list(range(5, 10))]
    assert stability.kuncheva == kuncheva_stability(stability.selected) > 0.8
    assert stability.jaccard == jaccard_stability(stability.selected) > 0.8


def test_resampling_sparse_tables_equals_resampling_dense_ones(moons):
    import scipy.sparse as sp

    X = np.where(moons.data > 0, moons.data, 0)
    X[:, 3] = np.arange(200) == 7  # constant in most subsamples
    settings = {"n_groups": 3, "sparsities": [0.7], "n_init": 1, "n_resamples": 2}
    dense, sparse = (
        GroupFSPath(**settings, random_state=0).fit(kind(X)) for kind in (np.array, sp.csr_array)
    )
    np.testing.assert_array_equal(dense.stability_.labels, sparse.stability_.labels)


def test_stability_indices_know_their_extremes():
    same = np.tile([True, True, False, False, False], (3, 1))
    assert kuncheva_stability(same) == jaccard_stability(same) == 1
    disjoint = np.array([[True, False, False, False], [False, True, False, False]])
    assert jaccard_stability(disjoint) == 0
    assert kuncheva_stability(disjoint) == pytest.approx(-1 / 3)
    chance = np.random.default_rng(0).random((40, 400)) < 0.3
    assert abs(kuncheva_stability(chance)) < 0.02
    assert kuncheva_stability([[True, True], [True, True]]) == 1
    assert jaccard_stability([[False, False], [False, False]]) == 1
    with pytest.raises(ValueError, match="at least 2 selections"):
        jaccard_stability([[True]])


def test_the_path_is_drawn_with_its_choice(fitted):
    ax = fitted.path_.plot()
    lines = ax.lines[: fitted.n_groups_]
    assert all(len(line.get_xdata()) == 24 for line in lines)
    assert ax.lines[-1].get_xdata()[0] == fitted.sparsity_
    assert ax.get_xscale() == "log"
