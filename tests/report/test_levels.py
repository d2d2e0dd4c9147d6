"""Levels in the report: what differs at each, their tree, and the switch in a real browser."""

import json
import re

import numpy as np
import pytest

from groupfs import FeatureGroups, Level
from groupfs.report import groups_table, render, summarize
from groupfs.report.render import _cards
from groupfs.report.schema import all_levels, at_level, tree
from tests.report.conftest import PHONE
from tests.support.browser import click, number_of, picture, put, text, texts

#: Chooses a level and gives back the milliseconds until all is laid out.
SWITCH = """
    const start = performance.now();
    document.querySelector(`#levels input[value="${arguments[0]}"]`).click();
    document.body.getBoundingClientRect();
    return performance.now() - start;
"""


@pytest.fixture(scope="module")
def summary(nested):
    return summarize(*nested)


@pytest.fixture(scope="module")
def deep():
    """A summary of 20,000 features in 60 groups within 10, which are given: no search."""
    rng = np.random.default_rng(0)
    labels = np.arange(20_000) % 60
    shared = (
        rng.standard_normal((40, 60))[:, labels] + rng.standard_normal((40, 10))[:, labels // 6]
    )
    X = shared + rng.standard_normal(shared.shape)
    fits = [FeatureGroups(groups=of, random_state=0).fit(X) for of in (labels // 6, labels)]
    within = [fits[0].group_labels_[group[0]] for group in fits[1].groups_]
    fits[1].levels_ = [
        Level(fit.group_labels_, fit.n_groups_, 0.8, np.array(parent), np.full(fit.n_groups_, 0.8))
        for fit, parent in zip(fits, ([-1] * 10, within), strict=True)
    ]
    fits[1]._level_groups = [fit._level_groups[0] for fit in fits]
    fits[1]._level_categories, fits[1].group_names_ = [{}, {}], None
    return summarize(fits[1], X)


def test_a_view_of_a_level_is_what_the_selector_says_there(nested, summary):
    selector, X = nested
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["level"] == 1 and summary["views"][1] == {}
    broad, other = at_level(summary, 0), summarize(selector.at_level("broad"), X)
    for part in ("headline", "groups", "features", "how_sure", "ungrouped", "correlations"):
        assert broad[part] == other[part]
    assert groups_table(broad) == groups_table(other)


def nested_groups(summary):
    pages = all_levels(summary)
    return tree(summary["levels"], [_cards(page, range(len(page["groups"]))) for page in pages])


def test_groups_of_the_tree_lie_in_those_they_are_part_of(nested, summary):
    nodes = nested_groups(summary)
    assert len(nodes) == 2 and [len(node["inside"]) for node in nodes] == [2, 2]
    for node in nodes:
        inside = [set(one["group"]["features"]) for one in node["inside"]]
        assert set(node["group"]["features"]) == set.union(*inside)
        assert node["split"] is None  # the level's agreement says it
        for one in node["inside"]:
            expected = nested[0].levels_[1].split[one["j"]]
            assert one["split"] == pytest.approx(expected, abs=1e-2)
    assert tree(summary["levels"][:1], [[]]) == []


def test_names_in_the_tree_are_cut_and_counted(nested):
    selector, X = nested
    long = summarize(selector, X, feature_names=[f"{'long_' * 10}{name}" for name in X.columns])
    leaf = nested_groups(long)[0]["inside"][0]
    n_more = 10 - len(leaf["features"])
    assert 0 < len(leaf["features"]) < 10 and f"and {n_more} more</p>" in render(long)


def test_without_scripts_the_page_shows_the_default_level(summary):
    page = render(summary)
    assert len(re.findall(r"<h1>[^<]*</h1>", page)) == 2
    assert re.search(r'data-level="0" hidden[^>]*><h1>2 groups found', page)
    assert re.search(r'data-level="1"><h1>4 groups found', page)
    assert summary["levels_sentence"] in page and "--level" in page


def test_a_single_level_has_neither_tree_nor_switch(mixed):
    page = render(summarize(*mixed))
    assert 'id="levels"' not in page and ' hidden=""' not in page


@pytest.mark.browser
def test_the_switch_moves_everything_below_it(show, summary):
    browser = show("nested")
    titles = ".at-level:not([hidden]) .group h3"
    pictures = [picture(browser, canvas) for canvas in ("correlation-map", "before")]
    for place, page in ((0, at_level(summary, 0)), (1, summary)):
        browser.execute_script(SWITCH, place)
        n_groups = len(page["groups"])
        assert text(browser, ".at-level:not([hidden]) h1") == page["headline"]
        assert number_of(browser, titles) == number_of(browser, ".cell.shown") == n_groups
        assert number_of(browser, "#colour-by button") == n_groups
        assert number_of(browser, "#explained-chart .entry") == n_groups
        assert f"{n_groups} of {n_groups} groups kept" in text(browser, "#status")
        rows = texts(browser, "#list tbody tr td:nth-child(2)")
        told = {row["feature"]: row["group"] for row in groups_table(page)}
        shown = dict(zip(texts(browser, "#list tbody tr td:first-child"), rows, strict=True))
        for name, group in shown.items():
            assert group == ("none" if told[name] is None else f"group {told[name]}")
        if place == 0:
            assert picture(browser, "correlation-map") != pictures[0]
            assert picture(browser, "before") != pictures[1]
    assert [picture(browser, canvas) for canvas in ("correlation-map", "before")] == pictures
    assert browser.get_log("browser") == []


@pytest.mark.browser
def test_the_slider_stays_where_it_is_when_the_level_changes(show):
    browser = show("nested")
    put(browser, "by-features", 2)
    browser.execute_script(SWITCH, 0)
    assert text(browser, "#status").startswith("3 features selected")
    counts = ".at-level:not([hidden]) .n-kept"
    assert sum(int(n) for n in texts(browser, counts)) == 3
    click(browser, "#fitted")
    assert not text(browser, "#status").startswith("3 features")


@pytest.mark.browser
@pytest.mark.parametrize("width", [PHONE, 1280])
def test_the_switch_works_by_keys(show, width):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    browser = show("nested", width)
    browser.find_element("css selector", "#levels input:checked").send_keys(keys.ARROW_LEFT)
    assert text(browser, ".at-level:not([hidden]) h1") == "2 groups found, both kept"


@pytest.mark.browser
@pytest.mark.slow
def test_the_switch_answers_within_50_ms_at_20000_features(show, folder, deep):
    page = render(deep)
    assert len(page.encode()) < 2_000_000
    (folder / "deep.html").write_text(page, encoding="utf-8")
    browser = show("deep")
    times = [browser.execute_script(SWITCH, place % 2) for place in range(10)]
    assert number_of(browser, "#levels input") == 2
    n_groups = len(at_level(deep, 1)["groups"])
    assert number_of(browser, ".at-level:not([hidden]) .group") == n_groups
    assert min(times) < 50, times  # a busy machine adds to the others
