import copy
import csv
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

from groupfs import GroupFSPath
from groupfs.data.rows import DenseRows
from groupfs.graphs.affinity import dense_feature_affinity
from groupfs.report import figure_data as pictures
from groupfs.report import groups_table, read, render, selected_table, summarize
from groupfs.report.other_budgets import features_of_groups
from tests.support.report_tables import (
    HOSTILE,
    fitted,
    many_features,
    many_groups,
    moons_table,
    unpack,
)


@pytest.fixture(scope="module")
def table():
    return moons_table()


@pytest.fixture(scope="module")
def selector(table):
    return fitted(table[0])


@pytest.fixture(scope="module")
def summary(selector, table):
    return summarize(selector, table[0], labels=table[1], label_name="moon", source="moons.csv")


def test_the_summary_is_plain_json_without_nan(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert (summary["format"], summary["version"]) == ("groupfs-result", 1)


def test_a_page_can_be_made_again_from_the_file_alone(summary, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps(summary))
    assert render(read(path)) == render(summary)


@pytest.mark.parametrize(
    "settings",
    [
        {"allocation": "spread"},
        {"allocation": "whole"},
        {"output": "representatives"},
        {"n_groups_to_select": 3},
    ],
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


def test_groups_on_the_slider_are_those_the_selector_would_keep(selector, table):
    kept = fitted(table[0], n_groups_to_select=4).get_support()
    np.testing.assert_array_equal(features_of_groups(selector, 4), np.flatnonzero(kept))


def test_three_sentences_tell_how_many_which_and_how_sure(summary):
    how_many, which, how_sure = summary["sentences"]
    assert "200 samples of 20 features" in how_many and "10 features" in how_many
    first = summary["groups"][0]
    assert f"group 1 around {first['representative_name']}" in which.lower()
    assert re.match(r"2 of \d+ scores stand out", how_sure)


def test_noise_is_not_sold_as_a_finding():
    X = np.random.default_rng(0).standard_normal((60, 8))
    with pytest.warns(UserWarning, match="stands out from chance"):
        selector = fitted(X, n_groups=3)
    text = summarize(selector, X)["sentences"][2]
    assert text.startswith("No group's score stands out from chance") and "guess" in text


def test_every_feature_has_the_reason_of_its_fate(selector, summary):
    for row in groups_table(summary):
        group = summary["groups"][row["group"] - 1]
        if row["kept"]:
            assert "gate open, score beyond chance" in row["reason"]
        else:
            assert ("gate closed" in row["reason"]) == (not group["open"])
            doubt = "not beyond chance" in row["reason"] or "alone" in row["reason"]
            assert doubt == (not group["stands_out"])


def test_a_budget_is_the_reason_where_there_is_one(table):
    selector = fitted(table[0], n_features_to_select=4)
    summary = summarize(selector, table[0])
    reasons = {row["reason"] for row in groups_table(summary) if row["kept"]}
    assert all("the budget of 4 takes its 2 most central, this among them" in r for r in reasons)
    assert "a budget of 4 features was spent on 2 of them" in summary["sentences"][0]


def blocks(sizes, shared, n_samples=60, seed=0):
    """Columns that share one signal per block, and their blocks."""
    rng = np.random.default_rng(seed)
    one = [shared * rng.normal(size=(n_samples, 1)) for _ in sizes]
    parts = [s + rng.normal(size=(n_samples, k)) for s, k in zip(one, sizes, strict=True)]
    return np.hstack(parts), np.repeat(np.arange(len(sizes)), sizes)


def reasons_of(selector, X):
    """The reasons of every group, first in rank first."""
    summary = summarize(selector, X)
    rows = groups_table(summary)
    return [
        {row["reason"] for row in rows if str(row["group"]) == str(_called(group))}
        for group in summary["groups"]
    ]


def _called(group):
    return group["name"] if group["is_given"] else group["rank"]


def test_a_spread_budget_passes_over_groups_no_better_than_chance():
    X, known = blocks((3, 3, 3), 2.0)
    quick = {"n_groups": "auto", "groups": known, "max_epochs": 2}
    selector = fitted(X, n_features_to_select=2, **quick)
    selector.group_pvalues_ = np.array([0.9, 0.001, 0.9])
    selector._select()
    first, second, _ = reasons_of(selector, X)
    assert any("takes its 2 most central, this among them" in reason for reason in second)
    (reason,) = first
    assert "score not beyond chance (p = 0.9), so the budget of 2 goes to other groups" in reason


def test_a_spread_budget_passes_over_scores_that_are_not_above_zero():
    X, known = blocks((3, 3, 3), 2.0)
    quick = {"n_groups": "auto", "groups": known, "max_epochs": 2, "n_groups_to_select": 2}
    selector = fitted(X, n_features_to_select=2, **quick)
    selector.group_scores_ = np.array([0.3, -0.1, -0.2])
    selector._select()
    (reason,) = reasons_of(selector, X)[1]
    assert "score not above zero, so the budget of 2 goes to other groups first" in reason


def test_a_whole_budget_goes_to_groups_in_rank_order():
    X, known = blocks((3, 3, 3), 2.0)
    quick = {"n_groups": "auto", "groups": known, "max_epochs": 2}
    selector = fitted(X, n_features_to_select=4, allocation="whole", **quick)
    reasons = reasons_of(selector, X)
    assert all("takes all 3" in reason for reason in reasons[0])
    assert any("its 1 most central, not this one" in reason for reason in reasons[1])
    assert all("the budget of 4 goes to groups before it" in reason for reason in reasons[2])


def test_a_spread_budget_below_the_number_of_groups_goes_to_the_first():
    X, known = blocks((3, 3, 3), 2.0)
    selector = fitted(X, n_groups="auto", groups=known, max_epochs=2, n_features_to_select=2)
    assert selector.group_pvalues_.max() < 0.05
    assert all("the budget of 2 goes to groups before it" in r for r in reasons_of(selector, X)[2])


@pytest.mark.parametrize("output", ["features", "representatives"])
def test_a_number_of_groups_is_the_reason_though_there_is_a_budget(output):
    X, known = blocks((3, 3, 3), 2.0)
    quick = {"n_groups": "auto", "groups": known, "max_epochs": 2, "output": output}
    with pytest.warns(UserWarning, match="give only"):
        selector = fitted(X, n_features_to_select=8, n_groups_to_select=1, **quick)
    summary = summarize(selector, X)
    (reason,) = reasons_of(selector, X)[1]
    assert "number 2, and only the first is kept" in reason and "budget" not in reason
    spent = int(selector.get_support().sum())
    assert f"of a budget of 8 features {spent} w" in summary["sentences"][0]


@pytest.mark.parametrize(
    ("gates", "p_values", "kept", "words"),
    [
        ([0.9, 0.1, 0.1], [0.9, 0.001, 0.002], 1, "the first with a score beyond chance"),
        ([0.1, 0.1, 0.1], [0.9, 0.001, 0.002], 1, "the first with a score beyond chance"),
        ([0.1, 0.1, 0.1], [0.9, 0.9, 0.9], 0, "the first in rank, as all gates are closed"),
    ],
)
def test_a_closed_group_is_kept_for_the_reason_the_selector_has(gates, p_values, kept, words):
    X, known = blocks((3, 3, 3), 2.0)
    selector = fitted(X, n_groups="auto", groups=known, max_epochs=2)
    selector.group_gates_, selector.group_pvalues_ = np.array(gates), np.array(p_values)
    with pytest.warns(UserWarning):
        selector._select()
    assert np.flatnonzero(selector.group_selected_).tolist() == [kept]
    (reason,) = reasons_of(selector, X)[kept]
    assert words in reason and "gate closed" in reason


def test_constant_columns_are_listed_last_with_their_reason(table):
    X = table[0].assign(same=1.0)
    with pytest.warns(UserWarning, match="constant"):
        selector = fitted(X)
    row = groups_table(summarize(selector, X))[-1]
    assert row["feature"] == "same" and row["group"] is None and not row["kept"]
    assert row["reason"].startswith("Constant")


def test_the_tables_say_what_the_selector_says(selector, summary, table):
    rows = groups_table(summary)
    columns = ["feature", "group", "rank", "score", "p_value", "centrality", "kept", "reason"]
    assert len(rows) == 20 and list(rows[0]) == columns
    kept = {row["feature"] for row in rows if row["kept"]}
    assert kept == set(selector.get_feature_names_out())
    assert {row["feature"] for row in selected_table(summary)} == kept
    for row in rows:
        place = table[0].columns.get_loc(row["feature"])
        assert row["group"] == selector.group_labels_[place] + 1
        assert row["centrality"] == pytest.approx(selector.centrality_[place], rel=1e-3)
        assert row["score"] == pytest.approx(selector.group_scores_[row["group"] - 1], rel=1e-4)


def test_known_groups_keep_their_names(table):
    X = table[0]
    known = {"first": X.columns[:5], "second": X.columns[5:10], "rest": X.columns[10:]}
    selector = fitted(X, n_groups="auto", groups=known)
    summary = summarize(selector, X)
    assert {row["group"] for row in groups_table(summary)} == set(known)
    assert "were given" in summary["sentences"][0]


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
    shown = unpack(summary["embedding"]["fitted"]["xy"])
    for axis in range(2):
        assert abs(np.corrcoef(shown[:, axis], expected[:, axis])[0, 1]) > 0.999


def test_cells_of_the_affinity_map_are_means_within_and_between_groups(table, monkeypatch):
    monkeypatch.setattr(pictures, "MOST_CELLS", 9)
    X = table[0]
    selector = fitted(X, n_groups=4, max_epochs=10)
    affinity = summarize(selector, X)["affinity"]
    cells, per_group = unpack(affinity["cells"]), affinity["cells_per_group"]
    assert len(per_group) == selector.n_groups_ and sum(per_group) == len(cells) <= 9

    group = selector.groups_[0]
    order = group[np.argsort(-selector.centrality_[group], kind="stable")]
    first = np.array_split(order, per_group[0])[0]
    every = np.concatenate(selector.groups_)
    Z = ((X - X.mean()) / X.std(ddof=0)).to_numpy()
    W = dense_feature_affinity(DenseRows(Z[:, every]), selector.n_neighbors)
    places = np.flatnonzero(np.isin(every, first))
    block = W[np.ix_(places, places)]
    mean = block[~np.eye(len(first), dtype=bool)].mean() if len(first) > 1 else 1.0
    within = np.clip(mean, affinity["cells"]["low"], affinity["cells"]["high"])
    assert cells[0, 0] == pytest.approx(within, abs=0.01)


def test_labels_colour_and_measure_but_do_not_select(summary, selector, table):
    without = summarize(selector, table[0])
    assert without["features"] == summary["features"] and without["agreement"] is None
    assert summary["embedding"]["colours"]["classes"] == ["0", "1"]
    assert summary["agreement"]["largest_class"] == 0.5
    assert without["embedding"]["colours"]["kind"] == "cluster"


def test_labels_may_be_numbers_words_or_missing(selector, table):
    X = table[0]
    colours = summarize(selector, X, labels=X["x1_1"])["embedding"]["colours"]
    assert colours["kind"] == "number"
    words = np.array(["b", None] * 100, dtype=object)
    colours = summarize(selector, X, labels=words)["embedding"]["colours"]
    assert colours["classes"] == ["b", "missing"]


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA])
def test_samples_without_a_label_are_no_class_of_the_agreement(selector, table, nothing):
    X, labels = table
    some = np.where(np.arange(len(X)) % 4 == 0, nothing, labels.astype(object))
    measured = summarize(selector, X, labels=some)["agreement"]
    present = np.arange(len(X)) % 4 != 0
    assert (measured["n_samples"], measured["n_classes"]) == (150, 2)
    assert measured["largest_class"] == pytest.approx((labels[present] == 0).mean(), abs=1e-3)
    assert measured["accuracy_selected"] > 0.6


