"""The figures in a real browser: the map of correlations, the samples, the curves."""

import re

import pytest

from tests.support.browser import click, number_of, picture, put, text

pytestmark = pytest.mark.browser


def test_pictures_follow_the_slider(show):
    browser = show()
    canvases = ("after", "correlation-map")
    fitted_pictures = [picture(browser, canvas) for canvas in canvases]
    put(browser, "by-features", 0)
    for canvas, before in zip(canvases, fitted_pictures, strict=True):
        assert picture(browser, canvas) != before


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


def test_the_curve_over_the_number_of_groups_has_a_mark_at_the_chosen_one(show, mixed):
    browser = show("mixed")
    assert number_of(browser, "#replication-chart path") == 2
    assert number_of(browser, "#replication-chart circle.point") == 1
    chosen = mixed[0].replication_.best
    assert text(browser, "#replication-chart circle title").startswith(f"{chosen} groups")
    assert number_of(show("moons"), "#replication-chart") == 0  # the number was given
