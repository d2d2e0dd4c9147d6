"""Nobody waits for torch who does not train: it takes as long to import as all the rest."""

import subprocess
import sys
from textwrap import dedent

import pytest

from tests.support.command import ENVIRONMENT

WITHOUT_A_FIT = """
    import pickle
    from sklearn.base import clone
    from groupfs import FeatureGroups, GroupFSPath
    from groupfs.cli import app
    from groupfs.datasets import load_two_moons
    for selector in (FeatureGroups(n_groups=4, device="cpu"), GroupFSPath()):
        again = pickle.loads(pickle.dumps(clone(selector)))
        assert again.get_params() == selector.get_params()
        assert repr(again) == repr(selector) and "n_groups" in again._repr_html_()
    load_two_moons(20)
    app(["--help"], standalone_mode=False)
    app(["select", "--help"], standalone_mode=False)
"""
FITS_IN_THREADS = """
    from concurrent.futures import ThreadPoolExecutor
    from groupfs import FeatureGroups, GroupFS
    from groupfs.datasets import load_two_moons
    X = load_two_moons(60, random_state=0).data
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda seed: {}.fit(X), range(4)))
"""


def imported_by_us(code):
    """Run code in a process of its own; the heavy packages beyond those of scikit-learn."""
    before = "import sys, sklearn.datasets, sklearn.feature_selection\ntheirs = set(sys.modules)\n"
    after = "\nprint(*sorted({'torch', 'pandas', 'matplotlib'} & (set(sys.modules) - theirs)))"
    command = [sys.executable, "-c", before + dedent(code) + after]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return done.stdout.splitlines()[-1].split()


def test_estimators_datasets_and_help_import_no_torch_without_a_fit():
    assert imported_by_us(WITHOUT_A_FIT) == []


@pytest.mark.slow
def test_torch_comes_with_the_first_training_alone_also_in_several_threads():
    default, joint = "FeatureGroups(random_state=seed)", "GroupFS(max_epochs=5, random_state=seed)"
    assert "torch" not in imported_by_us(FITS_IN_THREADS.format(default))
    either = FITS_IN_THREADS.format(f"({joint} if seed % 2 else {default})")
    assert "torch" in imported_by_us(either)
