"""Links from the pages to the sources, looked up whenever the pages are built.

``:source:`groupfs.joint.losses.sample_smoothness``` leads to the line of a function, class, method
or constant, and ``:test:`tests/joint/test_losses.py::test_sample_smoothness``` to that of a test,
shown as the sentence that its name is. A name that is gone is a warning, which fails the build.

Sources are read and not imported: the public classes name ``groupfs`` as their module, wherever
they are written, so that :mod:`inspect` does not find them, and constants have no place at all.
"""

import ast
from collections.abc import Sequence
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole

import groupfs

ADDRESS = "https://github.com/groupfs/groupfs/blob/main"
logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("source", SourceRole())
    app.add_role("test", TestRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class SourceRole(ReferenceRole):
    """A link to a definition by its dotted name; the text is the last part of it."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        root = repository(Path(self.env.srcdir))
        try:
            path, line = self.find(root)
        except LookupError as error:
            logger.warning("%s: %s", self.target, error.args[0], location=self.get_location())
            return [nodes.literal(self.rawtext, self.target)], []
        self.env.note_dependency(str(path))  # so that lines are looked up again when it changes
        link = nodes.reference(self.rawtext, "", refuri=address(root, path, line))
        link["reftitle"] = self.target
        link += self.shown()
        return [link], []

    def find(self, root: Path) -> tuple[Path, int]:
        return find_definition(root, self.target)

    def shown(self) -> nodes.Node:
        name = self.target.split(".")[-1]
        return nodes.literal("", self.title if self.has_explicit_title else name)


class TestRole(SourceRole):
    """A link to a test, ``path::name``; the text is its name as a sentence."""

    def find(self, root: Path) -> tuple[Path, int]:
        file, _, name = self.target.partition("::")
        if not (root / file).is_file():
            raise LookupError(f"there is no file {file}")
        return root / file, line_of(root / file, name.split("::"))

    def shown(self) -> nodes.Node:
        claim = self.target.split("::")[-1].removeprefix("test_").replace("_", " ")
        return nodes.inline("", self.title if self.has_explicit_title else claim)


def repository(pages: Path) -> Path:
    """Find the checkout: above the pages or, where these are a copy, around the package."""
    checkouts = (pages.parent, Path(groupfs.__file__).resolve().parents[2])
    return next((root for root in checkouts if (root / "src/groupfs").is_dir()), pages.parent)


def address(root: Path, path: Path, line: int) -> str:
    return f"{ADDRESS}/{path.relative_to(root).as_posix()}#L{line}"


def find_definition(root: Path, dotted: str) -> tuple[Path, int]:
    """Find the file and the line of a definition, or of a whole module."""
    parts = dotted.split(".")
    base = root / "src" if parts[0] == "groupfs" else root
    for n_parts in range(len(parts), 0, -1):
        module = base.joinpath(*parts[:n_parts])
        for path in (module.with_suffix(".py"), module / "__init__.py"):
            if path.is_file():
                return path, line_of(path, parts[n_parts:])
    raise LookupError(f"there is no module {parts[0]}")


def line_of(path: Path, names: Sequence[str]) -> int:
    """Find the line where a name is defined, such as a class and one of its methods."""
    body, line = ast.parse(path.read_text(encoding="utf-8")).body, 1
    for name in names:
        found = next((node for node in body if name in defined_by(node)), None)
        if found is None:
            file = f"{path.parent.name}/{path.name}"
            raise LookupError(f"{file} defines no {'.'.join(names)}")
        body, line = getattr(found, "body", []), found.lineno
    return line


def defined_by(node: ast.stmt) -> set[str]:
    """List the names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return set()
