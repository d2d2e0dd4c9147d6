"""The list of features and the downloads in a real browser."""

import csv
import io
import time

import pytest

from groupfs.report import groups_table, selected_table
from tests.support.browser import search

pytestmark = pytest.mark.browser


def test_search_looks_in_names_and_reasons(show, moons):
    browser = show()
    assert search(browser, "NOISE_3") == "1 of 20 features"
    found = sum("replication 1.00" in row["why"] for row in groups_table(moons[1]))
    assert found and search(browser, "replication 1.00").startswith(f"{found} of 20")
    first = sum(row["group"] == 1 for row in groups_table(moons[1]))
    assert search(browser, "group 1").startswith(f"{first} of 20")
    assert search(browser, "nothing like it") == "0 of 20 features"


@pytest.mark.parametrize("name", ["budget", "spread"])
def test_reasons_in_the_list_are_those_of_the_summary(show, budgets, name):
    browser = show(name)
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#list tbody tr')]"
        ".map((row) => [row.firstChild.textContent, row.lastChild.textContent])"
    )
    expected = {row["feature"]: row["why"] for row in groups_table(budgets[name])}
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
        for name, value in expected.items():
            written = "" if value is None else str(value)
            assert got[name] == written or float(got[name]) == value, name