def test_labels_of_one_class_and_gaps_have_no_agreement(selector, table):
    some = np.array(["a", None] * 100, dtype=object)
    assert summarize(selector, table[0], labels=some)["agreement"] is None


def test_the_page_tells_how_many_samples_the_agreement_is_of(selector, table, monkeypatch):
    X, labels = table
    whole = render(summarize(selector, X, labels=labels))
    assert "Measured on" not in whole
    some = np.where(np.arange(len(X)) % 4 == 0, None, labels.astype(object))
    assert "Measured on 150 samples that have a label." in render(
        summarize(selector, X, labels=some)
    )
    monkeypatch.setattr("groupfs.report.summary.MOST_ROWS", 100)
    sampled = summarize(selector, X, labels=labels)
    assert sampled["agreement"]["n_samples"] == 100
    assert "Measured on 100 samples, picked at random." in render(sampled)


def test_sparse_tables_give_the_same_summary(table):
    X = np.where(np.abs(table[0]) > 1, table[0], 0.0)
    dense = summarize(fitted(X, max_epochs=5), X)
    sparse = summarize(fitted(sp.csr_array(X), max_epochs=5), sp.csr_array(X))
    assert dense["features"]["group"] == sparse["features"]["group"]
    np.testing.assert_allclose(
        unpack(dense["affinity"]["cells"]), unpack(sparse["affinity"]["cells"]), atol=0.01
    )


