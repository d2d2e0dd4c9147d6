"""Groups by condition in the summary, the csv and the page."""

import copy
import json
import re

import numpy as np
import pytest

from groupfs.conditions import compare, curves
from groupfs.report import conditions_table, render, summarize
from groupfs.report.csv_rows import CONDITIONS_COLUMNS
from tests.support.report_tables import HOSTILE

QUICK = {"n_permutations": 499, "n_bootstrap": 20}


@pytest.fixture(scope="module")
def compared(selector, table):
    X, labels = table
    return compare(selector, X, [HOSTILE[label] for label in labels], **QUICK)


@pytest.fixture(scope="module")
def followed(selector, table):
    X, _ = table
    return curves(selector, X, X.iloc[:, 0], **QUICK)


@pytest.fixture(scope="module")
def with_categories(selector, table, compared):
    return summarize(selector, table[0], conditions=compared)


@pytest.fixture(scope="module")
def with_number(selector, table, followed):
    return summarize(selector, table[0], conditions=followed)


def test_rows_of_the_csv_are_those_of_the_frame(compared, followed, with_categories, with_number):
    for found, summary in ((compared, with_categories), (followed, with_number)):
        assert json.loads(json.dumps(summary, allow_nan=False)) == summary
        rows, frame = conditions_table(summary), found.to_frame()
        assert len(rows) == len(frame) and all(tuple(row) == CONDITIONS_COLUMNS for row in rows)
        np.testing.assert_allclose([row["mean"] for row in rows], frame["mean"], rtol=1e-3)
        np.testing.assert_allclose(
            [row["mean_low"] for row in rows], frame["mean_low"], rtol=1e-3, atol=1e-9
        )


def test_the_sentence_counts_the_groups_that_change(with_categories):
    part = with_categories["conditions"]
    n_changing = sum(group["mean_changes"] for group in part["groups"])
    n_groups = len(part["groups"])
    assert n_changing and f"of {n_groups} groups: {n_changing} in mean" in part["sentence"]


def test_the_page_shows_every_value_and_names_are_text(with_categories):
    page = render(with_categories)
    section = re.search(r'<section id="conditions">.*?</section>', page, re.S)[0]
    assert "<img" not in page and page.count("<script") == page.count("</script>") == 2
    for group in with_categories["conditions"]["groups"]:
        for value in (*group["mean"], *group["cohesion"]):
            text = "–" if value is None else f"{value:.2f}".replace("-", "−")
            assert f">{text}</td>" in section
    n_dots = sum(
        g[f"{w}_changes"]
        for g in with_categories["conditions"]["groups"]
        for w in ("mean", "cohesion")
    )
    assert section.count('class="changes"') == n_dots > 0


def test_lines_of_a_number_stay_in_their_boxes(with_number):
    section = re.search(r'<section id="conditions">.*?</section>', render(with_number), re.S)[0]
    lines = re.findall(r'<poly(?:line|gon) points="(.*?)"', section)
    several = sum(g["cohesion"][0] is not None for g in with_number["conditions"]["groups"])
    assert len(lines) == 2 * (len(with_number["conditions"]["groups"]) + several)
    points = np.array([point.split(",") for line in lines for point in line.split()], float)
    assert points[:, 0].min() == 0 and points[:, 0].max() == 200
    assert points[:, 1].min() >= -0.01 and points[:, 1].max() <= 40.01


def test_colours_of_means_end_at_half_a_deviation_however_small_all_are(with_categories):
    told = copy.deepcopy(with_categories)
    first = told["conditions"]["groups"][0]
    first["mean"] = [0.02, -9.0, *first["mean"][2:]]
    page = render(told).partition('<section id="conditions">')[2]
    cells = re.findall(r'class="figure heat[^>]*--share:(\d+)%', page)
    assert cells[:2] == ["2", "60"]
