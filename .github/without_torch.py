"""Use what needs no torch where there is none, and hear from the rest that it needs it.

``python .github/without_torch.py`` in an environment without torch; the tests run it, too.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import scipy.sparse as sp
from sklearn.utils.estimator_checks import check_estimator

import groupfs.baselines
from groupfs import FeatureGroups, GroupFS
from groupfs.cli.doctor import examine
from groupfs.data.memory import LIBRARIES
from groupfs.data.open_table import choose_plan
from groupfs.data.sources import as_source
from groupfs.datasets import load_two_moons

#: Bytes beside what the process holds that are too few for the streamed table.
TOO_FEW = 30_000_000


def tables(folder: Path) -> dict[str, object]:
    """Return a table of every kind, with two groups of five columns each."""
    X = load_two_moons(random_state=0).data
    frame = pd.DataFrame(X.copy(), columns=[f"x{i}" for i in range(X.shape[1])])
    frame["x0"] = pd.cut(frame["x0"], 3, labels=["low", "middle", "high"])
    frame.iloc[::7, 3] = np.nan
    np.save(folder / "large.npy", np.tile(X, (60, 1)))
    large = np.load(folder / "large.npy", mmap_mode="r")
    return {"dense": X, "sparse": sp.csr_array(X), "mixed": frame, "streamed": large}


def refusal(work: object) -> str:
    """Return what somebody who needs torch says."""
    try:
        work()
    except ImportError as error:
        return str(error)
    raise SystemExit("nobody missed torch")


def main() -> None:
    """Fit, check, and print a line for each."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for kind, X in tables(Path(folder)).items():
            memory = psutil.Process().memory_info().rss + LIBRARIES + TOO_FEW
            memory = memory if kind == "streamed" else None
            is_streamed = kind != "mixed" and choose_plan(as_source(X), memory) is not None
            assert is_streamed == (kind == "streamed"), kind
            found = FeatureGroups(random_state=0, max_memory=memory).fit(X)
            assert [len(group) for group in found.groups_] == [5, 5], kind
            assert found.set_params(n_groups_to_select=2).transform(X).shape[1] == 10, kind
            print(f"{kind}: {found.n_groups_} groups")
            del X  # or a file would be in use when the folder goes
    few = load_two_moons(100, random_state=0).data
    assert FeatureGroups(n_groups=4, random_state=0).fit(few).n_groups_ == 4
    for selector in (groupfs.baselines.LaplacianScore(5), groupfs.baselines.MCFS(5)):
        assert selector.fit(few).get_support().sum() == 5
    assert "without torch" in dict(examine())["device"]
    for who, work in {
        "GroupFS": lambda: GroupFS().fit(few),
        "DUFS": lambda: groupfs.baselines.DUFS,
        "device='cuda'": lambda: FeatureGroups(device="cuda").fit(few),
    }.items():
        told = refusal(work)
        assert told == f'{who} needs torch; install it with pip install "groupfs[joint]".', told
        print(told)
    check_estimator(FeatureGroups(random_state=0))
    assert sys.modules.get("torch") is None
    print("scikit-learn's checks pass")


if __name__ == "__main__":
    main()