def test_a_path_is_told_with_its_chosen_point_and_stability(table):
    X = table[0].iloc[:, :12]
    selector = GroupFSPath(
        n_groups=4, sparsities=[0.5, 1.0, 2.0], n_resamples=2, max_epochs=10, random_state=0
    ).fit(X)
    summary = summarize(selector, X)
    assert summary["path"]["sparsities"][summary["path"]["chosen"]] == selector.sparsity_
    assert len(summary["stability"]["selection_frequency"]) == 12
    assert 'id="path-chart"' in render(summary)


def test_without_a_path_there_is_no_part_on_it(summary):
    assert summary["path"] is None and 'id="path-chart"' not in render(summary)


def test_image_tables_have_a_pixel_map(selector, table):
    summary = summarize(selector, table[0], image_shape=(4, 5), image_order="C")
    mean = unpack(summary["image"]["mean"])
    np.testing.assert_allclose(mean, table[0].mean(), atol=0.02)
    assert 'id="pixel-map"' in render(summary)


def test_names_are_text_wherever_they_appear(table):
    X = table[0].rename(columns=dict(zip(table[0].columns, HOSTILE, strict=False)))
    summary = summarize(fitted(X, max_epochs=10), X, source=HOSTILE[1], notes=[HOSTILE[0]])
    page = render(summary)
    assert "<img" not in page
    assert page.count("<script") == page.count("</script>") == 2


