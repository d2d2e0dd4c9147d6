"""Docstrings as people read them in Python, made fit for reStructuredText.

A line that ends in a backslash goes on in the next one. A name with an underscore at its end, such
as ``n_features_in_`` in the shape of an array, is a name and not a link.
"""

import re

from sphinx.application import Sphinx

#: Names with a final underscore, outside of literals, roles and longer names.
NAME = re.compile(r"(``.*?``|`.*?`_*)|(?<![\\\w])(\w*[a-z0-9])_(?!\w)")
BEFORE_NUMPYDOC, AFTER_NUMPYDOC = 400, 600


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", join_lines, priority=BEFORE_NUMPYDOC)
    app.connect("autodoc-process-docstring", escape_names, priority=AFTER_NUMPYDOC)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def join_lines(app, what, name, obj, options, lines: list[str]) -> None:
    for place in range(len(lines) - 2, -1, -1):
        if lines[place].endswith("\\"):
            lines[place] = lines[place][:-1].rstrip() + " " + lines[place + 1].lstrip()
            del lines[place + 1]


def escape_names(app, what, name, obj, options, lines: list[str]) -> None:
    for place, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "..")):
            lines[place] = NAME.sub(lambda found: found[1] or rf"{found[2]}\_", line)
