"""The summary holds what the selector found, and nothing that json cannot write."""

import copy
import json

import numpy as np
import pandas as pd
import pytest

from groupfs.plotting import plot_correlations
from groupfs.report import groups_table, render, scales_table, selected_table, summarize
from groupfs.report.csv_rows import GROUPS_COLUMNS
from groupfs.result import Result
from tests.support.report_tables import blocks, fitted, unpack


def test_the_summary_is_plain_json_without_nan(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert (summary["format"], summary["version"]) == ("groupfs-result", 8)


def test_the_slider_selects_what_the_selector_would(table, selector, summary):
    order = summary["explained"]["order"]
    for budget in summary["explained"]["stops"][::5]:
        again = selector.select(n_features_to_select=budget)
        assert set(order[:budget]) == set(again.features)


def test_the_curve_is_what_the_first_features_explain(selector, summary):
    curve = summary["explained"]
    assert curve["order"] == selector.feature_order_.tolist()
    np.testing.assert_allclose(curve["share"], selector.explained_, atol=1e-5)
    assert curve["share"][curve["n_enough"] - 1] >= 0.9 > curve["share"][curve["n_enough"] - 2]
    assert curve["n_selected"] == summary["selection"]["n_features"]
    assert curve["sentence"] == summary["sentences"][1]


@pytest.mark.parametrize(
    ("table_of", "changes"),
    [
        ("mixed", {}),
        ("mixed", {"n_features_to_select": 12}),
        ("mixed", {"explain": 0.5}),
        ("nested", {}),
    ],
)
def test_the_csv_says_what_the_frame_says(request, table_of, changes):
    fit, X = request.getfixturevalue(table_of)
    selector = copy.copy(fit).set_params(**changes)
    rows, frame = groups_table(summarize(selector, X)), selector.to_frame()
    levels = [f"level_{k}" for k in (1, 2)] if table_of == "nested" else []
    loadings = [f"loading_{k + 1}" for k in range(selector.n_groups_)]
    columns = [*GROUPS_COLUMNS, *levels, *loadings, "smoothness"]
    assert list(rows[0]) == columns == list(frame.columns)
    found = pd.DataFrame(rows)
    words = {"feature", "representative", "verdict", "place", "selected", "why"}
    for name in words:
        assert found[name].tolist() == frame[name].tolist()
    for name in set(frame.columns) - words:
        np.testing.assert_allclose(
            found[name].astype(float), frame[name].astype(float), rtol=1e-2, atol=1e-4
        )
    selected = selected_table(summarize(selector, X))
    assert [row["feature"] for row in selected] == frame["feature"][frame["selected"]].tolist()


@pytest.mark.parametrize("changes", [{}, {"n_per_group": 2}])
def test_the_csv_of_scales_says_what_the_frame_of_groups_says(mixed, changes):
    selector = copy.copy(mixed[0]).set_params(**changes)
    wording = {f"f{i}": f"Question {i}" for i in range(5)}
    named = {"feature_names": [f"f{i}" for i in range(selector.n_features_in_)]}
    summary = summarize(selector, mixed[1], wording=wording, **named)
    rows = scales_table(summary)
    frame = Result.of(selector, named["feature_names"], wording).groups_frame()
    found = pd.DataFrame(rows)
    assert list(found) == list(frame) and len(found) == selector.n_groups_
    for name in frame:
        if frame[name].dtype.kind in "fi":
            np.testing.assert_allclose(found[name].astype(float), frame[name], rtol=1e-3, atol=1e-4)
        else:
            assert found[name].tolist() == frame[name].tolist()
    told = {row["feature"]: row["wording"] for row in groups_table(summary)}
    assert told == {name: wording.get(name) for name in named["feature_names"]}


def test_the_share_of_a_fit_and_the_90_percent_are_on_the_slider():
    X, known = blocks((200, 200), 1.0, n_samples=400)
    selector = fitted(X, n_groups="auto", groups=known, n_features_to_select=123)
    summary = summarize(selector, X)
    assert {123, summary["explained"]["n_enough"]} < set(summary["explained"]["stops"])
    assert len(summary["explained"]["stops"]) < 145


def test_a_table_without_groups_is_summarised_and_has_a_page(nothing):
    selector, X = nothing
    summary = summarize(selector, X, labels=np.arange(60) % 2)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["groups"] == selected_table(summary) == []
    assert summary["table"]["in_no_group"] == {"unrelated": 8, "between": 0, "constant": 0}
    assert summary["level"] is summary["correlations"] is summary["agreement"] is None
    assert sorted(summary["explained"]["order"]) == list(range(8))  # for budgets all the same
    assert "<h2>How sure</h2>" in render(summary)


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


def test_a_sample_with_less_than_half_of_a_group_has_no_score(mixed):
    selector, X = mixed[0], mixed[1].copy()
    X.iloc[3, selector.groups_[0]] = np.nan
    first, second = summarize(selector, X)["embedding"]["scores"]
    assert first["gaps"] == [3] and "gaps" not in second


def test_groups_of_the_joint_method_have_gates_in_place_of_p_values(joint):
    selector, X = joint
    summary = summarize(selector, X)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    gates = [group["gate"] for group in summary["groups"]]
    np.testing.assert_allclose(gates, selector.group_gates_, rtol=1e-2)
    assert {group["p_adjusted"] for group in summary["groups"]} == {None}
    assert summary["how_sure"][0] == "Whether the groups cohere beyond chance was not tested."
    page = render(summary)
    assert page.count("<em>Gate</em>") == len(gates)
    assert "<em>Adjusted p</em>" not in page and "<dt>Replication</dt>" not in page


def test_the_code_on_the_page_reproduces_the_selection(selector, table, summary):
    imports, read, fit = summary["code"]
    assert read == "X = ...  # the table in moons.csv"
    done = {"X": table[0]}
    exec(f"{imports}\n{fit}", done)
    np.testing.assert_array_equal(done["selector"].get_support(), selector.get_support())


def test_labels_may_be_numbers_words_or_missing(selector, table):
    X = table[0]
    assert summarize(selector, X, labels=X["x1_1"])["embedding"]["label"]["kind"] == "number"
    words = summarize(selector, X, labels=np.array(["b", None] * 100, dtype=object))
    assert words["embedding"]["label"]["classes"] == ["b", "missing"]
    assert words["agreement"] is None  # one class and gaps


def test_agreement_is_told_with_more_classes_than_there_are_colours(selector, table):
    codes = (np.arange(len(table[0])) % 40).astype(object)
    measured = summarize(selector, table[0], labels=codes)
    assert measured["agreement"]["n_classes"] == 40
    assert len(measured["embedding"]["label"]["classes"]) == 40


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": [1, 2]}, "one label per sample"),
        ({"feature_names": ["a"]}, "one name per column"),
        ({"X": np.eye(9)}, "give the table it was fitted on"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(selector, table, arguments, words):
    with pytest.raises(ValueError, match=words):
        summarize(selector, **{"X": table[0], **arguments})
