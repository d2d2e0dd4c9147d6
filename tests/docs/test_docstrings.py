"""Examples in the docstrings of public classes print what they say.

Public classes name ``groupfs`` as their module, wherever they are written, so ``--doctest-modules``
passes over them.
"""

import doctest

import pytest

import groupfs.baselines


def examples():
    """The examples of public classes with their methods, and of functions."""
    for module in (groupfs, groupfs.baselines):
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                yield from doctest.DocTestFinder().find(thing, f"{module.__name__}.{name}", False)


EXAMPLES = {test.name: test for test in examples() if test.examples}


def test_the_estimators_have_examples():
    assert EXAMPLES.keys() > {"groupfs.FeatureGroups", "groupfs.GroupFS", "groupfs.GroupFSPath"}


@pytest.mark.docs
@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_public_classes_print_what_their_docstrings_say(name):
    assert doctest.DocTestRunner(verbose=False).run(EXAMPLES[name]).failed == 0