def test_nothing_in_the_page_points_outside(summary):
    page = render(summary)
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'<]*", page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page and "@import" not in page


def test_a_page_for_7129_features_is_under_two_megabytes():
    selector, X = many_features()
    page = render(summarize(selector, X))
    assert len(page.encode()) < 2_000_000
    assert "x7128" in page


def test_a_page_that_would_be_too_large_lists_fewer_features(summary):
    large, times = copy.deepcopy(summary), 2000
    features = large["features"]
    for name in features:
        features[name] = features[name] * times
    features["name"] = [f"{name} {'of a very long name ' * 5}" for name in features["name"]]
    large["table"]["n_features"] = 20 * times
    page = render(large)
    assert len(page.encode()) < 2_000_000
    assert re.search(r"Listed are [\d,]+ of 40,000 features, selected ones first", page)


def data_in(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


@pytest.fixture(scope="module")
def cut():
    """A summary whose names are too long for a page, and what is left of it in the page."""
    X, known = blocks((300, 300, 300, 300), 1.2)
    selector = fitted(X, n_groups="auto", groups=known, max_epochs=2, n_groups_to_select=2)
    summary = summarize(selector, X, feature_names=[f"g{i}_" + "q" * 2200 for i in range(1200)])
    return summary, data_in(render(summary))


def test_a_cut_page_lists_every_selected_feature(cut):
    summary, data = cut
    features = data["features"]
    assert len(features["name"]) < 1200 and sum(features["kept"]) == 600
    shown = {name for name, kept in zip(features["name"], features["kept"], strict=True) if kept}
    assert shown == {row["feature"] for row in selected_table(summary)}
    assert all(group["representative"] >= 0 for group in data["groups"])


def test_a_cut_page_keeps_every_reason_with_its_feature(cut):
    summary, data = cut
    features = data["features"]
    shown = {
        name: data["reasons"][reason]
        for name, reason in zip(features["name"], features["reason"], strict=True)
    }
    whole = {row["feature"]: row["reason"] for row in groups_table(summary)}
    assert shown == {name: whole[name] for name in shown}


def test_a_page_of_2500_groups_is_under_two_megabytes():
    selector, X = many_groups()
    summary = summarize(selector, X)
    page = render(summary)
    assert len(page.encode()) < 2_000_000
    data, n_shown = data_in(page), page.count('<details class="group"')
    assert 1000 < n_shown == len(data["groups"]) == len(data["correlations"]) < 2500
    assert f"this page shows the first {n_shown:,};" in page
    assert data["training"]["gates"]["shape"][1] == n_shown
    whole = unpack(summary["training"]["gates"])
    np.testing.assert_array_equal(unpack(data["training"]["gates"]), whole[:, :n_shown])
    assert max(group for group in data["features"]["group"]) < n_shown
    assert sum(data["features"]["kept"]) == summary["selection"]["n_features"] == 20


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("not json", "is not json"),
        ("[1, 2]", 'has no "format"'),
        ('{"format": "groupfs-result", "version": 9}', "reads version 1"),
        ('{"format": "groupfs-result", "version": 1}', "lacks table"),
    ],
)
def test_a_file_that_is_no_result_is_refused_with_a_sentence(tmp_path, content, words):
    path = tmp_path / "result.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=words):
        read(path)


