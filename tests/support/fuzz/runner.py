"""Inputs in worker processes that may crash, hang or eat memory, and a table of what came out."""

import collections
import json
import os
import pickle
import re
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

from tests.support.fuzz.targets import (
    KINDS,
    SEEDS,
    drawn,
    make_input,
    outcome,
    prepare_folder,
    seeds_of,
)

ROOT = Path(__file__).parents[3]
#: Seconds that one input may take, and bytes of address space beyond those of the idle worker.
LONGEST, MOST_MEMORY = 10.0, 1_500_000_000
#: Inputs after which a worker is replaced by a fresh one.
WORK_LIFE = 20_000
#: What no reader may do: run programs, unpickle, talk to the network.
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "pty.spawn")
FORBIDDEN += ("pickle.find_class", "socket.connect", "ctypes.dlopen", "os.spawn")


def fuzz(inputs, seed, *, kinds=None, start=0, keep=None, report=lambda done, finding=None: None):
    """Run inputs ``start`` to ``start + inputs``; counts per kind, and the findings.

    Parameters
    ----------
    kinds : list of str or None
        Which kinds alone, e.g. ``["mat"]``.
    keep : Path or None
        Folder for the inputs that were findings.
    report : callable
        Told how many inputs are done, now and then, and every finding at once.
    """
    counts = collections.defaultdict(collections.Counter)
    findings = []
    stop, index = start + inputs, start
    with tempfile.NamedTemporaryFile() as seeds:
        pickle.dump({kind: seeds_of(kind) for kind in kinds or KINDS}, seeds)
        seeds.flush()
        while index < stop:
            last = min(stop, index + WORK_LIFE)
            task = {"seed": seed, "start": index, "stop": last, "kinds": kinds}
            task |= {"seeds": seeds.name, "keep": keep and str(keep)}
            for kind, result in _work(task):
                counts[kind][result["outcome"]] += 1
                if result["outcome"] == "finding":
                    findings.append({"index": index, "kind": kind, **result})
                    report(index - start, findings[-1])
                index += 1
                if index % 1000 == 0:
                    report(index - start)
    return counts, findings


def table(counts, findings):
    """The table that the long run prints, and each sort of finding once."""
    columns = ("accepted", "refused", "finding")
    lines = [f"{'kind':10} {'inputs':>8} {'accepted':>9} {'refused':>8} {'findings':>9}"]
    every = collections.Counter()
    for kind in sorted(counts):
        every.update(counts[kind])
    for kind, count in [*sorted(counts.items()), ("all", every)]:
        numbers = [sum(count.values()), *(count[column] for column in columns)]
        lines.append("{:10} {:8} {:9} {:8} {:9}".format(kind, *numbers))
    sorts = collections.defaultdict(list)
    for finding in findings:
        sorts[finding["kind"], re.sub(r"\d+|'[^']*'", "#", finding["what"])].append(finding)
    for alike in sorted(sorts.values(), key=len, reverse=True):
        first = alike[0]
        lines.append(f"\n{len(alike)} x {first['kind']} (input {first['index']}): {first['what']}")
        lines += [f"    {line}" for line in first.get("where", [])]
    return "\n".join(lines)


def _work(task):
    """Results of one worker's inputs in order; fewer than asked for if it had to be given up."""
    with tempfile.TemporaryDirectory(dir=_quick_folder()) as folder:
        yield from _supervised({**task, "folder": folder})


def _supervised(task):
    reading, writing = os.pipe()
    settings = {"OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.support.fuzz.runner", json.dumps(task), str(writing)],
        pass_fds=[writing],
        cwd=ROOT,
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    index, stop, patience = (
        task["start"],
        task["stop"],
        120.0,
    )  # the first line comes after all imports
    with open(reading, "rb", buffering=0) as pipe:
        waiting = b""
        while index < stop:
            ready, _, _ = select.select([pipe], [], [], patience)
            piece = pipe.read(65536) if ready else b""
            if not piece:
                what = "crash" if ready else f"no end after {patience:g} s"
                break
            *lines, waiting = (waiting + piece).split(b"\n")
            for line in lines:
                if patience == LONGEST:
                    kind, result = json.loads(line)
                    yield kind, result
                    index += 1
                patience = LONGEST
    if index == stop:
        worker.wait()
        worker.stderr.close()
        return
    try:
        worker.wait(5 if what == "crash" else 0)
    except subprocess.TimeoutExpired:
        worker.kill()
    said = worker.stderr.read().decode(errors="replace").strip().splitlines()
    said = [line[:200] for line in said if not line.startswith("Extension modules")][:12]
    worker.wait()
    worker.stderr.close()
    if patience != LONGEST:
        raise RuntimeError("the worker did not start: " + "\n".join(said))
    if what == "crash":
        what = f"crash of the interpreter (exit code {worker.returncode})"
    _, kind = drawn(task["seed"], index, task["kinds"])
    for path in Path(task["folder"]).glob("fuzz-*"):
        _keep(task, index, kind, path)
    yield kind, {"outcome": "finding", "what": what, "where": said}


def _keep(task, index, kind, path):
    """Put an input that was a finding where it can be looked at."""
    if task["keep"]:
        Path(task["keep"]).mkdir(parents=True, exist_ok=True)
        name = f"{kind.replace(' ', '-')}-{task['seed']}-{index}-{path.name}"
        shutil.copy(path, Path(task["keep"], name))


def _worker(task, pipe):
    """Read input after input in this process and write what came of each on the pipe."""
    import faulthandler

    SEEDS.update(pickle.loads(Path(task["seeds"]).read_bytes()))
    faulthandler.enable()
    warnings.simplefilter("ignore")
    events = []
    watching = False

    def watch(event, arguments):
        if watching and event.startswith(FORBIDDEN):
            events.append(f"{event} {arguments!r:.200}")

    sys.addaudithook(watch)
    folder = Path(task["folder"])
    with open(pipe, "wb", 0) as out:
        prepare_folder(folder, [kind for kind in task["kinds"] or KINDS if kind in KINDS])
        _limit_memory()
        out.write(b"ready\n")
        for index in range(task["start"], task["stop"]):
            kind, name, data = make_input(task["seed"], index, task["kinds"])
            path = folder / f"fuzz-{name}"
            path.write_bytes(data)
            watching = True
            result = _result(kind, path)
            watching = False
            if events:
                result = {"outcome": "finding", "what": f"ran code: {events[0]}"}
                events.clear()
            if result["outcome"] == "finding":
                _keep(task, index, kind, path)
            path.unlink(missing_ok=True)
            out.write(json.dumps([kind, result]).encode() + b"\n")


def _result(kind, path):
    try:
        return {"outcome": outcome(kind, path)}
    except Exception as error:
        what = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        places = traceback.extract_tb(error.__traceback__)[-4:]
        where = [f"{place.filename}:{place.lineno} {place.line}" for place in places]
        return {"outcome": "finding", "what": what, "where": where}


def _quick_folder():
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and os.access(memory, os.W_OK) else None


def _limit_memory():
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:  # not Linux
        return
    limit = pages * resource.getpagesize() + MOST_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    _worker(json.loads(sys.argv[1]), int(sys.argv[2]))
