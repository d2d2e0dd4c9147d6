"""What the report says in words follows from the result; one page is held word for word."""

import copy
import html
import re

import numpy as np
import pytest

from groupfs.report import render, summarize
from groupfs.result import Result
from groupfs.utils.warn import SelectionWarning
from tests.support.report_tables import blocks, fitted

#: Everything that the page of two blocks, noise and a constant says before its figures.
PAGE = """\
groupfs report · mixed.csv
2 groups found, both kept
8 of 15 features are selected, enough to explain 95 % of the variance.
120 samples · 15 features · seed 0
2 of 2 groups cohere more than groups found in shuffled columns (false discovery rate 1 %); both \
are found again in halves of the rows.
Halves of the rows agree on these groups by 1.00 (1 at most, 0 by chance).
Features in no group: 4 are unrelated (noise0, noise1, noise2, noise3); 1 is constant (same).
8 of 15 features explain 96 % of the variance of the 10 related features (95 % in rows left \
out)."""


def changed(selector, **settings):
    return copy.copy(selector).set_params(**settings)


def told(selector, X):
    summary = summarize(selector, X)
    return summary["headline"], summary["selected"]


def test_the_page_says_what_was_found(mixed):
    page = render(summarize(*mixed, source="mixed.csv"))

    def texts(pattern):
        found = re.findall(pattern, page, re.S)
        return [
            " ".join(html.unescape(re.sub("<[^>]*>", " ", text)).split()).replace("\xa0", " ")
            for text in found
        ]

    facts = texts(r'<p class="facts">(.*?)</p>')[0].rsplit(" ", 1)[0]  # without the day
    lines = [texts(r'<p class="kicker">(.*?)</p>')[0].replace("report ", "report · ")]
    lines += texts(r"<h1>(.*?)</h1>") + texts(r'<p class="selected">(.*?)</p>')
    lines += [re.sub(r"(samples|features) ", r"\1 · ", facts)]
    lines += texts(r'<p class="says">(.*?)</p>')
    needed = texts(r'<section id="needed">.*?<p class="at-level"[^>]*>(.*?)<span')
    assert "\n".join(lines + needed) == PAGE


@pytest.mark.parametrize(
    ("settings", "headline", "selected"),
    [
        ({"n_groups_to_select": 1}, "2 groups found, 1 kept", "5 of 15 features are selected: th"),
        ({"alpha": 1e-200}, "2 groups found, none kept", "8 of 15 features are selected, enough"),
        (
            {"n_features_to_select": 1},
            "2 groups found, both kept",
            "1 of 15 features is selected, as asked; 1 of 2 kept groups has none of them (group ",
        ),
        (
            {"n_features_to_select": 12},
            "2 groups found, both kept",
            "12 of 15 features are selected, as asked, 2 of them in no group.",
        ),
        (
            {"explain": 0.9},
            "2 groups found, both kept",
            "6 of 15 features are selected, enough to explain 90 % of the variance, as asked.",
        ),
        (
            {"n_per_group": 1},
            "2 groups found, both kept",
            "2 of 15 features are selected, one for each of the groups kept.",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:No group stands out")
def test_the_headline_counts_what_is_found_kept_and_selected(mixed, settings, headline, selected):
    found = told(changed(mixed[0], **settings), mixed[1])
    assert found[0] == headline and found[1].startswith(selected)


def test_one_group_and_none_are_told_as_such(nothing):
    assert told(*nothing) == ("No groups found", "Nothing is selected.")
    (sentence,) = summarize(*nothing)["sentences"][:1]
    assert "no feature is related to another beyond chance, so there are no groups" in sentence
    X, _ = blocks((6,), 2.0, n_samples=80)
    selector = fitted(X, n_groups="auto")
    assert told(selector, X) == (
        "1 group found and kept",
        "5 of 6 features are selected, enough to explain 95 % of the variance.",
    )
    which, how_sure = summarize(selector, X)["sentences"][2:4]
    assert "is the only one (" in which and how_sure.startswith("1 of 1 group coheres more")
    with pytest.warns(SelectionWarning, match="stands out"):
        lost = told(changed(selector, alpha=1e-200), X)
    assert lost[0] == "1 group found, but not kept"


def test_noise_is_not_sold_as_a_finding():
    X = np.random.default_rng(0).standard_normal((60, 8))
    with pytest.warns(SelectionWarning, match="stands out from chance"):
        selector = fitted(X, n_groups=3)
    assert summarize(selector, X)["how_sure"][0].startswith("No group coheres beyond chance (small")
    guess = summarize(changed(selector, n_groups_to_select=2), X)["how_sure"][0]
    assert guess.endswith("take what is selected as a guess, not as a finding.")


def test_the_first_groups_are_named_with_what_is_known_of_the_very_first(summary):
    first = summary["groups"][0]
    which = summary["sentences"][2]
    assert which.startswith(
        f"Group 1 around {first['representative_name']} comes first (alpha {first['alpha']:.2f}"
    )
    again = f"{first['replication']:.2f}"
    assert f"adjusted p < 0.001, replication {again}, 5 features), then group 2 around" in which


def test_features_that_may_be_in_another_group_are_named_the_least_stable_first(mixed):
    selector, X = copy.copy(mixed[0]), mixed[1]
    stability, second, between = np.ones(15), np.full(15, -1), np.zeros(15, dtype=bool)
    stability[[0, 1, 6, 10]] = 0.74, 0.125, 0.5, 0.1  # the last one is in no group
    own = selector.group_labels_[1]
    second[[1, 7]], between[[1, 7]] = (1 - own, own), True
    selector.feature_stability_, selector.second_group_ = stability, second
    selector.second_strength_, selector._is_between = np.full(15, 0.4), between
    u, v = own + 1, 2 - own
    summary = summarize(selector, X)
    told = f"Not sure of their group: u1 ({u} or {v}), v1 ({v}), u0 ({u}), v2 ({v} or {u})."
    assert told in summary["how_sure"] and told in summary["sentences"]
    assert summary["features"]["stability"][1] == 0.125
    (kept,) = re.findall("Not sure.*", " ".join(one_group(selector, X)))
    assert ("u0" in kept) == (u == 1) == ("v1" not in kept)


def one_group(selector, X):
    return summarize(changed(selector, n_groups_to_select=1), X)["how_sure"]


def test_levels_are_told_at_the_head_of_their_tree_and_not_once_more(nested):
    selector, X = nested
    summary = summarize(selector, X)
    assert summary["levels_sentence"] == Result.of(selector).levels_sentence
    assert summary["levels_sentence"] in summary["sentences"]
    assert not any("Halves of the rows agree" in sentence for sentence in summary["how_sure"])


def test_many_features_in_no_group_are_cut_and_counted(mixed):
    summary = summarize(*mixed)
    summary["ungrouped"]["unrelated"] *= 50
    outside = render(summary).split("200 are unrelated:")[1].split("</details>")[0]
    unrelated, constant = outside.split("1 is constant:")
    assert unrelated.count("data-feature") == 150 and "and 50 more" in unrelated
    assert constant.count("data-feature") == 1 and "more" not in constant
