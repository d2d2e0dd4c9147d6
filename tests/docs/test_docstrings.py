"""Examples in the docstrings of public classes print what they say.

Public classes name ``groupfs`` as their module, wherever they are written, so ``--doctest-modules``
passes over them.
"""

import contextlib
import doctest
import importlib
import io

import pytest

pytestmark = pytest.mark.docs
FINDER = doctest.DocTestFinder(exclude_empty=True)


def examples_of(thing, name):
    """The examples of a class with its methods, or of a function, wherever it is written."""
    return [test for test in FINDER.find(thing, name, module=False) if test.examples]


def public_examples():
    for module in map(importlib.import_module, ("groupfs", "groupfs.baselines")):
        for name in module.__all__:
            if callable(getattr(module, name)):
                yield from examples_of(getattr(module, name), f"{module.__name__}.{name}")


def failures(test):
    """What doctest prints of examples that went wrong."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        doctest.DocTestRunner(verbose=False).run(test, clear_globs=True)
    return printed.getvalue()


@pytest.mark.slow
def test_examples_of_public_classes_print_what_their_docstrings_say():
    tests = list(public_examples())
    names = {test.name for test in tests}
    assert {"groupfs.FeatureGroups", "groupfs.GroupFS", "groupfs.GroupFSPath"} < names
    assert "".join(map(failures, tests)) == ""


def test_a_wrong_example_is_found():
    class Wrong:
        """
        >>> 1 + 1
        3
        """

        __module__ = "groupfs"

    (test,) = examples_of(Wrong, "Wrong")
    assert "Expected:\n    3\nGot:\n    2" in failures(test)
