"""Start the browser of the tests, and read and handle a page in it."""

import os
import shutil
import time

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")


def chromium(profile):
    """Start the system's Chromium, which reaches this machine alone; none is ever downloaded."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service

    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no chromium with chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    flags = ["headless=new", "disable-dev-shm-usage", "no-first-run"]
    flags += ["disable-background-networking"]
    flags += ["host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    flags += ["no-sandbox"] if os.geteuid() == 0 else []  # the sandbox refuses to run as root
    for flag in (*flags, f"user-data-dir={profile}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    except WebDriverException as reason:
        pytest.skip(f"chromium does not start here: {str(reason).splitlines()[0]}")
    driver.execute_cdp_cmd("Network.enable", {})
    return driver


def put(browser, control, value, event="input"):
    """Set a control as a hand would and give back the milliseconds until all is laid out."""
    return browser.execute_script(
        """
        const control = document.getElementById(arguments[0]);
        const start = performance.now();
        control.value = arguments[1];
        control.dispatchEvent(new Event(arguments[2], {bubbles: true }));
        document.body.getBoundingClientRect();
        return performance.now() - start;
        """,
        control,
        value,
        event,
    )


def click(browser, selector):
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def texts(browser, selector):
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector
    )


def text(browser, selector):
    return texts(browser, selector)[0]


def number_of(browser, selector):
    return len(texts(browser, selector))


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


def open_everything(browser):
    """Show all names of all groups, and whatever is folded away."""
    browser.execute_script(
        """
        for (const part of document.querySelectorAll("details")) part.open = true;
        for (const button of document.querySelectorAll(".more-chips")) button.click();
        """
    )
    time.sleep(0.2)
