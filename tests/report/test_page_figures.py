"""Figures and sliders in a real browser: the whole page follows at once."""

import re

import numpy as np
import pytest

from groupfs.report import selected_table
from groupfs.report.render import TEMPLATES
from groupfs.utils.text import write_p, write_share
from tests.support.browser import click, listed, number_of, picture, put, text, texts

pytestmark = pytest.mark.browser


def test_pictures_follow_the_slider(show):
    browser = show()
    samples, correlations = picture(browser, "after"), picture(browser, "correlation-map")
    put(browser, "by-features", 0)
    assert picture(browser, "after") != samples
    assert picture(browser, "correlation-map") == correlations  # its groups stay kept or not


def test_names_stand_beside_the_map_where_they_fit(show, mixed):
    browser = show("mixed")
    caption = text(browser, "#correlations .aside")
    assert "Reversed features, with a minus, are turned round" in caption
    assert "Shown are" not in caption
    first = mixed[1].columns[mixed[0].representatives_[0]]
    point(browser, "correlation-map", 0.999, 0.03)
    told = text(browser, "#correlation-readout")
    assert told.startswith(f"{first} (group 1) and ") and "(group 2): " in told
    sampled = text(show("genes"), "#correlations .aside")
    assert re.search(r"Shown are \d+ of the 5,000 features in groups, of every group a", sampled)


def point(browser, canvas, across, down):
    """Point at a place of a canvas, given as shares of its width and height."""
    browser.execute_script(
        """
        const canvas = document.getElementById(arguments[0]);
        const box = canvas.getBoundingClientRect();
        const clientX = box.left + arguments[1] * box.width;
        const clientY = box.top + arguments[2] * box.height;
        canvas.dispatchEvent(new PointerEvent("pointermove", {clientX, clientY }));
        """,
        canvas,
        across,
        down,
    )


def test_samples_are_coloured_by_the_group_that_is_chosen(show):
    browser = show("mixed")
    assert number_of(browser, "#colour-by button") == 2
    before = picture(browser, "before")
    assert text(browser, "#classes").endswith(f"score of group 1 ({first_name(browser, 0)})")
    click(browser, "#colour-by button[value='1']")
    assert picture(browser, "before") != before
    assert text(browser, "#classes").endswith(f"score of group 2 ({first_name(browser, 1)})")
    click(browser, "#colour-by button[value='0']")
    assert picture(browser, "before") == before


def first_name(browser, group):
    return text(browser, f".group[data-group='{group}'] .chip.rep")


def test_the_slider_selects_features_and_a_button_leads_back_to_the_fit(show, moons):
    chosen, names = moons[1]["explained"], moons[1]["features"]["name"]
    browser = show()
    for budget in (1, 3, 7, 20):
        put(browser, "by-features", chosen["stops"].index(budget))
        assert set(listed(browser)) == {names[i] for i in chosen["order"][:budget]}
        assert text(browser, "#status").startswith(f"{budget} feature")
    click(browser, "#fitted")
    assert set(listed(browser)) == {row["feature"] for row in selected_table(moons[1])}


def test_groups_stay_kept_wherever_the_slider_is(show, moons):
    browser = show()
    n_kept = moons[1]["selection"]["n_groups"]
    for place in (0, 5, 19):
        put(browser, "by-features", place)
        assert number_of(browser, ".group.kept") == n_kept
        assert f"{n_kept} of 12 groups kept" in text(browser, "#status")


def test_the_slider_answers_within_20_ms_at_20000_features(show, genes):
    browser = show("genes")
    last = len(genes["explained"]["stops"]) - 1
    places = np.linspace(0, last, 15).round().astype(int).tolist()
    # the quickest of three: what other processes take is not the page's
    times = [min(put(browser, "by-features", place) for _ in range(3)) for place in places]
    assert text(browser, "#n-features") == f"{genes['explained']['stops'][-1]:,}"
    assert np.median(times) < 20, times


def test_the_slider_runs_along_the_curve_and_dots_of_groups_light_up(show, mixed):
    selector, explained, held_out = mixed[0], mixed[0].explained_, mixed[0].explained_held_out_
    browser = show("mixed")
    entry = [np.isin(selector.feature_order_, group).argmax() + 1 for group in selector.groups_]
    for k in (1, 2, 4, 12):
        put(browser, "by-features", k - 1)
        told = f"{k} feature{'' if k == 1 else 's'} explain{'s' if k == 1 else ''}"
        share, new = (
            write_share(explained[k - 1]),
            write_share(held_out[k - 1] if k <= len(held_out) else None),
        )
        beside = "" if new in (share, "–") else f" ({new} in rows left out)"
        shares = f"{share}{beside}".replace(" %", "\xa0%")
        assert text(browser, "#explained-readout") == f"{told} {shares}"
        assert f"explain{'s' if k == 1 else ''} {shares}" in text(browser, "#status")
        lit = sum(first <= k for first in entry)
        assert number_of(browser, "#explained-chart .entry.lit") == lit


def test_the_curve_can_be_dragged_and_has_a_button_for_90_percent(show, mixed):
    browser = show("mixed")
    click(browser, "#enough")
    enough = 1 + int(np.searchsorted(mixed[0].explained_, 0.9))
    assert text(browser, "#status").startswith(f"{enough} features")
    assert texts(browser, "#explained-chart .halo") == [f"90\xa0%: {enough} features"]
    chart = browser.find_element("id", "explained-chart")
    webdriver = pytest.importorskip("selenium.webdriver")
    webdriver.ActionChains(browser).click_and_hold(chart).move_by_offset(400, 0).release().perform()
    assert text(browser, "#status").startswith("14 features")  # beyond its end is its end


def test_the_slider_follows_the_order_whatever_the_fit_has_asked_for(show, budgets):
    browser = show("few")
    assert text(browser, "#status").startswith("1 feature selected")
    assert number_of(browser, "#explained-chart .only") == 1
    put(browser, "by-features", 3)
    assert text(browser, "#status").startswith("4 features selectedexplain")
    names = budgets["few"]["features"]["name"]
    assert set(listed(browser)) == {names[i] for i in budgets["few"]["explained"]["order"][:4]}


SHARES = [0, 1e-6, 0.004, 0.00501, 0.125, 0.134996, 0.135, 0.285, 0.5, 0.976, 0.9951, 0.9999999, 1]
P_VALUES = [0, 0.00099, 0.001, 0.0312, 0.05, 0.4, 0.999, 1]


@pytest.mark.parametrize(
    ("name", "python", "values"),
    [
        ("writeShare", write_share, SHARES),
        ("writeP", write_p, P_VALUES),
        ("twoDigits", "{:.2f}".format, [*SHARES, 0.375, 0.615, 0.625, 0.875]),
    ],
)
def test_the_page_writes_numbers_as_python_does(browser, name, python, values):
    script = (TEMPLATES / "format.js").read_text() + f"return arguments[0].map({name});"
    assert browser.execute_script(script, values) == [python(value) for value in values]
