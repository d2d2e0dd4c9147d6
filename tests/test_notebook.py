import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from groupfs import FeatureGroups, GroupFS, GroupFSPath
from groupfs.datasets import load_two_moons
from groupfs.notebook import MOST_ROWS
from groupfs.result import Result
from groupfs.utils.text import write_p
from tests.support.report_tables import mixed_table, nested_table, noise_table

NASTY = "<script>alert('x')</script>"


def groups_part(selector):
    html = selector._repr_html_()
    return html[html.index("<style>.groupfs-groups") :]


def rows_of(selector):
    """Return the cells of every row of the tables of groups."""
    rows = re.findall("<tr.*?</tr>", groups_part(selector))
    return [[unescape(cell) for cell in re.findall("<t[dh].*?>(.*?)</t[dh]>", row)] for row in rows]


@pytest.fixture(scope="module")
def table():
    moons = load_two_moons(150, random_state=0)
    return pd.DataFrame(moons.data, columns=[NASTY, *moons.feature_names[1:]])


@pytest.fixture(scope="module")
def selector(table):
    return FeatureGroups(n_groups=14, n_groups_to_select=2, random_state=0).fit(table)


def test_unfitted_selectors_look_as_scikit_learn_shows_them(selector):
    for unfitted in (FeatureGroups(), GroupFSPath(), clone(selector)):
        assert "groupfs-groups" not in unfitted._repr_html_()
        assert "groupfs-groups" not in unfitted._repr_mimebundle_()["text/html"]


def test_groups_come_after_the_diagram_of_scikit_learn_either_way(selector):
    bundle = selector._repr_mimebundle_()
    for html in (selector._repr_html_(), bundle["text/html"]):
        assert html.index("sk-container") < html.index('<div class="groupfs-groups">')
    assert bundle["text/plain"] == repr(selector)


def test_every_group_has_a_row_with_its_figures(selector):
    rows = [row for row in rows_of(selector) if row[0] != "rank"]
    assert len(rows) == selector.n_groups_ > MOST_ROWS
    assert f"{selector.n_groups_ - MOST_ROWS} more groups</summary>" in groups_part(selector)
    adjusted, alpha = (selector.groups_frame()[name] for name in ("p_adjusted", "alpha"))
    for rank, row in enumerate(rows):
        assert row[0] == str(rank + 1) and row[1] == str(len(selector.groups_[rank]))
        assert row[2] == ("" if np.isnan(alpha[rank]) else f"{alpha[rank]:.2f}")
        assert row[3] == write_p(adjusted[rank])
        assert row[4] == f"{selector.group_replication_[rank]:.2f}"
        assert row[5] == ("yes" if rank < 2 else "no")
        representative = selector.feature_names_in_[selector.representatives_[rank]]
        assert row[6].startswith(representative[:20])


@pytest.mark.parametrize("budget", [None, 3])
@pytest.mark.filterwarnings("ignore:No feature is related to another")
def test_the_sentences_of_the_result_come_first(budget):
    for X in (mixed_table(), noise_table()):
        fitted = FeatureGroups(n_features_to_select=budget, random_state=0).fit(X)
        result, html = Result.of(fitted), groups_part(fitted)
        assert bool(result.levels_sentence) == ("Groups within groups" in html)
        for sentence in (f"{result.kept_sentence}.", result.in_no_group_sentence):
            assert f"<div>{sentence}</div>" in html
        assert (
            result.explained_sentence
            or "Features in no group: 8 are unrelated (n0, n1, n2, n3 and 4 more)."
        ) in html
        assert ("<table" in html) == (fitted.n_groups_ > 0)
        names = ", ".join(row[-1] for row in rows_of(fitted)[1:]).split(", ")
        shown = {name[1:] for name in names if name.startswith("−")}
        assert shown <= set(X.columns[fitted.group_signs_ < 0])
        assert bool(shown) == ("<table" in html)


def test_levels_are_nested_lists_and_features_that_stand_elsewhere_are_counted():
    X = np.column_stack([nested_table(), np.random.default_rng(1).standard_normal((600, 2))])
    X = np.column_stack([X, 2 * X[:, 0]])
    fitted = FeatureGroups(random_state=0).fit(X)
    html = groups_part(fitted)
    assert html.index(Result.of(fitted).levels_sentence) < html.index("of 6 groups kept")
    assert html.count("<li>") == 2 + 6 and html.count("<ul><li>") == 1 + 2
    first = html[html.index("<li>1: ") :]
    assert first[: first.index("</ul>")].count("<li>") == 1 + 3
    assert re.search("Not plain members: .*2 alone", html)
    assert "1 duplicate of another" in html


@pytest.mark.slow
def test_names_are_escaped_and_nothing_is_loaded_from_anywhere(table):
    known = {NASTY: table.columns[:5], "rest": table.columns[5:]}
    fitted = FeatureGroups(groups=known, random_state=0).fit(table)
    html = groups_part(fitted)
    assert not re.search("<(script|link|img|iframe)|http|url\\(", html)
    assert any(cell.startswith("<script>") for row in rows_of(fitted) for cell in row)


def test_groups_of_the_joint_method_have_gates_in_place_of_p_values(table):
    fitted = GroupFS(n_groups=4, n_init=1, max_epochs=10, random_state=0).fit(np.asarray(table))
    head, *rows = rows_of(fitted)
    assert head == ["rank", "size", "alpha", "gate", "kept", "most central features"]
    assert [row[3] for row in rows] == [f"{gate:.2f}" for gate in fitted.group_gates_]
    assert rows[0][-1].startswith("x")
