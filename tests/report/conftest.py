import copy

import numpy as np
import pandas as pd
import pytest

from groupfs import FeatureGroups, GroupFS
from groupfs.report import render, summarize, summarize_check
from tests.support.browser import chromium
from tests.support.report_tables import (
    HOSTILE,
    fitted,
    many_features,
    many_groups,
    mixed_table,
    moons_table,
    noise_table,
)

#: Paper of A4 less the margins browsers leave, in css pixels.
PAPER, PHONE, DESK = 718, 390, 1200
QUESTION = "How often in the last four weeks did you feel that there was too much to be done?"


@pytest.fixture(scope="package")
def table():
    return moons_table()


@pytest.fixture(scope="package")
def selector(table):
    return fitted(table[0])


@pytest.fixture(scope="package")
def summary(selector, table):
    return summarize(selector, table[0], labels=table[1], label_name="moon", source="moons.csv")


@pytest.fixture(scope="package")
def mixed():
    """A selector that found groups with reversed features, and features in no group; its table."""
    X = mixed_table()
    return FeatureGroups(random_state=0).fit(X), X


@pytest.fixture(scope="package")
def nested():
    """A selector that found four groups within two, and its table."""
    rng = np.random.default_rng(0)
    broad = np.repeat(rng.standard_normal((400, 2)), 2, axis=1)
    narrow = np.repeat(broad + 0.8 * rng.standard_normal((400, 4)), 10, axis=1)
    values = np.hstack([narrow + 0.5 * rng.standard_normal((400, 40)), rng.normal(size=(400, 2))])
    values[:, 7] *= -1
    names = [f"{kind}{i}" for kind in "abcd" for i in range(10)] + ["noise0", "noise1"]
    X = pd.DataFrame(values, columns=names)
    return FeatureGroups(random_state=0).fit(X), X


@pytest.fixture(scope="package")
def joint(table):
    """A selector of the joint method, which has gates and no p-values, and its table."""
    settings = {"n_groups": 4, "n_init": 1, "max_epochs": 40, "random_state": 0}
    return GroupFS(**settings).fit(table[0]), table[0]


@pytest.fixture(scope="package")
def nothing():
    """A selector that found no groups, and its table."""
    X = noise_table()
    return FeatureGroups(random_state=0).fit(X), X


@pytest.fixture(scope="package")
def moons():
    """Hostile names and labels."""
    X, labels = moons_table()
    X = X.rename(columns=dict(zip(X.columns, HOSTILE, strict=False)))
    selector = fitted(X)
    told = {"label_name": "moon", "source": "moons.csv", "notes": [HOSTILE[0]]}
    return selector, summarize(selector, X, labels=labels, **told)


@pytest.fixture(scope="package")
def many():
    """A selector of 20,000 features, as many as a gene table has, and its table."""
    return many_features()


@pytest.fixture(scope="package")
def genes(many):
    return summarize(*many)


@pytest.fixture(scope="package")
def pathways():
    """A summary of 2,000 groups."""
    return summarize(*many_groups())


@pytest.fixture(scope="package")
def budgets(mixed):
    """Summaries of budgets spent on a table with groups, noise and a constant column."""
    selector, X = copy.copy(mixed[0]), mixed[1]
    summaries = {}
    for name, each in (("budget", None), ("few", 1)):
        selector.set_params(n_per_group=each, n_features_to_select=11 if name == "budget" else 1)
        summaries[name] = summarize(selector, X)
    return summaries


@pytest.fixture(scope="package")
def folder(tmp_path_factory, moons, genes, mixed, nested, joint, nothing, budgets, pathways):
    """Pages to open in a browser."""
    folder = tmp_path_factory.mktemp("reports")
    twins = pd.DataFrame({"a": np.arange(30.0), "b": -2 * np.arange(30.0)})
    pages = {
        "moons": moons[1],
        "genes": genes,
        "mixed": summarize(*mixed),
        "nested": summarize(*nested),
        "worded": summarize(*nested, wording=dict.fromkeys(nested[1].columns[:30], QUESTION))
        | {"check": summarize_check(nested[0].check(nested[1].iloc[:, 5:]), "another table")},
        "joint": summarize(*joint),
        "nothing": summarize(*nothing),
        "twins": summarize(fitted(twins, n_groups="auto"), twins),
        "pathways": pathways,
        **budgets,
    }
    for name, content in pages.items():
        (folder / f"{name}.html").write_text(render(content), encoding="utf-8")
    return folder


@pytest.fixture(scope="package")
def browser(tmp_path_factory):
    """The system's Chromium, offline."""
    driver = chromium(tmp_path_factory.mktemp("profile"))
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    yield driver
    driver.quit()


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
