"""Kill a path at random moments, damage what it kept, start it again: the result stays the same.

``python -m tests.support.kill_path --kills 20 --seed 0`` fits a path in child processes killed
with SIGKILL: right after their start, in training, while a checkpoint is being written, among the
resamples. Between kills checkpoints are damaged at random. Every fit that gets to its end is
compared, bit by bit, with one that nobody disturbed.
"""

import argparse
import dataclasses
import hashlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from groupfs import GroupFSPath
from groupfs.datasets import load_two_moons
from groupfs.training import checkpoints

STAGES = ("start", "training", "writing", "resamples")
DAMAGES = ("bit flipped", "cut short", "emptied", "swapped", "left aside")
#: Seconds after which a child is killed at the latest, once its stage has begun.
LONGEST_WAIT = 0.3
#: Seconds until a child must have ended or reached its stage.
TIME_LIMIT = 120


def fitted(folder=None, max_epochs=60):
    """The path of the test: two numbers of groups, several parts each, and resamples."""
    X = load_two_moons(150, random_state=0).data
    path = GroupFSPath(
        [3, 4],
        sparsities=np.geomspace(0.3, 2.5, 9),
        n_init=2,
        n_resamples=3,
        max_epochs=max_epochs,
        batch_size=50,
        random_state=0,
        checkpoint=folder,
    )
    return path.fit(X)


def fingerprints(selector):
    """A digest of every fitted attribute, seconds left out."""
    return {
        name: hashlib.sha256(b"".join(_pieces(value))).hexdigest()
        for name, value in sorted(vars(selector).items())
        if name.endswith("_") or name == "_support_mask"
    }


def _pieces(value):
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            if key != "seconds":
                yield repr(key).encode()
                yield from _pieces(value[key])
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _pieces(item)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        yield value.tobytes()
    else:
        yield repr(value).encode()


def child(folder, result, log, max_epochs):
    """Fit with many checkpoints, and say what came out."""
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), sys.stderr.fileno())
    warnings.simplefilter("always")
    checkpoints.SAVE_EVERY, checkpoints.SAVE_SHARE = 0.05, 1.0
    found = fingerprints(fitted(folder, max_epochs))
    aside = Path(result).with_suffix(".part")
    aside.write_text(json.dumps(found))
    os.replace(aside, result)


class Disturbance:
    """Fits that are killed and damaged; counts what happened."""

    def __init__(self, place, seed, max_epochs=60):
        self.folder, self.result, self.log = place / "kept", place / "result.json", place / "log"
        self.rng, self.max_epochs = np.random.default_rng(seed), max_epochs
        self.processes = multiprocessing.get_context("forkserver")
        self.processes.set_forkserver_preload(
            ["groupfs.estimators.group_fs_path", "groupfs.datasets"]
        )
        self.kills, self.damages = Counter(), Counter()
        self.half_written = 0
        self.results = []
        self.damaged = []

    def files(self):
        """Names of the files that are kept, and of those being written."""
        walked = os.walk(self.folder)  # which does not mind what goes away meanwhile
        found = [Path(folder) / name for folder, _, names in walked for name in names]
        aside = [path for path in found if path.name.startswith(".")]
        return [path for path in found if path not in aside], aside

    def kill_in(self, stage):
        """Run a child and kill it in one of its stages; False if it came to its end before."""
        process = self._started()
        until = time.monotonic() + TIME_LIMIT
        while process.is_alive() and not self._has_begun(stage):
            assert time.monotonic() < until, f"no {stage} within {TIME_LIMIT} s"
        if stage != "writing":
            process.join(self.rng.uniform(0, LONGEST_WAIT))
        if process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
        process.join()
        if process.exitcode != -signal.SIGKILL:
            self._note_end(process)
            return False
        self.kills[stage] += 1
        self.half_written += len(self.files()[1])
        return True

    def run_to_the_end(self):
        process = self._started()
        process.join(TIME_LIMIT)
        self._note_end(process)

    def damage(self, kind):
        """Damage one of the files that are kept, or leave one aside."""
        waiting = self.unreported()
        kept = [path for path in self.files()[0] if path.name not in waiting]
        if not kept or (kind == "swapped" and len(kept) < 2):
            return
        path = kept[self.rng.integers(len(kept))]
        content = bytearray(path.read_bytes())
        if kind == "bit flipped":
            content[self.rng.integers(len(content))] ^= 1 << int(self.rng.integers(8))
        elif kind == "cut short":
            content = content[: self.rng.integers(1, len(content))]
        elif kind == "emptied":
            content = b""
        elif kind == "swapped":
            content = next(other for other in kept if other != path).read_bytes()
        else:
            path = path.with_name(f".{self.rng.bytes(4).hex()}-{path.name}")
        path.write_bytes(content)
        self.damages[kind] += 1
        if kind != "left aside":
            self.damaged.append(path.name)

    def unreported(self):
        """Damaged files that no fit has warned of."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        reported = Counter(
            Path(line.split(" is damaged")[0]).name.split(": ")[-1]
            for line in lines
            if " is damaged and was ignored" in line
        )
        return Counter(self.damaged) - reported

    def _started(self):
        process = self.processes.Process(
            target=child,
            args=(str(self.folder), str(self.result), str(self.log), self.max_epochs),
        )
        process.start()
        return process

    def _has_begun(self, stage):
        kept, aside = self.files()
        if stage == "start":
            return True
        if stage == "writing":
            return bool(aside)
        word = "-training" if stage == "training" else "resample-"
        return any(word in path.name for path in kept)

    def _note_end(self, process):
        assert process.exitcode == 0, self.log.read_text()
        self.results.append(json.loads(self.result.read_text()))
        kept, aside = self.files()
        assert not kept and not aside, "a fit that has ended leaves nothing behind"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.monotonic()
    undisturbed = fingerprints(fitted())
    with tempfile.TemporaryDirectory() as place:
        work = Disturbance(Path(place), options.seed)
        while work.kills.total() < options.kills:
            stage = STAGES[work.kills.total() % len(STAGES)]
            killed = work.kill_in(stage)
            print(f"{'killed' if killed else 'came to its end before a kill'}: {stage}", flush=True)
            if killed and work.rng.random() < 0.5:
                work.damage(str(work.rng.choice(DAMAGES)))
        work.run_to_the_end()
        same = [result == undisturbed for result in work.results]
        print(f"kills: {work.kills.total()} {dict(work.kills)}")
        print(f"files that a kill left half written: {work.half_written}")
        print(f"damages: {work.damages.total()} {dict(work.damages)}")
        print(f"damaged files that no warning named: {dict(work.unreported()) or 'none'}")
        print(f"fits that came to their end: {len(same)}; identical in all {len(undisturbed)}")
        print(f"  attributes to an undisturbed one: {sum(same)}")
        print(f"{time.monotonic() - began:.0f} s")
        return 0 if all(same) and not work.unreported() else 1


if __name__ == "__main__":
    raise SystemExit(main())
