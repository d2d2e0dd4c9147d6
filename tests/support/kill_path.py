"""Kill a path at random moments, damage what it kept, start it again: the result stays the same.

``python -m tests.support.kill_path --kills 20 --seed 0`` fits a path in child processes killed
with SIGKILL: at their start, in training, while a part is being written, among the resamples.
Between kills files are damaged at random. Every fit that gets to its end is compared, bit by bit,
with one that nobody disturbed.
"""

import argparse
import json
import multiprocessing
import os
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from groupfs import GroupFSPath
from groupfs.datasets import load_two_moons
from tests.support.fingerprints import fingerprints

#: Names of the files by which a stage has begun.
STAGES = {"training": "path-", "writing": r"\..*checkpoint", "resamples": "resample-", "start": ""}
#: What a fit imports when it begins, torch among it.
MACHINERY = ("groupfs.training.solve", "groupfs.estimators.stability")
DAMAGES = ("bit flipped", "cut short", "emptied", "swapped")


def fitted(folder=None, max_epochs=60):
    """Fit the path of the test: two numbers of groups, three parts each, and resamples."""
    settings = {"n_resamples": 3, "ranking": "gate", "batch_size": 50, "random_state": 0}
    settings |= {"max_epochs": max_epochs, "checkpoint": folder}
    path = GroupFSPath([3, 4], sparsities=np.geomspace(0.3, 2.5, 9), **settings)
    return path.fit(load_two_moons(150, random_state=0).data)


def damage(path, kind, rng):
    """Damage a file, or put a copy of another of its folder in its place."""
    content = bytearray(path.read_bytes())
    if kind == "bit flipped":
        content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
    elif kind == "swapped":
        content = next((o.read_bytes() for o in kept_files(path.parent) if o != path), b"")
    else:
        del content[0 if kind == "emptied" else rng.integers(1, len(content)) :]
    path.write_bytes(content)


def kept_files(folder):
    """List the finished files below a folder, without those that are being written."""
    return sorted(path for path in Path(folder).rglob("[!.]*") if path.is_file())


def child(folder, result, log, max_epochs):
    """Fit, and write down what came out and what was warned of."""
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), sys.stderr.fileno())
    warnings.simplefilter("always")
    Path(result).write_text(json.dumps(fingerprints(fitted(folder, max_epochs))))


class Disturbance:
    """Fits that are killed and whose files are damaged; counts what happened."""

    def __init__(self, folder, seed, max_epochs=60):
        self.kept, self.result, self.log = folder / "kept", folder / "result", folder / "log"
        self.rng, self.max_epochs = np.random.default_rng(seed), max_epochs
        self.kills, self.results, self.damaged = Counter(), [], []
        self.processes = multiprocessing.get_context("forkserver")
        self.processes.set_forkserver_preload(["groupfs.estimators.group_fs_path", *MACHINERY])

    def run(self, stage=None):
        """Fit in a child and kill it in a stage, if any; False if it came to its end before."""
        arguments = (str(self.kept), str(self.result), str(self.log), self.max_epochs)
        process = self.processes.Process(target=child, args=arguments)
        process.start()
        while process.is_alive() and not (stage and self._has_begun(stage)):
            time.sleep(1e-4)
        if stage != "writing":
            process.join(self.rng.uniform(0, 0.3))
        process.kill()
        process.join()
        if process.exitcode == -9:
            self.kills[stage] += 1
            return True
        assert process.exitcode == 0, self.log.read_text()
        assert not any(self.kept.iterdir()), "a fit that has ended leaves nothing behind"
        self.results.append(json.loads(self.result.read_text()))
        return False

    def damage_one(self, kind):
        """Damage one of the files, if there is one whose damage is not waiting to be noticed."""
        paths = [path for path in kept_files(self.kept) if path.name not in self.unreported()]
        for path in self.rng.permutation(paths)[:1]:
            damage(path, kind, self.rng)
            self.damaged.append(path.name)

    def unreported(self):
        """Count the damaged files that no fit has warned of."""
        lines = self.log.read_text() if self.log.exists() else ""
        return Counter(self.damaged) - Counter(re.findall(r"([^/\s]+) cannot be used", lines))

    def _has_begun(self, stage):
        names = [name for _, _, names in os.walk(self.kept) for name in names]
        return any(re.match(STAGES[stage], name) for name in ["", *names])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began, undisturbed = time.monotonic(), fingerprints(fitted())
    with tempfile.TemporaryDirectory() as folder:
        work = Disturbance(Path(folder), options.seed)
        while work.kills.total() < options.kills:
            stage = list(STAGES)[(work.kills.total() + len(work.results)) % len(STAGES)]
            if work.run(stage) and work.rng.random() < 0.5:
                work.damage_one(str(work.rng.choice(DAMAGES)))
        work.run()
        same, missed = [result == undisturbed for result in work.results], work.unreported()
    print(f"kills: {dict(work.kills)}; damages: {len(work.damaged)}, unnamed: {missed.total()}")
    print(f"fits to the end: {len(same)}; identical: {sum(same)}; {time.monotonic() - began:.0f} s")
    return 0 if all(same) and not missed else 1


if __name__ == "__main__":
    raise SystemExit(main())
