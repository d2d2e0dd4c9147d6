"""Commands in processes of their own: they can be cancelled, and give their memory back."""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import tempfile
import threading
import time
import warnings
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

#: Seconds that a cancelled command has to take back what is unfinished.
PATIENCE = 5.0
#: What is said of a process that did not say itself how it ended.
KILLED = "The work was ended from outside, most often because memory ran out; try fewer rows."


@dataclass(eq=False, kw_only=True)
class Task:
    """One command on one file: what is asked for, how far it is, and what came out."""

    action: str  #: look, select, scores or apply
    request: Any
    folder: Path  #: where the file is, and where results go
    state: str = "running"  #: in the end done, failed or cancelled
    steps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    result: Any = None
    error: str = ""

    async def follow(self) -> None:
        """Run the command to its end."""
        await asyncio.to_thread(self._follow)

    def cancel(self) -> None:
        """End the command; it takes back what is unfinished."""
        if self.state == "running":
            self.state = "cancelled"

    def _follow(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        asked_for = (self.action, self.request, self.folder, theirs)
        process = context.Process(target=_work, args=asked_for)
        process.start()
        theirs.close()
        kind, content, waits_until = "failed", KILLED, float("inf")
        with ours, contextlib.suppress(EOFError, OSError):
            while time.monotonic() < waits_until:
                if self.state == "cancelled" and waits_until == float("inf"):
                    process.terminate()
                    waits_until = time.monotonic() + PATIENCE
                if not ours.poll(0.1):
                    continue
                said = ours.recv()
                self.steps += said.get("step", [])
                self.notes += said.get("notes", [])
                kind, content = said.get("end", (kind, content))
        process.join(PATIENCE)
        process.kill()
        process.join()
        process.close()
        if self.state == "running":
            self.state = kind
            self.result, self.error = (content, "") if kind == "done" else (None, content)


def _work(action: str, request: Any, folder: Path, pipe: Connection) -> None:
    """Do what is asked for in this process, and tell of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Thread(target=_end_with_server, daemon=True).start()
    from groupfs.cli.errors import sentence_and_code
    from groupfs.utils.progress import listening

    os.chdir(folder)
    tempfile.tempdir = str(folder)  # all is removed with it
    with warnings.catch_warnings(), listening(lambda step: pipe.send({"step": [step]})):
        warnings.simplefilter("ignore")
        try:
            pipe.send({"end": ("done", _act(action, request, pipe))})
        except Exception as error:
            pipe.send({"end": ("failed", sentence_and_code(error)[0])})
        except KeyboardInterrupt:
            pass  # nobody waits for more


def _act(action: str, request: Any, pipe: Connection) -> Any:
    from groupfs.cli import other_table
    from groupfs.cli.page.look import look
    from groupfs.cli.select import select

    if action == "look":
        return look(request)

    def step(text: str) -> None:
        pipe.send({"step": [text]})

    def note(*sentences: str) -> None:
        pipe.send({"notes": sentences})

    if action != "select":
        act = other_table.scores if action == "scores" else other_table.apply
        return act(request, step, note)
    summary = select(request, step, note)
    return {
        **{name: summary[name] for name in ("headline", "level", "levels_sentence", "selection")},
        **{name: summary["table"][name] for name in ("n_samples", "n_features")},
        "levels": [one["n_groups"] for one in summary["levels"]],
        "has_scores": any(group["kept"] for group in summary["groups"]),
        "has_conditions": bool(summary.get("conditions")),
    }


def _end_with_server() -> None:
    server = multiprocessing.parent_process()
    wait([server.sentinel] if server else [])
    os._exit(1)
