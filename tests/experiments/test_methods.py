"""Methods of the experiments: set up as printed, selecting what was asked for, and judged."""

import numpy as np
import pytest

from experiments import data, methods, paper, without_labels
from experiments.protocol import judge, judge_clusters
from tests.experiments.conftest import small_table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
EVERY = dict.fromkeys((*methods.OF_PAPER, *methods.WITHOUT_LABELS))


def fitted(method, n_features=4):
    table = small_table("heart_disease")
    selector = methods.shortened(methods.build(method, "heart_disease", n_features, 0, "cpu"))
    return methods.fit(selector, method, table.X, table.y, 0)


@pytest.mark.slow
@pytest.mark.parametrize("method", EVERY)
def test_a_fit_selects_what_was_asked_for_and_serves_all_budgets(method):
    four = fitted(method)
    (selected,) = methods.at_budgets(four, [4])
    assert len(selected) == (13 if method == "ALL" else 4)
    if method not in methods.REFITTED:
        (six,) = methods.at_budgets(four, [6])
        np.testing.assert_array_equal(six, methods.at_budgets(fitted(method, 6), [6])[0])
        assert len(six) == (13 if method == "ALL" else 6)


def test_own_number_is_that_of_all_features_of_kept_groups():
    selector = fitted("FeatureGroups")
    (own,) = methods.at_budgets(selector, ["own"])
    kept = np.append(selector.group_kept_, False)[selector.group_labels_]
    np.testing.assert_array_equal(own, np.flatnonzero(kept))


def test_settings_are_the_corrected_ones_and_what_they_leave_out_is_filled_in():
    given = paper.groupfs("ar10p")
    assert (given["n_groups"], given["lambda1"], given["lambda2"]) == (20, 100, 7.55)
    assert paper.groupfs("ar10p", "adaptive_budget")["lambda2"] == 7.9
    nmnist = paper.groupfs("nmnist")
    low, high = paper.settings("groupfs_as_printed", "nmnist")["lambda2_range"]
    assert low <= nmnist["lambda2"] <= high and nmnist["n_groups"] == 7


def test_dufs_has_the_printed_epochs_and_batches_and_cae_nine_tenths_of_the_rows():
    dufs = methods.build("DUFS", "yale", 5, seed=1).get_params()
    assert (dufs["max_epochs"], dufs["batch_size"], dufs["random_state"]) == (2000, 32, 1)

    class Seen:
        def fit(self, X, y):
            self.shape, self.y = X.shape, y
            return self

    X, y = np.zeros((60, 3)), np.zeros(60)
    assert methods.fit(Seen(), "CAE", X, y, 0).shape == (54, 3)
    assert methods.fit(Seen(), "CAE", X, y, None).shape == (60, 3)
    labels_seen = {m: methods.fit(Seen(), m, X, y, 0).y is not None for m in EVERY}
    assert [m for m, saw in labels_seen.items() if saw] == ["CompFS"]


@pytest.mark.usefixtures("stand_in")
def test_selections_are_judged_as_their_scenario_asks(monkeypatch):
    table = data.load("yale")
    rows = methods.select_and_judge("yale", "VARIANCE", 0, [2, 5], scenario="fixed_budget")
    chosen = np.argsort(-table.X.var(0))[:5]
    assert [row["n_selected"] for row in rows] == [2, 5]
    expected = judge_clusters(table.Z, table.y, np.sort(chosen))
    assert {k: rows[1][k] for k in expected} == pytest.approx(expected)
    (row,) = methods.select_and_judge("yale", "VARIANCE", 0, [5])
    expected = judge(table.Z, table.y, np.sort(chosen)).as_dict()
    assert {k: row[k] for k in expected} == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
def test_without_labels_everything_is_compared_at_equal_numbers(tmp_path):
    names = ("ALL", "RANDOM", "MCFS", "FeatureGroups")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(methods, "WITHOUT_LABELS", names)
        without_labels.main(["--quick", "--out", str(tmp_path)])
    rows = without_labels.pd.read_csv(tmp_path / "fits.csv")
    found = without_labels.at_levels(rows, {"wine": 13})
    at_own = found[found["level"] == "own"].set_index("method")["n"]
    assert at_own["MCFS"] == at_own["RANDOM"] == at_own["FeatureGroups"]
    assert set(found["level"]) == {"50", "100", "200", "own"} and at_own["ALL"] == 13
