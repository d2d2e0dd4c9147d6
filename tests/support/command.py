"""Running the ``groupfs`` command, in this process and in one of its own, on a table of people."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", "COLUMNS": "80"}
COMMAND = [sys.executable, "-m", "groupfs"]

#: The features of the table below that belong to groups.
CHOSEN = [f"{kind}{i}" for kind in "uv" for i in range(4)]
#: Options that select all of these.
KEPT_OF_TWO = ("--groups", 2, "--from-groups", "kept")


def run(*arguments):
    from typer.testing import CliRunner

    from groupfs.cli import app

    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "80"})


def run_process(*arguments, stdout=subprocess.PIPE, **more):
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=120, **more
    )


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def people(n=60, seed=0):
    """Two groups of four features, five of noise, an id, text and a label."""
    rng = np.random.default_rng(seed)
    first, second = rng.standard_normal((2, n))
    columns = {"person_id": [f"p{i:03d}" for i in range(n)]}
    columns |= {f"u{i}": first + 0.3 * rng.standard_normal(n) for i in range(4)}
    columns |= {f"v{i}": second + 0.3 * rng.standard_normal(n) for i in range(4)}
    columns |= {f"w{i}": rng.standard_normal(n) for i in range(5)}
    columns["sex"] = rng.choice(["f", "m"], n)
    columns["job"] = rng.choice(["baker", "cook", "smith"], n)
    columns["outcome"] = np.where(first > 0, "well", "ill")
    return pd.DataFrame(columns)
