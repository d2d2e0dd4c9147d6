"""The summary holds what the selector found, and nothing that json cannot write."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

from groupfs import GroupFSPath
from groupfs.plotting import plot_correlations
from groupfs.report import groups_table, render, selected_table, summarize
from groupfs.report.csv_rows import GROUPS_COLUMNS
from groupfs.utils.false_discovery import adjust_p_values
from tests.support.report_tables import blocks, fitted, unpack


def test_the_summary_is_plain_json_without_nan(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert (summary["format"], summary["version"]) == ("groupfs-result", 5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{}, {"allocation": "whole"}, {"output": "representatives"}, {"n_groups_to_select": 3}],
)
def test_the_slider_selects_what_the_selector_would(table, settings):
    X = table[0].iloc[:60, :14]
    settings = {"n_groups": 5, "max_epochs": 3, "n_init": 1, **settings}
    chosen = summarize(fitted(X, **settings), X)["selection"]
    for budget in (1, 4, chosen["levels"][-1]):
        again = fitted(X, n_features_to_select=budget, **settings)
        assert set(chosen["order"][:budget]) == set(np.flatnonzero(again.get_support()))


def test_every_small_budget_is_on_the_slider(summary):
    assert summary["selection"]["levels"] == list(range(1, 21))
    assert sorted(summary["selection"]["order"]) == list(range(20))


def test_the_curve_is_what_the_first_features_explain_rounded_down(selector, summary):
    curve = summary["explained"]
    assert curve["order"] == selector.feature_order_.tolist() and curve["is_of_budgets"]
    assert summary["selection"]["order"] == curve["order"]
    shares = np.array(curve["share"])
    np.testing.assert_allclose(shares, selector.explained_, atol=1.1e-5)
    assert (shares <= selector.explained_ + 1e-9).all()
    assert shares[curve["n_enough"] - 1] >= 0.9 > shares[curve["n_enough"] - 2]
    n_selected = summary["selection"]["n_features"]
    assert curve["n_selected"] == n_selected  # features of kept groups are the first
    assert curve["sentence"] == summary["sentences"][1]
    for row in groups_table(summary):
        i = summary["features"]["name"].index(row["feature"])
        assert curve["order"][row["order"] - 1] == i
        assert row["explained"] == shares[row["order"] - 1]


def test_a_budget_spent_otherwise_is_not_on_the_curve(selector, table):
    spread = copy.copy(selector).set_params(allocation="spread", n_features_to_select=7)
    spread._select()
    curve = summarize(spread, table[0])["explained"]
    assert not curve["is_of_budgets"] and curve["n_selected"] is None


def test_the_share_of_a_fit_and_the_90_percent_are_on_the_slider():
    X, known = blocks((200, 200), 1.0, n_samples=400)
    selector = fitted(X, n_groups="auto", groups=known, max_epochs=2, n_features_to_select=123)
    summary = summarize(selector, X)
    assert {123, summary["explained"]["n_enough"]} < set(summary["selection"]["levels"])
    assert len(summary["selection"]["levels"]) < 145


def test_constant_columns_have_no_position_in_the_order(mixed):
    rows = {row["feature"]: row for row in groups_table(summarize(*mixed))}
    assert rows["same"]["order"] is rows["same"]["explained"] is None
    assert sorted(row["order"] for row in rows.values() if row["order"]) == list(range(1, 15))


def test_a_share_to_explain_has_a_page_as_a_budget_has(selector, table):
    asked = copy.copy(selector).set_params(explain=0.9)
    asked._select()
    summary = summarize(asked, table[0])
    chosen, curve = summary["selection"], summary["explained"]
    assert chosen["n_features"] == chosen["budget"] == curve["n_selected"] == curve["n_enough"]
    assert len(summary["embedding"]["by_groups"]) == 12
    render(summary)


def test_groups_on_the_slider_are_those_the_selector_would_keep(selector, table):
    kept = fitted(table[0], n_groups_to_select=4).get_support(indices=True)
    found = selector.select(n_groups_to_select=4, n_features_to_select=None).features
    np.testing.assert_array_equal(found, kept)


def test_the_tables_say_what_the_selector_says(selector, summary, table):
    rows = groups_table(summary)
    assert len(rows) == 20 and tuple(rows[0]) == GROUPS_COLUMNS
    kept = {row["feature"] for row in rows if row["kept"]}
    assert kept == set(selector.get_feature_names_out())
    assert {row["feature"] for row in selected_table(summary)} == kept
    for row in rows:
        column = table[0].columns.get_loc(row["feature"])
        assert row["group"] == selector.group_labels_[column] + 1
        assert row["centrality"] == pytest.approx(selector.centrality_[column], rel=1e-3)
        assert row["score"] == pytest.approx(selector.group_scores_[row["group"] - 1], rel=1e-4)
        reliability = selector.group_reliability_[row["group"] - 1]
        assert row["reliability"] == pytest.approx(reliability, rel=1e-2)
        assert row["sign"] == selector.group_signs_[column]


def test_signs_and_relatedness_of_every_feature_are_in_the_tables(mixed):
    selector, X = mixed
    summary = summarize(selector, X)
    rows = {row["feature"]: row for row in groups_table(summary)}
    for i, name in enumerate(X.columns):
        sign = int(selector.group_signs_[i])
        assert rows[name]["sign"] == (sign or None)
        if name != "same":
            adjusted = adjust_p_values(selector.relatedness_pvalues_)
            p_value = pytest.approx(adjusted[i], rel=1e-2)
            assert rows[name]["relatedness_p_adjusted"] == p_value
    assert {row["sign"] for row in selected_table(summary)} == {-1, 1}
    assert rows["same"]["relatedness_p_adjusted"] is None
    assert summary["table"]["in_no_group"] == {"constant": 1, "unrelated": 4, "loose": 0}


def test_the_curve_over_the_number_of_groups_is_told_with_the_chosen_one(mixed, summary):
    selector, X = mixed
    curve = summarize(selector, X)["replication"]
    assert curve["n_groups"] == selector.replication_.n_groups.tolist()
    np.testing.assert_allclose(curve["agreement"], selector.replication_.agreement, rtol=1e-2)
    assert curve["best"] == 2 and curve["others"] == []
    assert summary["replication"] is None  # the number was given


def test_a_table_without_groups_is_summarised_and_has_a_page(nothing):
    selector, X = nothing
    summary = summarize(selector, X, labels=np.arange(60) % 2)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["groups"] == selected_table(summary) == []
    assert summary["table"]["in_no_group"] == {"constant": 0, "unrelated": 8, "loose": 0}
    assert summary["training"] is summary["correlations"] is summary["agreement"] is None
    assert sorted(summary["selection"]["order"]) == list(range(8))  # for budgets all the same
    assert 'id="gates-chart"' not in render(summary)


@pytest.mark.slow
def test_budgets_beyond_the_groups_take_features_in_none_last(mixed):
    selector, X = mixed
    order = summarize(selector, X)["selection"]["order"]
    assert len(order) == 14 and set(order[-4:]) == {10, 11, 12, 13}


def test_the_map_is_that_of_the_plot_and_tight_groups_look_tight(mixed):
    selector, X = mixed
    part = summarize(selector, X)["correlations"]
    values, size = unpack(part["values"]), part["sizes"][0]
    drawn = plot_correlations(selector, X).images[0]
    np.testing.assert_allclose(np.asarray(drawn.get_array().data), values, atol=0.01)
    assert drawn.get_clim() == (-part["limit"], part["limit"])
    assert values[:size, :size].min() > np.abs(values[:size, size:]).max()
    assert part["n_grouped"] == len(part["features"]) == 10 and part["turned"]


def test_samples_are_scored_on_every_group(mixed):
    selector, X = mixed
    scores = [unpack(packed) for packed in summarize(selector, X)["embedding"]["scores"]]
    Z = ((X - X.mean()) / X.std(ddof=0).replace(0, 1)).to_numpy()
    assert len(scores) == selector.n_groups_
    for found, group in zip(scores, selector.groups_, strict=True):
        expected = (Z[:, group] * selector.group_signs_[group]).mean(1)
        assert np.corrcoef(found, expected)[0, 1] > 0.98


@pytest.mark.slow
def test_the_code_on_the_page_reproduces_the_selection(table, tmp_path):
    path = tmp_path / "moons.csv"
    table[0].to_csv(path, index=False)
    selector = fitted(pd.read_csv(path), max_epochs=15)
    summary = summarize(selector, table[0], source=str(path))
    done: dict = {}
    assert len(summary["code"]) == 3
    exec("\n".join(summary["code"]), done)
    np.testing.assert_array_equal(done["selector"].get_support(), selector.get_support())


def test_samples_are_drawn_in_principal_components(summary, selector, table):
    X = table[0]
    Z = ((X - X.mean()) / X.std(ddof=0)).to_numpy()[:, selector.get_support()]
    expected = PCA(2).fit_transform(Z)
    drawn = unpack(summary["embedding"]["fitted"]["xy"])
    for axis in range(2):
        assert abs(np.corrcoef(drawn[:, axis], expected[:, axis])[0, 1]) > 0.999


def test_labels_colour_and_measure_but_do_not_select(summary, selector, table):
    without = summarize(selector, table[0])
    assert without["features"] == summary["features"] and without["agreement"] is None
    assert summary["embedding"]["label"]["classes"] == ["0", "1"]
    assert summary["agreement"]["largest_class"] == 0.5
    assert without["embedding"]["label"] is None


def test_labels_may_be_numbers_words_or_missing(selector, table):
    X = table[0]
    assert summarize(selector, X, labels=X["x1_1"])["embedding"]["label"]["kind"] == "number"
    words = summarize(selector, X, labels=np.array(["b", None] * 100, dtype=object))
    assert words["embedding"]["label"]["classes"] == ["b", "missing"]
    assert words["agreement"] is None  # one class and gaps


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA])
def test_samples_without_a_label_are_no_class_of_the_agreement(selector, table, nothing):
    X, labels = table
    gaps = np.where(np.arange(len(X)) % 4 == 0, nothing, labels.astype(object))
    measured = summarize(selector, X, labels=gaps)
    present = np.arange(len(X)) % 4 != 0
    agreement = measured["agreement"]
    assert (agreement["n_samples"], agreement["n_classes"]) == (150, 2)
    assert agreement["largest_class"] == pytest.approx((labels[present] == 0).mean(), abs=1e-3)
    assert agreement["accuracy_selected"] > 0.6
    assert "Measured on 150 samples that have a label." in render(measured)


def test_large_tables_are_measured_on_rows_picked_at_random(summary, selector, table, monkeypatch):
    assert "Measured on" not in render(summary)
    monkeypatch.setattr("groupfs.plotting.inputs.MOST_ROWS", 100)
    sampled = summarize(selector, table[0], labels=table[1])
    assert sampled["agreement"]["n_samples"] == 100
    assert "Measured on 100 samples, picked at random." in render(sampled)


@pytest.mark.slow
def test_sparse_tables_give_the_same_summary(table):
    X = np.where(np.abs(table[0]) > 1, table[0], 0.0)
    dense = summarize(fitted(X, max_epochs=5), X)
    sparse = summarize(fitted(sp.csr_array(X), max_epochs=5), sp.csr_array(X))
    assert dense["features"]["group"] == sparse["features"]["group"]
    np.testing.assert_allclose(
        unpack(dense["correlations"]["values"]), unpack(sparse["correlations"]["values"]), atol=0.01
    )


@pytest.mark.slow
def test_a_path_is_told_with_its_chosen_point_and_stability(table, summary):
    X = table[0].iloc[:, :12]
    selector = GroupFSPath(
        n_groups=4, sparsities=[0.5, 1.0, 2.0], n_resamples=2, max_epochs=10, random_state=0
    ).fit(X)
    along = summarize(selector, X)
    assert along["path"]["sparsities"][along["path"]["chosen"]] == selector.sparsity_
    assert len(along["stability"]["selection_frequency"]) == 12
    assert 'id="path-chart"' in render(along)
    assert summary["path"] is None and 'id="path-chart"' not in render(summary)


def test_image_tables_have_a_pixel_map(selector, table):
    summary = summarize(selector, table[0], image_shape=(4, 5), image_order="C")
    mean = unpack(summary["image"]["mean"])
    np.testing.assert_allclose(mean, table[0].mean(), atol=0.02)
    assert 'id="pixel-map"' in render(summary)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": [1, 2]}, "one label per sample"),
        ({"feature_names": ["a"]}, "one name per column"),
        ({"image_shape": (3, 3)}, "height and width"),
        ({"image_order": "K"}, "image_order='K'"),
        ({"X": np.eye(9)}, "give the table it was fitted on"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(selector, table, arguments, words):
    with pytest.raises(ValueError, match=words):
        summarize(selector, **{"X": table[0], **arguments})


def test_the_selector_is_left_as_it_was(selector, table):
    support, parameters = selector.get_support().copy(), selector.get_params()
    summarize(selector, table[0])
    assert selector.get_params() == parameters
    np.testing.assert_array_equal(selector.get_support(), support)
