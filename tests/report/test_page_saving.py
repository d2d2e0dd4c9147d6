"""Figures of the page as files, saved in a real browser that is offline."""

import re
import time
import xml.etree.ElementTree as ET

import pytest

from tests.support.browser import click, number_of, picture, put, text, texts

pytestmark = pytest.mark.browser
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def saved(show, tmp_path):
    """Save a figure of a page as the file of a name and return its bytes."""

    def save(name, page="mixed", **look):
        browser = show(page, **look)
        place = {"behavior": "allow", "downloadPath": str(tmp_path)}
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", place)
        click(browser, f"[data-save='{name}']")
        path, deadline = tmp_path / name, time.monotonic() + 10
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert browser.get_log("browser") == []
        return path.read_bytes()

    return save


def words(svg):
    return " ".join(element.text for element in ET.fromstring(svg).iter(f"{SVG}text"))


@pytest.mark.parametrize("name", ["explained", "correlations", "samples"])
def test_a_figure_stands_alone_on_light_paper_whatever_the_theme(saved, name):
    svg = saved(f"{name}.svg", theme="dark").decode()
    assert next(iter(ET.fromstring(svg))).attrib["fill"] == "#ffffff"
    links = re.findall(r'(?:href="|url\()([^")]{,9})', svg)
    assert all(link.startswith(("data:", "#")) for link in links)
    assert "var(" not in svg and "class=" not in svg and "color(" not in svg
    assert "Save as" not in words(svg)


def test_a_figure_has_its_words_and_its_marks(saved, mixed, show):
    selector, X = mixed
    named = words(saved("correlations.svg"))
    for i, sign in enumerate(selector.group_signs_):
        assert (f"{'−' if sign < 0 else ''}{X.columns[i]}" in named) == (sign != 0)
    samples = saved("samples.svg").decode()
    assert "selected features" in words(samples) and "score of group 1" in words(samples)
    n_points = len(list(ET.fromstring(samples).iter(f"{SVG}path")))
    assert n_points == 2 * len(X)


def test_a_png_is_three_times_as_wide_as_the_svg(saved):
    svg, png = saved("explained.svg"), saved("explained.png")
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(png[16:20]) == 3 * int(ET.fromstring(svg).attrib["width"])


def test_saving_leaves_the_page_as_it_was(saved, show):
    browser = show("mixed", theme="dark")
    put(browser, "by-features", 3)
    before = [text(browser, "#status"), picture(browser, "after"), picture(browser, "before")]
    click(browser, "[data-save='samples.svg']")
    assert before == [text(browser, "#status"), *(picture(browser, i) for i in ("after", "before"))]


def test_every_figure_can_be_saved_by_a_button_that_says_what_it_does(show):
    browser = show("mixed")
    label = "return [...document.querySelectorAll('.save button')].map((e) => e.ariaLabel)"
    told = browser.execute_script(label)
    assert len(told) == 6 and all(re.match(r"Save the figure \w+ as (svg|png)$", t) for t in told)
    assert texts(browser, "figure .save, .legend + .save") == 3 * ["Save as SVGPNG"]
    browser = show("nothing")
    assert number_of(browser, "[data-save^=correlations]") == 0
