"""The long run: ``python -m tests.support.fuzz --inputs 100000 --seed 0``."""

import argparse
import sys
import time
from pathlib import Path

from tests.support.fuzz.runner import fuzz, table
from tests.support.fuzz.targets import KINDS


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first input")
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), help="these kinds alone")
    parser.add_argument("--keep", type=Path, help="folder for the inputs that are findings")
    given = parser.parse_args()
    started = time.perf_counter()

    def report(done, finding=None):
        seconds = time.perf_counter() - started
        found = "" if finding is None else " {index} {kind}: {what}\n".format(**finding)
        print(f"\r{done} inputs, {seconds:.0f} s{found}", end="", file=sys.stderr, flush=True)

    counts, findings = fuzz(
        given.inputs,
        given.seed,
        kinds=given.kinds,
        start=given.start,
        keep=given.keep,
        report=report,
    )
    print(f"\n{table(counts, findings)}")
    print(f"\nseed {given.seed}, {time.perf_counter() - started:.0f} s")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
