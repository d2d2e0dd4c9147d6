"""Nobody waits for torch who does not fit: it takes as long to import as all the rest."""

import subprocess
import sys
from textwrap import dedent

import pytest

from tests.support.command import ENVIRONMENT

WITHOUT_A_FIT = {
    "estimators": """
        import pickle
        from sklearn.base import clone
        from groupfs import FeatureGroups, GroupFSPath
        for selector in (FeatureGroups(n_groups=4, device="cpu"), GroupFSPath()):
            again = pickle.loads(pickle.dumps(clone(selector)))
            assert again.get_params() == selector.get_params()
            assert repr(again) == repr(selector) and "n_groups" in again._repr_html_()
    """,
    "dataset": "from groupfs.datasets import load_two_moons; load_two_moons(20)",
    "help": """
        from groupfs.cli import app
        app(["--help"], standalone_mode=False)
        app(["select", "--help"], standalone_mode=False)
    """,
}
FITS_IN_THREADS = """
    from concurrent.futures import ThreadPoolExecutor
    from groupfs import FeatureGroups
    from groupfs.datasets import load_two_moons
    X = load_two_moons(60, random_state=0).data
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda seed: FeatureGroups(random_state=seed).fit(X), range(4)))
"""


def imported_by_us(code):
    """Run code in a process of its own; the heavy packages beyond those of scikit-learn."""
    before = "import sys, sklearn.datasets, sklearn.feature_selection\ntheirs = set(sys.modules)\n"
    after = "\nprint(*sorted({'torch', 'pandas', 'matplotlib'} & (set(sys.modules) - theirs)))"
    command = [sys.executable, "-c", before + dedent(code) + after]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize("what", WITHOUT_A_FIT)
def test_without_a_fit_torch_is_not_imported(what):
    assert imported_by_us(WITHOUT_A_FIT[what]) == []


@pytest.mark.slow
def test_torch_comes_with_the_first_fit_also_in_several_threads():
    assert "torch" in imported_by_us(FITS_IN_THREADS)
