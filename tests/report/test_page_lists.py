"""The lists of groups and features and the downloads in a real browser."""

import csv
import io
import time

import pytest

from groupfs.report import groups_table, selected_table
from tests.support.browser import click, number_of, put, search, text, texts

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
    assert text(browser, ".outside[open] > summary") == "5 features in no group"
    assert texts(browser, ".outside .why") == [
        "4 are unrelated:",
        "1 is constant:",
    ]
    assert texts(browser, ".outside .chip") == [*(f"noise{i}" for i in range(4)), "same"]


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


def test_how_many_of_the_names_out_of_sight_are_selected_is_told(show, genes):
    browser = show("genes")
    size, first = genes["groups"][0]["size"], ".group[data-group='0']"
    put(browser, "by-features", len(genes["explained"]["stops"]) // 2)
    n_selected = int(text(browser, f"{first} .n-kept"))
    n_hidden = n_selected - number_of(browser, f"{first} .chip.kept")
    more = f"+ {size - number_of(browser, f'{first} .chip'):,} more"
    assert n_hidden > 0
    assert text(browser, f"{first} .more-chips") == f"{more}, {n_hidden} of them selected"


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


def test_search_looks_in_names_and_reasons(show, moons):
    browser = show()
    assert search(browser, "NOISE_3") == "1 of 20 features"
    found = sum("chosen 2nd," in row["why"] for row in groups_table(moons[1]))
    assert found and search(browser, "chosen 2nd,").startswith(f"{found} of 20")
    first = sum(row["group"] == 1 for row in groups_table(moons[1]))
    assert search(browser, "group 1").startswith(f"{first} of 20")
    assert search(browser, "nothing like it") == "0 of 20 features"


@pytest.mark.parametrize("name", ["budget", "few"])
def test_the_list_says_of_every_feature_what_it_is_where_it_stands_and_why(show, budgets, name):
    browser = show(name)
    cells = browser.execute_script(
        "return [...document.querySelectorAll('#list tbody tr')]"
        ".map((row) => [...row.children].map((cell) => cell.textContent))"
    )
    found = {cell[0]: cell for cell in cells}
    assert len(cells) == len(found) == 15
    for row in groups_table(budgets[name]):
        _, group, verdict, centrality, stability, second, *_, told = found[row["feature"]]
        assert verdict == row["verdict"] and told.startswith(row["place"])
        why = told[len(row["place"]) :].strip()
        assert row["why"].lower().endswith(why.lower())
        if row["group"] is None:
            assert (group, centrality, stability) == ("none", "–", "–")
        else:
            assert stability == f"{row['stability']:.2f}"
            assert second.startswith(f"group {row['second_group']} (")


@pytest.mark.parametrize("which", ["selected", "groups"])
def test_downloads_are_the_tables(show, moons, tmp_path, which):
    browser = show()
    place = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", place)
    browser.execute_script(f"document.querySelector('[data-download={which}]').click()")
    path, deadline = tmp_path / f"{which}.csv", time.monotonic() + 5
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    found = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    table = {"selected": selected_table, "groups": groups_table}[which](moons[1])
    assert [list(row) for row in found] == [list(row) for row in table]
    for got, expected in zip(found, table, strict=True):
        assert got["feature"] == expected["feature"]
        for name, value in expected.items():
            written = "" if value is None else str(value)
            assert got[name] == written or float(got[name]) == value, name
