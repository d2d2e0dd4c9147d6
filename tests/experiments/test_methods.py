"""Methods of the experiments: set up as printed, selecting what was asked for."""

import pytest

from experiments import methods, paper
from tests.experiments.conftest import small_table


def fitted(method, n_features=4):
    table = small_table("heart_disease")
    selector = methods.shortened(methods.build(method, "heart_disease", n_features, 0, "cpu"))
    return selector.fit(table.X, table.y if method in methods.SUPERVISED else None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", [*methods.METHODS, *methods.GROUPFS, *methods.ALLOCATIONS])
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
