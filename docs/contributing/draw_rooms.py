"""Draw the rooms and their imports (docs/images/rooms.svg, rooms.json), list their modules.

Run ``python docs/contributing/draw_rooms.py``; the page about the rooms includes modules.inc.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path as Curve

PAGES = Path(__file__).resolve().parent
SOURCES = PAGES.parents[1] / "src/groupfs"
#: Rooms from top to bottom, in parts; a room imports from those above it.
PARTS = {
    "under all": {
        "utils": "types, text, devices, threads",
        "groups": "groups and selections as data",
        "metrics": "how good is a selection?",
    },
    "the way of the data": {
        "data": "any X to one checked table",
        "discovery": "which features belong together",
        "selection": "from groups to features",
    },
    "what is said of it": {
        "sentences": "words for it",
        "scales": "alpha, omega, loadings",
        "result": "whatever is asked of a fit",
        "notebook": "what a notebook shows",
    },
    "the estimators": {
        "transform": "selected columns, or scores",
        "preservation": "do groups hold elsewhere?",
        "selector": "what both share",
        "feature_groups": "FeatureGroups",
        "joint": "GroupFS, the published method",
    },
    "beside the way": {
        "files": "files to tables",
        "datasets": "published tables",
        "baselines": "other methods",
        "conditions": "where a group matters",
        "plotting": "figures",
        "report": "result to dict to page",
        "persistence": "model files",
        "anndata": "single cells",
        "cli": "the command",
    },
}
ROOMS = [room for part in PARTS.values() for room in part]
COLORS = dict(zip(PARTS, ("#6b7280", "#1d5b8f", "#4d7c3a", "#7a4a8c", "#b4611e"), strict=True))
#: What a module begins with; that of Cython, after its directives.
FIRST_SENTENCE = re.compile(r'(?:#[^\n]*\n)*r?"""(.*?)(?:\n\n|""")', re.DOTALL)
#: Arrows to these rooms would hide the others.
EVERYWHERE = ("utils", "groups")


def room_imports() -> dict[str, dict[str, list[int]]]:
    """Count imports between rooms, by importer and imported: at the top, inside functions."""
    door = SOURCES / "__init__.py"
    public = {name.name: node.module for node, _ in _imports(door) for name in node.names}
    found: dict[str, dict[str, list[int]]] = {room: {} for room in ROOMS}
    for path in set(SOURCES.rglob("*.py")) - {door, SOURCES / "__main__.py"}:
        importer = path.relative_to(SOURCES).parts[0].removesuffix(".py")
        for node, late in _imports(path):
            modules = [node.module]
            if node.module == "groupfs":  # a public name, or a room
                modules = [public.get(name.name, f"groupfs.{name.name}") for name in node.names]
            for imported in {module.split(".")[1] for module in modules} & set(ROOMS) - {importer}:
                found[importer].setdefault(imported, [0, 0])[late] += 1
    return {a: {b: to[b] for b in ROOMS if b in to} for a, to in found.items()}


def _imports(path: Path) -> Iterator[tuple[ast.ImportFrom, bool]]:
    """Yield imports from the package, and whether they wait until a function is called."""
    tree = ast.parse(path.read_text())
    inside = {n for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "groupfs":
            yield node, node in inside


def module_tables() -> str:
    """Write a table for every room: its modules, and the sentence each begins with."""
    lines = []
    for room in ROOMS:
        lines += ["", f".. rubric:: {room}", "", ".. list-table::", "   :widths: 28 72", ""]
        inside = [*SOURCES.glob(f"{room}/**/*.py"), *SOURCES.glob(f"{room}/**/*.pyx")]
        for path in sorted(inside) or [SOURCES / f"{room}.py"]:
            about = FIRST_SENTENCE.match(path.read_text())
            name = path.relative_to(SOURCES).as_posix().removeprefix(f"{room}/")
            if about and path.stem != "__init__":
                lines += [f"   * - ``{name.removesuffix('.py')}``"]
                lines += [f"     - {' '.join(about[1].split())}"]
    return "\n".join(lines)


def draw(imports: dict[str, dict[str, list[int]]]) -> Figure:
    """Draw rooms from top to bottom, and arrows from those that import to what they import."""
    part_of = {room: part for part, rooms in PARTS.items() for room in rooms}
    y = {room: -i - 0.6 * list(PARTS).index(part_of[room]) for i, room in enumerate(ROOMS)}
    figure = Figure(figsize=(7, 10.4))
    ax = figure.add_axes((0, 0, 1, 1), xlim=(-5.2, 3.1), ylim=(y[ROOMS[-1]] - 0.6, 1.1))
    ax.set_axis_off()
    for room in ROOMS:
        color, about = COLORS[part_of[room]], PARTS[part_of[room]][room]
        box = FancyBboxPatch((-1.9, y[room] - 0.3), 1.9, 0.6, "round,pad=0,rounding_size=0.12")
        ax.add_patch(box).set(color=color)
        ax.text(-0.95, y[room], room, size=10, color="w", weight="bold", ha="center", va="center")
        ax.text(-2.05, y[room], about, size=9, color="#374151", ha="right", va="center")
        for other, (n_imports, _) in imports[room].items():
            if other not in EVERYWHERE:
                ax.add_patch(_arrow(y[room], y[other], n_imports, color))
    for part, (first, *_) in PARTS.items():
        ax.text(-5.1, y[first] + 0.5, part, size=9, color=COLORS[part], style="italic")
    for room in EVERYWHERE:
        ax.text(0.12, y[room], "imported by most rooms, not drawn", size=8, va="center")
    return figure


def _arrow(start: float, end: float, n_imports: int, color: str) -> FancyArrowPatch:
    """Draw an arc as wide as imports are many; thin and dotted if all are inside functions."""
    up, reach = (0.13 if end > start else -0.13), 0.4 + 0.18 * abs(end - start)
    points = [(0.02, start + up), (reach, start + up), (reach, end - up), (0.03, end - up)]
    width, dots = (n_imports**0.5, "-") if n_imports else (0.7, (0, (2, 2)))
    look = {"lw": width, "ls": dots, "mutation_scale": 6 + 2.2 * width, "arrowstyle": "-|>"}
    return FancyArrowPatch(path=Curve(points, [1, 4, 4, 4]), color=color, alpha=0.7, **look)


if __name__ == "__main__":
    found = room_imports()
    lines = ",\n".join(f'"{room}": {json.dumps(found[room])}' for room in ROOMS)
    (PAGES / "rooms.json").write_text(f"{{\n{lines}\n}}\n")
    (PAGES / "modules.inc").write_text(module_tables() + "\n")
    matplotlib.rcParams["svg.hashsalt"] = "rooms"
    draw(found).savefig(PAGES.parent / "images/rooms.svg", metadata={"Date": None})
