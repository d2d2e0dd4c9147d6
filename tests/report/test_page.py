"""The page as a whole in a real browser: silent, within its edges, in both themes and on paper."""

import json

import pytest

from tests.report.conftest import DESK, PAPER, PHONE
from tests.support.browser import number_of, open_everything, picture, put, search, text, texts
from tests.support.report_tables import HOSTILE

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    "name", ["moons", "genes", "mixed", "joint", "nothing", "twins", "few", "nested"]
)
def test_it_opens_from_disk_without_errors_and_asks_nobody(show, name):
    browser = show(name)
    put(browser, "by-features", 3)
    open_everything(browser)
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
    asked = [event["params"]["request"]["url"].split(":")[0] for event in sent]
    assert set(asked) <= {"file", "data"} and asked.count("file") == 1


def test_answers_come_first_and_settings_last(show):
    parts = ["groups", "sure", "needed", "explained", "correlations", "samples", "features"]
    browser = show("mixed")
    script = "return [...document.querySelectorAll('main > section')].map((e) => e.id)"
    found = browser.execute_script(script)
    assert [part for part in found if part in parts] == parts and found[-1] == "again"
    assert texts(browser, "#again details[open]") == []


def test_hostile_names_are_shown_as_text(show):
    browser = show()
    open_everything(browser)
    assert number_of(browser, "img, main script") == 0
    assert HOSTILE[0] in texts(browser, ".chip")
    search(browser, "onerror")
    assert text(browser, "#list tbody td") == HOSTILE[0]
    assert browser.get_log("browser") == []


def test_the_page_follows_the_theme(show):
    def shade(theme):
        browser = show(theme=theme)
        colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        channels = sum(map(int, colour.strip("rgb()").split(",")))
        return channels, picture(browser, "correlation-map")

    (light, light_map), (dark, dark_map) = shade("light"), shade("dark")
    assert light > 700 and dark < 150
    assert light_map != dark_map


@pytest.mark.parametrize(
    "name", ["moons", "genes", "mixed", "nested", "worded", "joint", "nothing"]
)
@pytest.mark.parametrize(
    ("width", "media"), [(PHONE, "screen"), (PAPER, "print"), (DESK, "screen")]
)
def test_nothing_hangs_over_the_edge(show, name, width, media):
    browser = show(name, width, media=media)
    open_everything(browser)
    over = browser.execute_script(
        """
        const width = document.documentElement.clientWidth;
        return [document.documentElement.scrollWidth - width,
          ...[...document.querySelectorAll("body *")]
            .filter((e) => !e.closest("svg, .by table"))  // tables scroll in a frame of their own
            .filter((e) => e.getBoundingClientRect().right > width + 0.5)
            .map((e) => e.tagName + "#" + e.id + "." + e.className)];
        """
    )
    assert over == [0]


def test_groups_checked_in_other_rows_are_told_level_by_level(show):
    browser = show("worded")
    assert text(browser, "#check h2") == "In other rows: another table"
    n_groups = number_of(browser, "#groups .at-level:not([hidden]) .group")
    rows = "#check .at-level:not([hidden]) tbody tr"
    assert number_of(browser, rows) == n_groups == number_of(browser, f"{rows} svg")
    assert any("missing: a" in of for of in texts(browser, f"{rows} .word"))


def test_a_cut_page_works_and_offers_only_whole_files(show):
    browser = show("pathways")
    assert text(browser, "#status").startswith("20 features selected")
    assert texts(browser, "[data-download]:disabled") == texts(browser, "[data-download=groups]")
    put(browser, "by-features", 4)
    assert number_of(browser, ".chip.kept[data-feature]") == 5
    assert browser.get_log("browser") == []