def every_part(summary):
    """The names of all parts, and of what is in those that are not free in what they hold."""
    free = ("settings", "learned", "versions")
    for part, value in summary.items():
        if part not in ("format", "version"):
            yield part
        if isinstance(value, dict) and part not in free:
            unused = {"features": {"score"}}.get(part, set())
            yield from (f"{part}.{name}" for name in value.keys() - unused)


def test_a_result_with_any_part_missing_is_refused_in_one_sentence(summary, tmp_path):
    path = tmp_path / "result.json"
    for name in every_part(summary):
        cut, (part, *within) = copy.deepcopy(summary), name.split(".")
        del (cut[part] if within else cut)[within[0] if within else part]
        path.write_text(json.dumps(cut))
        with pytest.raises(ValueError, match=rf"lacks {name}; it was cut or changed"):
            read(path)


@pytest.mark.parametrize("groups", [None, [], [1], [{"rank": 1}]])
def test_a_result_without_groups_is_refused(summary, groups):
    with pytest.raises(ValueError, match="summary lacks groups"):
        render({**summary, "groups": groups})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": [1, 2]}, "one label per sample"),
        ({"feature_names": ["a"]}, "one name per column"),
        ({"image_shape": (3, 3)}, "height and width"),
        ({"image_order": "K"}, "image_order='K'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(selector, table, arguments, words):
    with pytest.raises(ValueError, match=words):
        summarize(selector, table[0], **arguments)


def test_another_table_is_refused(selector, table):
    with pytest.raises(ValueError, match="give the table it was fitted on"):
        summarize(selector, table[0].iloc[:, :9])


def test_a_missing_jinja2_is_told_with_the_extra_to_install(summary, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"groupfs\[report\]"):
        render(summary)


def test_rows_can_be_written_as_csv(summary, tmp_path):
    rows = groups_table(summary)
    with open(tmp_path / "groups.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    back = pd.read_csv(tmp_path / "groups.csv")
    assert back["feature"].tolist() == [row["feature"] for row in rows]
    assert back["kept"].sum() == 10


def test_the_selector_is_left_as_it_was(selector, table):
    support, parameters = selector.get_support().copy(), selector.get_params()
    summarize(selector, table[0])
    assert selector.get_params() == parameters
    np.testing.assert_array_equal(selector.get_support(), support)


def test_reasons_say_what_stands_out_where_gates_do_not_count(table):
    selector = fitted(table[0], n_groups_to_select="significant")
    rows = groups_table(summarize(selector, table[0]))
    kept = {row["reason"].split(": ")[1] for row in rows if row["kept"]}
    assert kept and all(reason.startswith("score beyond chance (p ") for reason in kept)
