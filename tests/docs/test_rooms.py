"""The page about the rooms of the house shows them as they are."""

import json
import runpy
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs/contributing"
REDRAW = "the rooms have changed: run python docs/contributing/draw_rooms.py"


@pytest.fixture(scope="module")
def script():
    pytest.importorskip("matplotlib", reason="the picture is drawn with matplotlib")
    return runpy.run_path(str(PAGES / "draw_rooms.py"))


def test_every_room_is_drawn(script):
    folder = script["SOURCES"]
    found = {path.stem for path in folder.glob("[!_]*.py")}
    found |= {path.parent.name for path in folder.glob("*/__init__.py")}
    assert found == set(script["ROOMS"]), "name the rooms in docs/contributing/draw_rooms.py"


def test_imports_and_modules_shown_are_those_of_the_sources(script):
    assert json.loads((PAGES / "rooms.json").read_text()) == script["room_imports"](), REDRAW
    assert (PAGES / "modules.inc").read_text().strip() == script["module_tables"]().strip(), REDRAW
