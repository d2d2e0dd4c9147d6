"""Commands in processes of their own: they can be cancelled, and give their memory back."""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import tempfile
import threading
import warnings
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

#: Seconds that a cancelled command has to take back what is unfinished, and between two looks.
PATIENCE, EVERY = 5.0, 0.05
#: What is said of a process that did not say itself how it ended.
KILLED = "The work was ended from outside, most often because memory ran out; try fewer rows."
#: What the page shows of the summary of a result.
SHOWN = ("headline", "level", "levels_sentence", "selection")


@dataclass(eq=False, kw_only=True)
class Task:
    """One command on one file: what is asked for, how far it is, and what came out."""

    action: str  #: look, select, or the table to make: scores or columns
    request: Any
    folder: Path  #: where the file is, and where results go
    state: str = "running"  #: in the end done, failed or cancelled
    steps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    result: Any = None
    error: str = ""

    async def follow(self) -> None:
        """Run the command to its end; where this is cancelled, so is the command."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        asked_for = (self.action, self.request, self.folder, theirs)
        process = context.Process(target=_work, args=asked_for)
        state, content = "failed", KILLED
        try:
            with ours, contextlib.suppress(EOFError, OSError):  # nobody is there, or could be
                with theirs:
                    process.start()
                while True:
                    while not ours.poll():
                        await asyncio.sleep(EVERY)
                    kind, said = ours.recv()
                    if kind in ("steps", "notes"):
                        getattr(self, kind).extend(said)
                    else:
                        state, content = kind, said
        except asyncio.CancelledError:
            process.terminate()
            if state != "done":  # what it has written is there
                state, content = "cancelled", ""
            raise
        finally:
            if process.pid is not None:
                await asyncio.to_thread(process.join, PATIENCE)
                process.kill()
                process.join()
                process.close()
            self.result, self.error = (content, "") if state == "done" else (None, content)
            self.state = state


def _work(action: str, request: Any, folder: Path, pipe: Connection) -> None:
    """Do what is asked for in this process, and tell of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):  # nobody waits for more
        threading.Thread(target=_end_with_server, daemon=True).start()
        os.chdir(folder)
        tempfile.tempdir = str(folder)  # all is removed with it
        from groupfs.cli.errors import sentence_and_code

        try:
            pipe.send(("done", _act(action, request, pipe)))
        except Exception as error:
            pipe.send(("failed", sentence_and_code(error)[0]))


def _act(action: str, request: Any, pipe: Connection) -> Any:
    from groupfs.cli import other_table
    from groupfs.cli.page.look import look
    from groupfs.cli.select import select
    from groupfs.utils.progress import listening

    def step(*steps: str) -> None:
        pipe.send(("steps", steps))

    def note(*notes: str) -> None:
        pipe.send(("notes", notes))

    with warnings.catch_warnings(), listening(step):
        warnings.simplefilter("ignore")
        if action == "look":
            return look(request)
        if action != "select":
            make = other_table.scores if action == "scores" else other_table.apply
            return make(request, step, note)
        summary = select(request, step, note)
    return {
        **{name: summary[name] for name in SHOWN},
        **{name: summary["table"][name] for name in ("n_samples", "n_features")},
        "levels": [one["n_groups"] for one in summary["levels"]],
        "has_scores": any(group["kept"] for group in summary["groups"]),
        "has_conditions": bool(summary.get("conditions")),
    }


def _end_with_server() -> None:
    server = multiprocessing.parent_process()
    wait([server.sentinel] if server else [])
    os._exit(1)
