"""What a reader of the paper may rely on: GroupFS learns groups and gates jointly."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from groupfs import GroupFS, GroupFSPath
from groupfs.datasets import load_two_moons
from groupfs.joint.training import Trained, choose_model
from groupfs.metrics import relevant_group_similarity, selection_rates
from groupfs.utils.errors import ParameterError
from groupfs.utils.warn import SelectionWarning
from tests.support.fingerprints import fingerprints


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(300, random_state=1)


@pytest.fixture(scope="module")
def fitted(moons):
    return GroupFS(random_state=0).fit(moons.data)


CELLS = [
    *({"random_state": seed} for seed in (0, 1)),
    *({"correlation": rho, "random_state": 3} for rho in (0.6, 1.0)),
    *({"noise": noise, "random_state": 4} for noise in (0.0, 0.45)),
    {"n_features": 24, "random_state": 5},
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_both_moon_groups_and_nothing_else_with_nothing_set(cell):
    data = load_two_moons(**cell)
    selector = GroupFS(random_state=cell["random_state"]).fit(data.data)
    rates = selection_rates(range(10), selector.get_support(indices=True))
    assert rates == (1.0, 0.0)
    assert relevant_group_similarity(data.groups, selector.groups_) == 1.0


def test_kept_are_the_groups_with_open_gates(fitted):
    np.testing.assert_array_equal(fitted.group_kept_, fitted.group_gates_ > 0.5)
    assert fitted.group_kept_.tolist() == [True, True, False]


def test_fitted_attributes_describe_the_model(moons, fitted):
    assert fitted.membership_.shape == (20, fitted.n_groups_)
    np.testing.assert_allclose(fitted.membership_.sum(1), 1)
    np.testing.assert_array_equal(fitted.membership_.argmax(1), fitted.group_labels_)
    assert (fitted.membership_.max(1) > 0.99).all()  # at the final temperature features are placed
    z = fitted.group_gates_.clip(0, 1)
    np.testing.assert_allclose(fitted.feature_gates_, z[fitted.group_labels_], atol=0.01)
    assert fitted.projection_.shape == (fitted.n_groups_, fitted.n_groups_)
    last = fitted.history_[-1]
    weighted = last["L_s"] + fitted.smoothness_weight_ * last["L_f"]
    weighted += fitted.sparsity_weight_ * last["L_reg"]
    assert last["loss"] == pytest.approx(weighted)
    assert (np.diff(fitted.group_smoothness_) <= 0).all() and fitted.gain_ > 0
    assert fitted.sparsity_weight_ == pytest.approx(0.7 * fitted.critical_sparsity_weight_)
    assert fitted.n_iter_ == len(fitted.history_) and min(fitted.distortion_) == 2
    np.testing.assert_allclose(fitted.history_[-1]["gates"], fitted.group_gates_, atol=1e-6)
    Z = (moons.data - moons.data.mean(0)) / moons.data.std(0)
    for i in fitted.groups_[0]:
        r = np.corrcoef(Z[:, i], Z[:, fitted.groups_[0]].mean(1))[0, 1]
        assert fitted.centrality_[i] == pytest.approx(r)
    for nothing in ("group_pvalues_", "group_replication_", "relatedness_pvalues_"):
        assert not hasattr(fitted, nothing)


@pytest.mark.slow
def test_same_seed_same_bits_other_seed_other_noise(moons, fitted):
    again, other = (GroupFS(random_state=seed).fit(moons.data) for seed in (0, 1))
    assert fingerprints(again) == fingerprints(fitted)
    assert not np.array_equal(other.group_gates_, fitted.group_gates_)


def test_columns_that_are_equal_share_a_group(moons):
    X = np.column_stack([moons.data, moons.data[:, 3], 2 * moons.data[:, 7] - 1])
    labels = GroupFS(random_state=0, max_epochs=5).fit(X).group_labels_
    assert labels[20] == labels[3] and labels[21] == labels[7]


def test_sparsity_weight_overrides_sparsity(moons):
    selector = GroupFS(sparsity=3.0, sparsity_weight=0.7, n_groups=3, random_state=0, n_init=1)
    assert selector.fit(moons.data).sparsity_weight_ == 0.7


def test_the_paper_ranks_by_gates_and_takes_whole_groups_until_the_budget_is_covered(moons):
    selector = GroupFS(preset="paper", n_groups=4, max_epochs=5, random_state=0).fit(moons.data)
    assert (np.diff(selector.group_gates_) <= 0).all()
    first, second = selector.groups_[:2]
    selection = selector.select(n_features_to_select=len(first) + 1)
    assert set(selection.features) == {*first, *second}
    selector.set_params(n_features_to_select=len(first) + 1, preset="default")  # after the fit
    assert set(selector.get_support(indices=True)) == set(selection.features)
    frame = selector.to_frame().query("selected")
    assert (frame["why"].str.contains("taken whole, to cover the budget")).all()


@pytest.mark.slow
def test_the_paper_with_nothing_else_set_selects_both_moon_groups():
    exact = 0
    for seed in range(10):
        X = load_two_moons(100, random_state=seed).data
        selector = GroupFS(preset="paper", random_state=seed).fit(X)
        assert selector.smoothness_weight_ == 1  # as printed
        exact += selector.get_support(indices=True).tolist() == list(range(10))
    assert exact >= 9


def test_the_lowest_loss_of_what_is_neither_open_nor_shut_is_taken():
    gates = np.array([[[1.0, 1.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]])  # (S, P, C)
    logits = np.broadcast_to(np.eye(2)[[0, 0, 1]], (2, 2, 3, 2))
    loss, gain = np.array([[0.1, 0.5], [0.0, 0.4]]), np.array([[0.0, 0.3], [0.0, 0.2]])
    trained = Trained(*(np.ones(2),) * 2, logits, logits, gates, loss, gain, [])
    assert choose_model(trained, by_loss=True) == (1, 1)
    assert choose_model(trained, by_loss=False) == (0, 1)
    trivial = replace(trained, gates=np.ones((2, 2, 2)))
    assert choose_model(trivial, by_loss=True) == (1, 0)


def test_every_feature_may_be_its_own_group(moons):
    selector = GroupFS(preset="paper", n_groups=20, max_epochs=3, random_state=0).fit(moons.data)
    assert selector.n_groups_ == 20 and selector.distortion_ == {}
    with pytest.raises(ParameterError, match="2 <= n_groups <= 20"):
        GroupFS(n_groups=21).fit(moons.data)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (
            {"preset": "paper", "sparsity": 0.3, "max_epochs": 60},
            "All gates are open, .* lambda2 = .*another sparsity, or",
        ),
        ({"sparsity": 50}, "All gates are closed, so what is kept .*lower sparsity"),
        ({"sparsity_weight": 50, "n_features_to_select": 4}, "closed, .*another sparsity_weight"),
        # too few steps to settle anything: noise groups are open, too
        (
            {"preset": "paper", "n_groups": 12, "max_epochs": 5},
            "no lower loss .*gain_ is -",
        ),
    ],
    ids=["open", "closed", "closed with a budget", "no gain"],
)
def test_a_trivial_result_warns_and_says_what_to_try(moons, settings, says):
    with pytest.warns(SelectionWarning, match=says):
        selector = GroupFS(**{"n_groups": 3, **settings}, random_state=0, n_init=1).fit(moons.data)
    assert selector.group_kept_[0] and selector.gain_ <= 0
    if settings.get("sparsity") == 50:
        assert selector.group_kept_.sum() == 1
        later = selector.set_params(n_features_to_select=2).set_params(n_features_to_select=None)
        assert "All gates are closed" in later.select().notes[0]


def test_a_result_that_gains_does_not_warn(moons):
    with warnings.catch_warnings():
        warnings.simplefilter("error", SelectionWarning)
        assert GroupFS(n_groups=3, random_state=0).fit(moons.data).gain_ > 0


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame({"a": [1.0, np.nan, 3], "b": [1, 2, 3], "c": [3, 1, 2]}), "NaN.*a"),
        (pd.DataFrame({"a": ["u", "v", "u"], "b": [1, 2, 3], "c": [3, 1, 2]}), "a"),
    ],
    ids=["gaps", "text"],
)
def test_gaps_and_categories_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        GroupFS().fit(X)


@pytest.mark.parametrize("kind", [GroupFS, GroupFSPath])
@pytest.mark.parametrize(
    ("parameters", "named"),
    [({"n_groups": 25}, "n_groups"), ({"end_temperature": 2.0}, "end_temperature")],
    ids=str,
)
def test_errors_carry_the_name_of_the_parameter(kind, parameters, named, moons):
    with pytest.raises(ParameterError, match=f"{named}=.*choose") as error:
        kind(**parameters).fit(moons.data)
    assert error.value.parameter == named
