"""The page in the hands of a person: a real browser from the file to what is taken away."""

import json
import time

import numpy as np
import pandas as pd
import pytest

from tests.support.browser import chromium, text, texts

pytestmark = pytest.mark.browser
PHONE, DESK = 390, 1280


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = chromium(tmp_path_factory.mktemp("profile"))
    folder = tmp_path_factory.mktemp("downloads")
    allow = {"behavior": "allow", "downloadPath": str(folder)}
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", allow)
    driver.downloads = folder
    yield driver
    driver.quit()


@pytest.fixture
def start(page, browser):
    size = {"width": DESK, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("performance"), browser.get_log("browser")
    browser.get(page.address)
    return browser


def until(condition, seconds=60):
    for _ in range(seconds * 10):
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError("that did not happen")


def one(browser, selector):
    return browser.find_element("css selector", selector)


def drop(browser, path, field="file"):
    one(browser, f"#{field}").send_keys(str(path))


def arrive(browser, part):
    until(lambda: part in browser.current_url)


def find_groups(browser, survey):
    drop(browser, survey)
    arrive(browser, "/file/")
    one(browser, "button[name=run]").click()
    arrive(browser, "/run/")
    until(lambda: browser.find_elements("tag name", "iframe"))


def requests(browser):
    """Addresses that the browser has asked for."""
    messages = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    sent = (m["params"] for m in messages if m["method"] == "Network.requestWillBeSent")
    return [one["request"]["url"] for one in sent]


def test_from_a_file_to_scores_and_a_short_form(start, page, survey):
    drop(start, survey)
    arrive(start, "/file/")
    assert text(start, "h1") == "people.csv"
    choose = "const s = document.querySelector(`[aria-label='What to do with ${arguments[0]}']`);"
    start.execute_script(f"{choose} s.value = arguments[1]", "outcome", "label")
    start.execute_script(f"{choose} s.value = arguments[1]", "job", "drop")
    one(start, "button[name=run]").click()
    arrive(start, "/run/")
    until(lambda: start.find_elements("tag name", "iframe"))
    assert "groups found" in text(start, "h1")
    assert "--label outcome" in text(start, "pre") and "--drop job" in text(start, "pre")
    start.switch_to.frame(one(start, "iframe"))
    assert "groups found" in text(start, "h1")
    start.switch_to.default_content()
    for file in ("scores.csv", "groups.csv", "scores.xlsx"):
        one(start, f"a[href$='{file}']").click()
    assert until(lambda: (start.downloads / "groupfs-people-scores.xlsx").exists())
    scores = until(lambda: [*start.downloads.glob("groupfs-people-scores.csv")])[0]
    assert (
        scores.read_bytes()
        == page.get(f"/run/{start.current_url.rpartition('/')[2]}/scores.csv")[1]
    )
    number = one(start, "input[name=per_group]")
    assert not number.is_displayed()
    start.execute_script(
        "const s = document.getElementById('select'); s.value = 'each';"
        "s.dispatchEvent(new Event('change'))"
    )
    number.clear()
    number.send_keys("1")
    here = start.current_url
    one(start, ".panels button.main").click()
    until(lambda: start.current_url != here and start.find_elements("tag name", "iframe"))
    assert "--per-group 1" in text(start, "pre")
    asked = requests(start)
    assert asked and all(url.startswith((page.address, "data:", "blob:")) for url in asked)
    assert not [entry for entry in start.get_log("browser") if entry["level"] == "SEVERE"]


def test_what_is_made_has_its_name_whatever_the_letters(start, survey, tmp_path):
    path = tmp_path / "für alle.csv"
    path.write_bytes(survey.read_bytes())
    find_groups(start, path)
    one(start, "a[href$='columns.csv']").click()
    assert until(lambda: (start.downloads / "groupfs-für alle-columns.csv").exists())


def test_a_file_that_is_dropped_is_read(start, survey):
    script = """
        const data = new DataTransfer();
        data.items.add(new File([arguments[0]], "dropped.csv"));
        const drop = new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true});
        document.querySelector("form.drop").dispatchEvent(drop);
    """
    start.execute_script(script, survey.read_text())
    arrive(start, "/file/")
    assert text(start, "h1") == "dropped.csv"


def test_a_gigabyte_is_refused_in_a_sentence(start, tmp_path):
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(1_000_000_000)
    drop(start, path)
    said = until(lambda: text(start, "form.drop [role=alert]"))
    assert said == (
        "huge.csv has 1,000 MB, and this page takes 500 at most; leave out rows or columns, or "
        "have somebody run groupfs select on it."
    )
    assert not [url for url in requests(start) if "huge" in url]


def test_a_wrong_file_is_told_of_where_it_was_dropped(start, tmp_path, survey):
    path = tmp_path / "letter.csv"
    path.write_bytes(b"%PDF-1.7")
    drop(start, path)
    assert "a PDF document" in until(lambda: text(start, "form.drop [role=alert]"))
    drop(start, survey)  # and the next one is taken
    arrive(start, "/file/")


def test_a_closed_tab_is_found_again_and_a_second_one_is_its_own(start, page, survey, tmp_path):
    find_groups(start, survey)
    run = start.current_url
    start.switch_to.new_window("tab")
    start.get(page.address)
    assert run in start.execute_script("return [...document.links].map((a) => a.href)")
    other = tmp_path / "other.csv"
    other.write_bytes(survey.read_bytes())
    find_groups(start, other)
    assert start.current_url != run
    start.close()
    start.switch_to.window(start.window_handles[0])
    start.refresh()
    assert start.current_url == run and text(start, ".facts span") == "people.csv"


def test_all_is_done_with_a_keyboard(start, survey):
    """Tab, space and enter alone; what has the focus is what a person would look for."""
    from selenium.webdriver import ActionChains, Keys

    def press(*keys):
        ActionChains(start).send_keys(*keys).perform()

    def go_to(selector):
        for _ in range(80):
            if start.execute_script(
                "return document.activeElement.matches(arguments[0])", selector
            ):
                return
            press(Keys.TAB)
        raise AssertionError(f"{selector} cannot be reached")

    go_to("#file")
    start.switch_to.active_element.send_keys(str(survey))  # the chooser of files is the system's
    arrive(start, "/file/")
    go_to("[aria-label='What to do with outcome']")
    press("k")  # known classes
    go_to("button[name=run]:focus, button.main")
    press(Keys.ENTER)
    arrive(start, "/run/")
    until(lambda: start.find_elements("tag name", "iframe"))
    assert "--label outcome" in text(start, "pre")
    go_to("#level")
    go_to(".panels button.main")
    outline = start.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    go_to("iframe")


def test_names_for_a_screen_reader_stand_in_order(start, survey):
    def names(*roles):
        tree = start.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        by_id, found = {node["nodeId"]: node for node in tree}, []

        def walk(node):
            if not node["ignored"] and node["role"]["value"] in roles:
                found.append(node["name"]["value"])
            for child in node.get("childIds", ()):
                if child in by_id:
                    walk(by_id[child])

        walk(tree[0])
        return found

    controls = ("link", "button", "combobox", "textbox", "checkbox", "spinbutton")
    assert names(*controls)[:2] == ["groupfs", "Close and remove all"]
    assert any("Drop a file here" in name for name in names("button"))
    drop(start, survey)
    arrive(start, "/file/")
    taken = ["people.csv", "What the columns were taken for"]
    assert names("heading") == [
        *taken,
        "Answers and names",
        "What the columns ask",
    ]
    at = names(*controls)
    first, last = at.index("What to do with person_id"), at.index("What to do with outcome")
    assert last - first == 16 and at.index("Codes for no answer --missing") > last
    assert all(at)
    one(start, "button[name=run]").click()
    arrive(start, "/run/")
    until(lambda: start.find_elements("tag name", "iframe"))
    assert names("heading")[1:3] == ["Take away", "Change"]
    assert all(names(*controls)) and "Level of groups" in names(*controls)


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_nothing_is_wider_than_the_screen(start, survey, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
    start.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def fits():
        return start.execute_script("return document.documentElement.scrollWidth <= innerWidth")

    assert fits()
    drop(start, survey)
    arrive(start, "/file/")
    assert fits()
    one(start, "button[name=run]").click()
    arrive(start, "/run/")
    assert fits()
    until(lambda: start.find_elements("tag name", "iframe"))
    assert fits()


def test_hostile_names_are_text(start, tmp_path, rng):
    hostile = "<img src=x onerror=alert(1)>"
    values = np.repeat(rng.standard_normal((100, 2)), 3, axis=1) + rng.standard_normal((100, 6)) / 2
    path = tmp_path / "names.csv"
    columns = ["a", hostile, "</option><script>alert(1)</script>", "'\"&", "e", "f"]
    pd.DataFrame(values, columns=columns).to_csv(path, index=False)
    drop(start, path)
    arrive(start, "/file/")
    assert texts(start, "tbody th")[:4] == columns[:4]
    one(start, "button[name=run]").click()
    arrive(start, "/run/")
    until(lambda: start.find_elements("tag name", "iframe"))
    assert not start.find_elements("css selector", "img, main script")


def test_a_page_whose_program_has_ended_says_so(start, page):
    """Last of the tests in this file: it closes the page."""
    start.switch_to.new_window("tab")
    start.get(page.address)
    one(start, ".top button").click()
    until(lambda: "Everything was removed" in text(start, "main"))
    start.close()
    start.switch_to.window(start.window_handles[0])
    start.execute_script("fetch(`${root}/seen`).catch(gone)")
    assert until(lambda: one(start, "#gone").is_displayed())
