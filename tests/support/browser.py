"""Read and handle a page in the browser of the tests."""

import time


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
