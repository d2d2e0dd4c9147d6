"""The report in a real browser: the system's Chromium, offline; no browser is ever downloaded."""

import base64
import copy
import csv
import io
import json
import os
import shutil
import time

import numpy as np
import pandas as pd
import pytest

from groupfs.report import groups_table, render, selected_table, summarize
from tests.support.report_tables import HOSTILE, fitted, many_features, many_groups, moons_table

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None, reason="no chromium with chromedriver on this machine"
    ),
]
#: Paper of A4 less the margins browsers leave, in css pixels.
PAPER, PHONE, DESK = 718, 390, 1200


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    flags = ["headless=new", "disable-dev-shm-usage", "host-resolver-rules=MAP * ~NOTFOUND"]
    flags += ["no-sandbox"] if os.geteuid() == 0 else []  # the sandbox refuses to run as root
    for flag in (*flags, f"user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    except WebDriverException as reason:
        pytest.skip(f"chromium does not start here: {str(reason).splitlines()[0]}")
    driver.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def moons():
    X, labels = moons_table()
    X = X.rename(columns=dict(zip(X.columns, HOSTILE, strict=False)))
    selector = fitted(X)
    notes = [HOSTILE[0]]
    shape = {"image_shape": (4, 5), "label_name": "moon"}
    return selector, summarize(selector, X, labels=labels, source="moons.csv", notes=notes, **shape)


@pytest.fixture(scope="module")
def genes():
    selector, X = many_features()
    return summarize(selector, X)


@pytest.fixture(scope="module")
def budgets(mixed):
    """Summaries of budgets spent on a table with groups, noise and a constant column."""
    selector, X = copy.copy(mixed[0]), mixed[1]
    summaries = {}
    for name, allocation, n_features in (("budget", "explain", 11), ("spread", "spread", 3)):
        selector.set_params(allocation=allocation, n_features_to_select=n_features)._select()
        summaries[name] = summarize(selector, X)
    return summaries


@pytest.fixture(scope="module")
def folder(tmp_path_factory, moons, genes, mixed, nothing, budgets):
    folder = tmp_path_factory.mktemp("reports")
    (folder / "moons.html").write_text(render(moons[1]), encoding="utf-8")
    (folder / "genes.html").write_text(render(genes), encoding="utf-8")
    (folder / "mixed.html").write_text(render(summarize(*mixed)), encoding="utf-8")
    for name, selected in budgets.items():
        (folder / f"{name}.html").write_text(render(selected), encoding="utf-8")
    twins = pd.DataFrame({"a": np.arange(30.0), "b": -2 * np.arange(30.0)})
    page = render(summarize(fitted(twins, n_groups="auto"), twins))
    (folder / "twins.html").write_text(page, encoding="utf-8")
    (folder / "nothing.html").write_text(render(summarize(*nothing)), encoding="utf-8")
    selector, X = many_groups()
    (folder / "pathways.html").write_text(render(summarize(selector, X)), encoding="utf-8")
    return folder


@pytest.fixture
def show(browser, folder):
    """Open a page at a width, in a theme, on a medium."""

    def opened(name="moons", width=DESK, theme="light", media="screen"):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        look = [{"name": "prefers-color-scheme", "value": theme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": look})
        browser.get_log("browser"), browser.get_log("performance")
        browser.get((folder / f"{name}.html").as_uri())
        return browser

    return opened


def put(browser, control, value, event="input"):
    """Set a control as a hand would and give back the milliseconds until all is laid out."""
    return browser.execute_script(
        """
        const control = document.getElementById(arguments[0]);
        const start = performance.now();
        control.value = arguments[1];
        control.dispatchEvent(new Event(arguments[2], { bubbles: true }));
        document.body.getBoundingClientRect();
        return performance.now() - start;
        """,
        control,
        value,
        event,
    )


def texts(browser, selector):
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector
    )


def text(browser, selector):
    return texts(browser, selector)[0]


def number_of(browser, selector):
    return len(texts(browser, selector))


def open_groups(browser):
    browser.execute_script(
        "for (const group of document.querySelectorAll('.group')) group.open = true"
    )
    time.sleep(0.2)


def listed(browser):
    """Names of the features in the list, once only the selected ones are asked for."""
    put(browser, "which", "kept", "change")
    return texts(browser, "#list tbody tr td:first-child")


def search(browser, words):
    put(browser, "search", words)
    return text(browser, "#matches")


def picture(browser, canvas):
    return browser.execute_script(
        "return document.getElementById(arguments[0]).toDataURL()", canvas
    )


@pytest.mark.parametrize("name", ["moons", "genes", "mixed", "nothing", "twins"])
def test_it_opens_from_disk_without_errors_and_asks_nobody(show, name):
    browser = show(name)
    put(browser, "by-features", 3)
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
    asked = [event["params"]["request"]["url"].split(":")[0] for event in sent]
    assert set(asked) <= {"file", "data"} and asked.count("file") == 1


def test_the_slider_selects_features_and_a_button_leads_back_to_the_fit(show, moons):
    chosen, names = moons[1]["selection"], moons[1]["features"]["name"]
    browser = show()
    for budget in (1, 3, 7, 20):
        put(browser, "by-features", chosen["levels"].index(budget))
        assert set(listed(browser)) == {names[i] for i in chosen["order"][:budget]}
        assert text(browser, "#status").startswith(f"{budget} feature")
    browser.execute_script("document.getElementById('fitted').click()")
    assert set(listed(browser)) == {row["feature"] for row in selected_table(moons[1])}


def test_pictures_and_lines_follow_the_slider(show, moons):
    browser = show()
    canvases = ("after", "affinity-map", "pixel-map")
    fitted_pictures = [picture(browser, canvas) for canvas in canvases]
    assert number_of(browser, "#gates-chart path.kept") == moons[1]["selection"]["n_groups"]
    put(browser, "by-features", 0)
    assert number_of(browser, "#gates-chart path.kept") == 1
    for canvas, before in zip(canvases, fitted_pictures, strict=True):
        assert picture(browser, canvas) != before


def test_the_other_slider_selects_groups(show, moons):
    selector, summary = moons
    browser = show()
    put(browser, "by-groups", 3)
    expected = {
        summary["features"]["name"][i]
        for i in selector.select(n_groups_to_select=3, n_features_to_select=None).features
    }
    assert set(listed(browser)) == expected
    assert number_of(browser, ".group.kept") == 3


def test_search_looks_in_names_and_reasons(show, moons):
    browser = show()
    assert search(browser, "NOISE_3") == "1 of 20 features"
    found = sum("100% found again" in row["reason"] for row in groups_table(moons[1]))
    assert found and search(browser, "100% found again").startswith(f"{found} of 20")
    first = sum(row["group"] == 1 for row in groups_table(moons[1]))
    assert search(browser, "group 1").startswith(f"{first} of 20")
    assert search(browser, "nothing like it") == "0 of 20 features"


def test_hostile_names_are_shown_as_text(show):
    browser = show()
    open_groups(browser)
    assert number_of(browser, "img, main script") == 0
    search(browser, "onerror")
    assert text(browser, "#list tbody td") == HOSTILE[0]
    assert browser.get_log("browser") == []


def test_an_open_group_shows_its_features_and_their_correlations(show, moons):
    browser = show()
    browser.execute_script("document.querySelector('.group').open = true")
    time.sleep(0.2)
    chips = texts(browser, ".group .chip.kept")
    first = moons[1]["groups"][0]["features"]
    assert sorted(chips) == sorted(moons[1]["features"]["name"][i] for i in first)
    assert number_of(browser, ".g-body canvas") == 1


def test_the_page_follows_the_theme(show):
    def shade(theme):
        browser = show(theme=theme)
        colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        return sum(map(int, colour.strip("rgb()").split(","))), picture(browser, "affinity-map")

    (light, light_map), (dark, dark_map) = shade("light"), shade("dark")
    assert light > 700 and dark < 150
    assert light_map != dark_map


@pytest.mark.parametrize("name", ["moons", "genes", "mixed", "nothing"])
@pytest.mark.parametrize(
    ("width", "media"), [(PHONE, "screen"), (PAPER, "print"), (DESK, "screen")]
)
def test_nothing_hangs_over_the_edge(show, name, width, media):
    browser = show(name, width, media=media)
    open_groups(browser)
    over = browser.execute_script(
        """
        const width = document.documentElement.clientWidth;
        return [document.documentElement.scrollWidth - width,
          ...[...document.querySelectorAll("body *")]
            .filter((e) => !e.closest("svg") && e.getBoundingClientRect().right > width + 0.5)
            .map((e) => e.tagName + "#" + e.id + "." + e.className)];
        """
    )
    assert over == [0]


def test_it_prints_light_from_a_dark_screen(show):
    browser = show(theme="dark")
    browser.execute_script(
        """
        window.seen = [];
        addEventListener("beforeprint", () => seen.push(
          getComputedStyle(document.documentElement).getPropertyValue("--paper")));
        """
    )
    pdf = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    seen = browser.execute_script("return window.seen")
    assert base64.b64decode(pdf).startswith(b"%PDF") and seen == ["#ffffff"]
    assert number_of(browser, ".group[open]") == 0


def test_the_slider_answers_within_100_ms_at_7129_features(show, genes):
    browser = show("genes")
    last = len(genes["selection"]["levels"]) - 1
    places = np.linspace(0, last, 15).round().astype(int).tolist()
    times = [put(browser, "by-features", place) for place in places]
    assert text(browser, "#n-features") == "7,129"
    assert np.median(times) < 100, times


def on_curve(browser):
    """Where the marker is: its share of the way along the curve, and its height in percent."""
    return browser.execute_script(
        """
        const box = (e) => e.getBoundingClientRect();
        const middle = (e) => [(box(e).left + box(e).right) / 2, (box(e).top + box(e).bottom) / 2];
        const [x, y] = middle(document.querySelector("#explained-chart .here"));
        const line = box(document.querySelector("#explained-chart path.only"));
        return [(x - line.left) / line.width, (100 * (line.bottom - y)) / line.height];
        """
    )


def test_the_slider_runs_along_the_curve_and_groups_light_up_as_they_enter(show, mixed):
    selector, explained = mixed[0], mixed[0].explained_
    browser = show("mixed")
    entry = [np.isin(selector.feature_order_, group).argmax() + 1 for group in selector.groups_]
    for k in (1, 2, 4, 12):
        put(browser, "by-features", k - 1)
        told = f"{k} feature{'' if k == 1 else 's'} explain{'s' if k == 1 else ''}"
        percent = 100 if explained[k - 1] > 0.9995 else int(100 * explained[k - 1])
        assert text(browser, "#explained-readout") == f"{told} {percent}\xa0%"
        assert f"explain{'s' if k == 1 else ''} {percent}\xa0%" in text(browser, "#status")
        across, height = on_curve(browser)
        assert across == pytest.approx(k / 14, abs=0.01)  # the last is the 14th, noise
        assert height == pytest.approx(100 * explained[k - 1], abs=2)
        lit = sum(first <= k for first in entry)
        assert number_of(browser, "#explained-chart .entry.lit") == lit
        assert number_of(browser, ".group.kept") == lit
    put(browser, "by-groups", 1)
    assert text(browser, "#explained-readout") == ""  # what whole groups explain is not known


def test_the_curve_can_be_dragged_and_has_a_button_for_90_percent(show, mixed):
    browser = show("mixed")
    browser.execute_script("document.getElementById('enough').click()")
    enough = 1 + int(np.searchsorted(mixed[0].explained_, 0.9))
    assert text(browser, "#status").startswith(f"{enough} features")
    assert texts(browser, "#explained-chart .halo") == [f"90\xa0%: {enough} features"]
    chart = browser.find_element("id", "explained-chart")
    webdriver.ActionChains(browser).click_and_hold(chart).move_by_offset(400, 0).release().perform()
    assert text(browser, "#status").startswith("14 features")  # beyond its end is its end


def test_the_slider_is_moved_along_the_curve_by_keys(show):
    browser = show("mixed")
    put(browser, "by-features", 2)
    slider = browser.find_element("id", "by-features")
    slider.send_keys(webdriver.Keys.ARROW_RIGHT)
    assert text(browser, "#explained-readout").startswith("4 features explain")


def test_without_budgets_in_its_order_there_is_no_curve(show):
    browser = show("spread")
    assert number_of(browser, "#explained-chart") == 0
    put(browser, "by-features", 3)
    assert text(browser, "#status").startswith("4 features")
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("name", ["budget", "spread"])
def test_reasons_in_the_list_are_those_of_the_summary(show, budgets, name):
    browser = show(name)
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#list tbody tr')]"
        ".map((row) => [row.firstChild.textContent, row.lastChild.textContent])"
    )
    expected = {row["feature"]: row["reason"] for row in groups_table(budgets[name])}
    assert dict(rows) == expected and len(rows) == 15


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
        assert got.get("reason") == expected.get("reason")
        assert (int(got["order"]), float(got["explained"])) == (
            expected["order"],
            expected["explained"],
        )
        assert float(got["score"]) == expected["score"]
        assert float(got["p_adjusted"]) == expected["p_adjusted"]
        assert got.get("kept") == (str(expected["kept"]) if "kept" in expected else None)


def test_reversed_features_have_a_minus_and_say_against_what_they_run(show, mixed):
    selector, X = mixed
    browser = show("mixed")
    marked = texts(browser, "#list td.reversed")
    assert set(marked) == set(X.columns[selector.group_signs_ < 0]) and marked
    look = "return getComputedStyle(document.querySelector('.reversed'), '::before').content"
    assert "−" in browser.execute_script(look)
    title = browser.execute_script("return document.querySelector('.reversed').title")
    assert X.columns[selector.representatives_[0]] in title
    open_groups(browser)
    assert set(texts(browser, ".chip.reversed")) == set(marked)


def test_the_curve_over_the_number_of_groups_has_a_mark_at_the_chosen_one(show, mixed):
    browser = show("mixed")
    assert number_of(browser, "#replication-chart path") == 2
    assert number_of(browser, "#replication-chart circle.point") == 1
    chosen = mixed[0].replication_.best
    assert text(browser, "#replication-chart circle title").startswith(f"{chosen} groups")
    assert number_of(show("moons"), "#replication-chart") == 0  # the number was given


def test_reliability_stands_in_the_list_of_groups(show, mixed):
    shown = [entry.removeprefix("found again") for entry in texts(show("mixed"), ".g-again")]
    assert shown == [f"{100 * r:.0f}%" for r in mixed[0].group_reliability_]


def test_a_budget_beyond_the_groups_counts_features_in_none(show):
    browser = show("mixed")
    put(browser, "by-features", 11)
    assert text(browser, "#status").startswith("12 features in 2 groups")
    assert len(listed(browser)) == 12
    put(browser, "search", "after all is explained")
    assert text(browser, "#matches").startswith("2 of")
    put(show("spread"), "by-features", 11)
    listed(browser)
    put(browser, "search", "more than the groups have")
    assert text(browser, "#matches").startswith("2 of")


def test_a_table_without_groups_still_offers_budgets(show):
    browser = show("nothing")
    assert text(browser, "#status").startswith("Nothing is selected")
    assert number_of(browser, "#by-groups:disabled") == 1
    put(browser, "by-features", 2)
    assert text(browser, "#status").startswith("3 features")
    assert len(listed(browser)) == 3
    assert browser.get_log("browser") == []


def test_a_cut_page_works_and_offers_only_whole_files(show):
    browser = show("pathways")
    assert text(browser, "#status").startswith("20 features in")
    assert texts(browser, "[data-download]:disabled") == texts(browser, "[data-download=groups]")
    last = browser.execute_script("return document.getElementById('by-groups').max")
    put(browser, "by-groups", last)
    assert text(browser, "#status").startswith(f"{2 * int(last):,} features in {int(last):,}")
    put(browser, "by-features", 4)
    assert len(listed(browser)) == 5
    assert browser.get_log("browser") == []
