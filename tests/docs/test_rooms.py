"""The page about the rooms of the house shows them as they are."""

import json
import runpy
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs/contributing"
REDRAW = "the rooms have changed: run python docs/contributing/draw_rooms.py"
SCRIPT = runpy.run_path(str(PAGES / "draw_rooms.py"))


def test_every_room_is_drawn():
    folder = SCRIPT["SOURCES"]
    found = {path.stem for path in folder.glob("[!_]*.py")}
    found |= {path.parent.name for path in folder.glob("*/__init__.py")}
    assert found == set(SCRIPT["ROOMS"]), "name the rooms in docs/contributing/draw_rooms.py"


def test_imports_and_modules_shown_are_those_of_the_sources():
    assert json.loads((PAGES / "rooms.json").read_text()) == SCRIPT["room_imports"](), REDRAW
    assert (PAGES / "modules.inc").read_text().strip() == SCRIPT["module_tables"]().strip(), REDRAW
