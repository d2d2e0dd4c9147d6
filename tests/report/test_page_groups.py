"""The list of groups in a real browser: members in plain sight, marked, and how sure they are."""

import pytest

from tests.support.browser import click, number_of, put, text, texts

pytestmark = pytest.mark.browser


def test_every_member_is_in_sight_and_how_far_its_group_replicates(show, mixed):
    selector, X = mixed
    browser = show("mixed")
    assert texts(browser, ".g-again b") == [f"{r:.2f}" for r in selector.group_replication_]
    for j, group in enumerate(selector.groups_):
        chips = texts(browser, f".group[data-group='{j}'] .chip")
        assert sorted(chips) == sorted(X.columns[group])
        representative = texts(browser, f".group[data-group='{j}'] .chip.rep")
        assert representative == [X.columns[selector.representatives_[j]]] == chips[:1]
    visible = "return [...document.querySelectorAll('.group .chip')].every((e) => e.offsetHeight)"
    assert browser.execute_script(visible)


def test_reversed_features_have_a_minus_and_say_against_what_they_run(show, mixed):
    selector, X = mixed
    browser = show("mixed")
    marked = texts(browser, ".group .chip.reversed")
    assert set(marked) == set(X.columns[selector.group_signs_ < 0]) and marked
    assert set(texts(browser, "#list td.reversed")) == set(marked)
    look = "return getComputedStyle(document.querySelector('.reversed'), '::before').content"
    assert "−" in browser.execute_script(look)
    title = browser.execute_script("return document.querySelector('.group .reversed').title")
    assert any(X.columns[i] in title for i in selector.representatives_)
    assert "reversed: low where the representative is high" in text(browser, ".key")
    assert "reversed" not in text(show("moons"), ".key")  # there are none


def test_features_in_no_group_are_listed_by_why(show):
    browser = show("mixed")
    assert text(browser, "#outside[open] > summary") == "5 features in no group"
    assert texts(browser, "#outside .why") == [
        "4 are unrelated:",
        "1 is constant:",
    ]
    assert texts(browser, "#outside .chip") == [*(f"noise{i}" for i in range(4)), "same"]


def test_names_that_do_not_fit_are_a_click_away(show, genes):
    browser = show("genes")
    size, first = genes["groups"][0]["size"], ".group[data-group='0']"
    n_shown = number_of(browser, f"{first} .chip")
    assert text(browser, f"{first} .more-chips") == f"+ {size - n_shown:,} more"
    click(browser, f"{first} .more-chips")
    assert number_of(browser, f"{first} .chip") == size
    assert number_of(browser, f"{first} .chip.kept") == genes["groups"][0]["n_selected"]
    click(browser, f"{first} .more-chips")
    assert number_of(browser, f"{first} .chip") == n_shown
    assert text(browser, f"{first} .more-chips") == f"+ {size - n_shown:,} more"


def test_chips_and_counts_follow_the_slider(show):
    browser = show("mixed")
    for k in (1, 4, 12):
        put(browser, "by-features", k - 1)
        assert number_of(browser, ".chip.kept[data-feature]") == k
        in_groups = sum(int(n) for n in texts(browser, ".group .n-kept"))
        assert in_groups == number_of(browser, ".group .chip.kept") == min(k, 10)


def test_groups_that_are_not_kept_come_last_with_the_reason(show, moons):
    browser = show("moons")
    kept = [group["kept"] for group in moons[1]["groups"]]
    order = [text(browser, "h1"), *texts(browser, ".rows h2")]
    n_kept = sum(kept)
    assert order == [f"{len(kept)} groups found, {n_kept} kept", "Not kept"]
    reasons = texts(browser, ".group .why")
    assert len(reasons) == len(kept) - n_kept
    assert all(reason.startswith("Not kept: ") for reason in reasons)
