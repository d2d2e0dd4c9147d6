"""A csv larger than the memory that ``groupfs select`` may take: seconds and peak memory.

``python -m benchmarks.large_csv --size 4GB --max-memory 2GB`` writes a csv of planted modules into
--folder (a temporary one by default, removed afterwards), selects from it with the command line,
and prints the size of the file, the limit, and the peak of the resident memory of the process and
its children together, looked at every 50 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from groupfs.data.memory_plan import parse_memory

#: Columns, and modules that all of them but a tenth belong to.
COLUMNS, MODULES = 200, 10
#: Rows that are written at a time, and noise beside the factor of a module.
ROWS, NOISE = 5000, 1.2


def write_csv(path: Path, n_bytes: int) -> int:
    """Write rows until the file is so large, and return how many."""
    rng = np.random.default_rng(0)
    module = np.arange(COLUMNS) % MODULES
    noise = np.arange(COLUMNS) >= COLUMNS * 9 // 10
    names = [f"{'noise' if noise[i] else f'm{module[i]}'}_{i}" for i in range(COLUMNS)]
    n_rows = 0
    with path.open("w") as file:
        file.write(",".join(["person_id", *names]) + "\n")
        # rows of one block are shuffled copies of its text: numbers take long to write
        while path.stat().st_size < n_bytes:
            factor = rng.standard_normal((ROWS, MODULES))
            X = factor[:, module] * ~noise + NOISE * rng.standard_normal((ROWS, COLUMNS))
            lines = [",".join(row) for row in np.char.mod("%.6f", X)]
            for _ in range(10):
                order = rng.permutation(ROWS)
                file.writelines(f"{n_rows + i},{lines[j]}\n" for i, j in enumerate(order))
                n_rows += ROWS
                file.flush()
                if path.stat().st_size >= n_bytes:
                    break
    return n_rows


def peak_memory(command: list[str], temporary: Path) -> tuple[int, int]:
    """Run a command; return its exit code and the peak of what it and its children hold."""
    environment = {**os.environ, "TMPDIR": str(temporary)}
    running = psutil.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    peak = 0
    while running.poll() is None:
        try:
            family = [running, *running.children(recursive=True)]
            peak = max(peak, sum(process.memory_info().rss for process in family))
        except psutil.NoSuchProcess:  # one has ended meanwhile
            pass
        time.sleep(0.05)
    return running.returncode, peak


def measure(folder: Path, size: str, max_memory: str) -> dict[str, object]:
    path, out = folder / "large.csv", folder / "results"
    n_rows = write_csv(path, parse_memory(size))
    print(f"wrote {path.stat().st_size / 1e9:.2f} GB, {n_rows:,} x {COLUMNS}", flush=True)
    command = [sys.executable, "-m", "groupfs", "select", str(path), "--max-memory", max_memory]
    temporary = folder / "temporary"
    temporary.mkdir()
    began = time.perf_counter()
    code, peak = peak_memory([*command, "-o", str(out)], temporary)
    seconds = time.perf_counter() - began
    groups = json.loads((out / "result.json").read_text())["groups"] if code == 0 else []
    return {
        "size_gb": round(path.stat().st_size / 1e9, 2),
        "rows": n_rows,
        "limit_gb": round(parse_memory(max_memory) / 1e9, 2),
        "peak_gb": round(peak / 1e9, 2),
        "seconds": round(seconds),
        "exit_code": code,
        "groups": len(groups),
        "temporary_files_left": len(list(temporary.iterdir())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="200MB")
    parser.add_argument("--max-memory", default="1GB")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        print(json.dumps(measure(Path(folder), options.size, options.max_memory), indent=1))


if __name__ == "__main__":
    main()
