"""Methods of the experiments: set up as printed, selecting what was asked for."""

import numpy as np
import pytest

from experiments import methods, paper
from tests.support.experiment_tables import small_table

ALL = (*methods.METHODS, *methods.GROUPFS, *methods.ABLATIONS)


def fitted(method, build=methods.build, n_features=4, seed=0):
    table = small_table("heart_disease")
    selector = methods.shortened(build(method, "heart_disease", n_features, seed, "cpu"))
    return selector.fit(table.X, table.y if method in methods.SUPERVISED else None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", [m for m in methods.METHODS if m != "ALL"])
def test_baselines_by_their_defaults_select_as_many_features_as_asked(method):
    assert len(fitted(method, methods.defaults).get_support(indices=True)) == 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", ALL)
def test_a_fit_selects_what_was_asked_for_and_serves_all_budgets(method):
    four = fitted(method)
    (selected,) = methods.at_budgets(four, [4])
    assert len(selected) == (13 if method == "ALL" else 4)
    if method not in methods.REFITTED:
        (six,) = methods.at_budgets(four, [6])
        assert six == methods.at_budgets(fitted(method, n_features=6), [6])[0]
        assert len(six) == (13 if method == "ALL" else 6)


def test_own_number_is_what_groupfs_selects_without_a_budget():
    (own,) = methods.at_budgets(fitted("GroupFS"), ["own"])
    assert own == fitted("GroupFS", n_features=None).get_support(indices=True).tolist()


def test_paper_settings_are_the_corrected_ones_and_what_they_leave_out_is_filled_in():
    given = methods.build("GroupFS paper", "ar10p", 362, seed=1).get_params()
    printed = paper.settings("groupfs_corrected", "ar10p")
    assert given["preset"] == "paper" and given["random_state"] == 1
    assert (given["n_groups"], given["sparsity_weight"]) == (20, 7.55)
    assert given["smoothness_weight"] == printed["lambda1"]
    assert (given["max_epochs"], given["batch_size"]) == (printed["epochs"], printed["batch_size"])

    given = methods.build("GroupFS paper", "nmnist", 184, seed=0).get_params()
    low, high = paper.settings("groupfs_as_printed", "nmnist")["lambda2_range"]
    assert low <= given["sparsity_weight"] <= high
    assert given["n_groups"] == paper.settings("groupfs_corrected", "nmnist38")["n_groups"]


def test_scenarios_have_settings_of_their_own_and_mgagr_on_nmnist_those_of_nmnist38():
    fixed = methods.build("DUFS", "allaml", 100, 0)
    adaptive = methods.build("DUFS", "allaml", 100, 0, scenario="adaptive_budget")
    assert (fixed.learning_rate, adaptive.learning_rate) == (0.01, 0.0001)
    nmnist, nmnist38 = (methods.build("MGAGR", t, 50, 0) for t in ("nmnist", "nmnist38"))
    assert nmnist.get_params() == nmnist38.get_params()


@pytest.mark.slow
def test_without_learning_nothing_moves():
    still = methods.defaults("GroupFS", "wine", 4, 0, "cpu")
    still.set_params(max_epochs=1, learning_rate=1e-12).fit(small_table("heart_disease").X)
    assert still.share_moved_ == 0


@pytest.mark.slow
def test_parts_are_left_out_one_at_a_time():
    whole = fitted("GroupFS")
    for part in ("without relatedness", "without weights", "without groups"):
        other = fitted(part)
        assert (other.group_labels_ == whole.group_labels_).all()
        assert sorted(other.feature_order_) == sorted(whole.feature_order_)
        assert other.feature_order_.tolist() != whole.feature_order_.tolist(), part


def test_moved_features_are_counted():
    rng = np.random.default_rng(0)
    restless = methods.defaults("memberships too", "wine", 4, 0, "cpu")
    restless.set_params(learning_rate=3.0, keep_unrelated=True, n_groups=8)
    assert 0 < restless.fit(rng.standard_normal((60, 30))).share_moved_ <= 1


def test_unknown_methods_are_refused_by_name():
    with pytest.raises(ValueError, match="'PCA' is not known; choose from ALL, RANDOM"):
        methods.build("PCA", "yale", 10, 0)
