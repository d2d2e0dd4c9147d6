"""Take the pictures of the report, and measure its pages.

Run ``python docs/guide/draw_report.py FOLDER OUT``; FOLDER holds ``known-groups/bfi.npz`` (X and
names: the 25 items of the data set bfi of the R package psychTools, gaps filled by medians),
``single-cell/10x_pbmc68k_reduced.h5ad`` (the cells that scanpy ships) and ``student-mat.csv``. OUT
gets every page in every look; the pictures that the documentation shows go to docs/images. Prints
what the pages weigh and how long a move of the slider and another level take. Needs selenium,
chromium and its driver.
"""

import base64
import io
import os
import shutil
import statistics
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from groupfs import FeatureGroups
from groupfs.report import render, summarize

IMAGES = Path(__file__).resolve().parents[1] / "images"
#: A desk, a phone, and paper of A4 less the margins browsers leave, in css pixels.
WIDTHS = {"desk": 1280, "phone": 390, "paper": 718}
#: Every page is taken in these looks: width, theme, medium.
LOOKS = {
    "light": ("desk", "light", "screen"),
    "dark": ("desk", "dark", "screen"),
    "phone": ("phone", "light", "screen"),
    "phone-dark": ("phone", "dark", "screen"),
    "print": ("paper", "light", "print"),
}
#: What the documentation shows: page, look, first part, last part, pixels of either at most.
SHOWN = {
    "report-light": ("bfi", "light", "header", "#groups", 1400),
    "report-dark": ("bfi", "dark", "header", "#groups", 1400),
    "report-map": ("cells", "light", "#correlations", "#samples", 2000),
}
#: Moves the slider to 60 places, three times each; the quickest is what the page takes, the rest
#: what other processes do.
MOVE = """
    const slider = document.getElementById("by-features");
    const move = (place) => {
      const start = performance.now();
      slider.value = Math.round((place * slider.max) / 59);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      document.body.getBoundingClientRect();
      return performance.now() - start;
    };
    return Array.from({ length: 60 }, (_, k) => Math.min(move(k), move(k), move(k)));
"""
#: Chooses every level ten times, the one shown last.
SWITCH = """
    const buttons = [...document.querySelectorAll("#levels input")];
    const choose = (button) => {
      const start = performance.now();
      button.click();
      document.body.getBoundingClientRect();
      return performance.now() - start;
    };
    buttons.sort((a, b) => a.checked - b.checked);
    return Array.from({ length: 10 }, () => buttons.map(choose)).flat();
"""


def tables(folder: Path) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Give the name of every page, its source and its table."""
    bfi = np.load(folder / "known-groups" / "bfi.npz")
    yield "bfi", "bfi.csv", pd.DataFrame(bfi["X"], columns=bfi["names"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file is of an old layout
        cells = anndata.read_h5ad(folder / "single-cell" / "10x_pbmc68k_reduced.h5ad")
    cells = cells.raw.to_adata()
    genes = pd.DataFrame(cells.X.toarray(), columns=cells.var_names)
    yield "cells", "pbmc68k_reduced.h5ad", genes
    yield (
        "student",
        "student-mat.csv",
        pd.read_csv(folder / "student-mat.csv", sep=None, engine="python"),
    )
    yield "many", "20,000 features", many_features()


def many_features(n_samples: int = 300, n_features: int = 20_000) -> pd.DataFrame:
    """Twenty groups of 10 to 105 features within five, a fifth of them reversed, among others."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features))
    broad, start = rng.standard_normal((n_samples, 5)), 0
    for k, size in enumerate(range(10, 110, 5)):
        signs = np.where(rng.random(size) < 0.2, -1, 1)
        shared = 1.2 * rng.standard_normal((n_samples, 1)) + 0.7 * broad[:, [k % 5]]
        X[:, start : start + size] += shared * signs
        start += size
    return pd.DataFrame(X, columns=[f"f{i:05}" for i in range(n_features)])


def start_browser() -> Any:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser")
    flags = ["headless=new", "disable-gpu", "hide-scrollbars", "force-color-profile=srgb"]
    flags += ["no-sandbox"] if os.geteuid() == 0 else []  # the sandbox refuses to run as root
    for flag in (*flags, f"user-data-dir={tempfile.mkdtemp()}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def open_page(browser: Any, path: Path, look: str) -> None:
    width, theme, media = LOOKS[look]
    size = {"width": WIDTHS[width], "height": 900, "deviceScaleFactor": 1}
    size["mobile"] = width == "phone"
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    browser.get(path.as_uri())


def take(browser: Any, top: float, height: float) -> Image.Image:
    """Take a picture of some part of the page, as far down as it is."""
    width = browser.execute_script("return document.documentElement.clientWidth")
    clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
    asked = {"captureBeyondViewport": True, "clip": clip}
    data = browser.execute_cdp_cmd("Page.captureScreenshot", asked)["data"]
    return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def take_shown(browser: Any, first: str, last: str, most: int) -> Image.Image:
    """Take the picture from one part of the page to another."""
    box = "const box = (part) => document.querySelector(part).getBoundingClientRect();"
    ends = f"return [box({first!r}).top, box({last!r}).bottom + 24];"
    top, bottom = browser.execute_script(box + ends)
    return take(browser, top, min(bottom - top, most))


def measure(browser: Any, page: Path) -> None:
    """Print what a page weighs, how long the slider and the switch take, what the console says."""
    open_page(browser, page, "light")
    times = browser.execute_script(MOVE)
    took = f"{statistics.median(times):.0f} ms (at most {max(times):.0f})"
    levels = browser.execute_script(SWITCH)
    took += f", level {statistics.median(levels):.0f} ms (at most {max(levels):.0f})"
    said = browser.get_log("browser") or "nothing"
    print(f"  {page.stat().st_size / 1e6:.2f} MB, slider {took}, console: {said}")


def main(folder: Path, out: Path) -> None:
    out.mkdir(exist_ok=True)
    browser = start_browser()
    for name, source, X in tables(folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            summary = summarize(FeatureGroups(random_state=0).fit(X), X, source=source)
        page = out / f"{name}.html"
        page.write_text(render(summary), encoding="utf-8")
        for look in LOOKS:
            open_page(browser, page, look)
            height = browser.execute_script("return document.documentElement.scrollHeight")
            take(browser, 0, height).save(out / f"{name}-{look}.png")
            for shown, (of, own, first, last, most) in SHOWN.items():
                if (of, own) == (name, look):
                    picture = take_shown(browser, first, last, most)
                    picture.save(IMAGES / f"{shown}.png", optimize=True)
        print(f"{name}: {X.shape[0]:,} x {X.shape[1]:,}, {summary['headline']}")
        measure(browser, page)
    browser.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]).resolve())
