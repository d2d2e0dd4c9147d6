import io
import time
from types import SimpleNamespace

import numpy as np
import pytest

from groupfs import FeatureGroups
from groupfs.utils import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=Terminal()))
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setenv("COLUMNS", "90")
    return progress.sys.stderr


def test_a_bar_says_what_is_being_done_and_is_gone_in_the_end(terminal, rng):
    hidden = np.repeat(rng.standard_normal((60, 40)), 4, axis=1)
    FeatureGroups(random_state=0).fit(hidden + rng.standard_normal((60, 160)))
    shown = terminal.getvalue()
    steps = ("Reading", "with chance", "Comparing halves", "Dividing", "Describing", "Ordering")
    places = [shown.index(step) for step in steps]
    assert places == sorted(places)
    assert not shown.split("\r")[-2].strip() and progress._bar.get() is None


def test_small_tables_and_what_is_no_terminal_have_no_bar(terminal, monkeypatch, rng):
    X = rng.standard_normal((60, 20))
    FeatureGroups(random_state=0).fit(X)
    assert not terminal.getvalue()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=io.StringIO()))
    with progress.progress(2, np.zeros((3, 1000))):
        progress.doing("Reading")
    assert not progress.sys.stderr.getvalue()


def test_nothing_is_shown_before_two_seconds(monkeypatch):
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=Terminal()))
    with progress.progress(2, np.zeros((3, 1000))):
        progress.doing("Reading")
        time.sleep(0.3)
        progress.doing()
        assert not progress.sys.stderr.getvalue()


def test_an_error_takes_the_bar_away(terminal):
    with pytest.raises(KeyboardInterrupt), progress.progress(2, np.zeros((3, 1000))):
        progress.doing("Reading")
        raise KeyboardInterrupt
    assert progress._bar.get() is None
