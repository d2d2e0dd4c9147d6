"""Take the two pictures of the page on ``groupfs app``.

Run ``python docs/guide/draw_page.py FOLDER``; FOLDER holds ``known-groups/bfi.npz``, to which an id
and a sex are added by chance. Needs selenium, chromium and its driver.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from draw_report import IMAGES, start_browser, take


def survey(folder: Path) -> pd.DataFrame:
    bfi, rng = np.load(folder / "known-groups" / "bfi.npz"), np.random.default_rng(0)
    frame = pd.DataFrame(bfi["X"], columns=bfi["names"])
    frame.insert(0, "id", np.arange(1, len(frame) + 1))
    frame.insert(1, "sex", rng.choice(["f", "m"], len(frame)))
    return frame


def wait(condition: Callable[[], Any]) -> None:
    while not condition():
        time.sleep(0.2)


def main(folder: Path) -> None:
    path = Path(tempfile.mkdtemp()) / "survey.csv"
    survey(folder).to_csv(path, index=False)
    command = [sys.executable, "-u", "-m", "groupfs", "app"]
    app = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert app.stdout is not None
    address, browser = app.stdout.readline().split()[-1], start_browser()
    size = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(address)
    browser.find_element("id", "file").send_keys(str(path))
    wait(lambda: "/file/" in browser.current_url)
    browser.find_element("css selector", "[aria-label='What to do with sex']").send_keys("comp")
    take(browser, 0, 1000).save(IMAGES / "page-columns.png", optimize=True)
    browser.find_element("name", "run").click()
    wait(lambda: browser.find_elements("tag name", "iframe"))
    time.sleep(2)
    take(browser, 0, 1250).save(IMAGES / "page-groups.png", optimize=True)
    browser.quit()
    app.terminate()
    app.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
