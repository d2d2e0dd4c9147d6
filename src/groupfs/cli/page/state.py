"""What is open in the page: files that were dropped, and what was found in them."""

import asyncio
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from groupfs.cli.options import ApplyRequest, ScoresRequest, command_line
from groupfs.cli.page.form import Form, Refused
from groupfs.cli.page.tasks import Task

#: Bytes of an upload, at most, and what is said of more, here and by the script of the page.
LARGEST = 500_000_000
TOO_LARGE = f"{{}} has {{:,.0f}} MB, and this page takes {LARGEST / 1e6:.0f} at most; leave out "
TOO_LARGE += "rows or columns, or have somebody run groupfs select on it."
#: Letters of a name that could lead elsewhere or be an option, and how long it may be.
UNSAFE, LONGEST = re.compile(r'^.*[/\\]|[\x00-\x1f\x7f:*?"<>|]|^[-.\s]+|[.\s]+$', re.S), 120
#: Steps of a fit if nothing else is asked for; with more the bar waits at its end.
USUAL_STEPS = 10


@dataclass
class Sheet:
    """A file that was dropped: where it is, how its columns are read, and what is filled in."""

    folder: Path
    name: str
    look: dict[str, Any] = field(default_factory=dict)
    form: Form = Form()
    n_runs: int = 0

    @property
    def number(self) -> str:
        return self.folder.name


@dataclass(eq=False, kw_only=True)
class Run(Task):
    """Groups that are looked for in a file, or were found."""

    sheet: Sheet
    form: Form
    number: str = field(default_factory=lambda: secrets.token_hex(6))
    making: asyncio.Lock = field(default_factory=asyncio.Lock)
    following: asyncio.Task[None] | None = None

    @property
    def progress(self) -> dict[str, Any]:
        """Tell how far it is."""
        share = min(len(self.steps) / USUAL_STEPS, 0.95)
        return {"state": self.state, "step": [*self.steps, "Starting"][-1], "share": share}

    def to_make(self, kind: str, ending: str) -> Task:
        """Return the command that makes a table of the scores, or of the selected columns."""
        found, table, keep = self.request.folder, self.sheet.name, self.request.keep
        out = Path(f"{found}-{kind}.{ending}")
        if kind == "scores":
            request: Any = ScoresRequest(found, table, keep=keep, out=out)
            return Task(action="scores", request=request, folder=self.folder)
        request = ApplyRequest(found / "model.skops", table, keep=keep, out=out)
        return Task(action="apply", request=request, folder=self.folder)

    @property
    def commands(self) -> list[str]:
        """Write what the command line would have been, for this and for other tables."""
        made = [self.to_make(*of) for of in (("scores", "xlsx"), ("columns", "csv"))]
        return [command_line(task.request, self.sheet.name) for task in (self, *made)]


class State:
    """All of it; ``folder`` is removed when the page is closed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.token = folder, secrets.token_urlsafe(24)
        self.sheets, self.runs = dict[str, Sheet](), dict[str, Run]()
        self.seen, self.made = time.monotonic(), set[Task]()

    @property
    def running(self) -> list[Task]:
        """What is under way."""
        return [task for task in (*self.made, *self.runs.values()) if task.state == "running"]

    async def take(
        self, name: str, chunks: AsyncIterator[bytes], sheet: Sheet | None = None
    ) -> Sheet:
        """Take a file in, or a codebook for one, and look at its columns."""
        if sheet is not None:
            codebook = Path(f"codebook-{safe_name(name)}")
            await store(chunks, sheet.folder / codebook)
            await self.look(sheet, replace(sheet.form, codebook=codebook))
            return sheet
        sheet = Sheet(self.folder / secrets.token_hex(6), safe_name(name))
        sheet.folder.mkdir()
        try:
            await store(chunks, sheet.folder / sheet.name)
            await self.look(sheet, Form())
        except BaseException:
            shutil.rmtree(sheet.folder, ignore_errors=True)
            raise
        aside = [of for of in sheet.look["columns"] if of["why"] in ("id", "about")]
        ids = [of["name"] for of in aside if of["all_differ"] or of["is_named_id"]]
        sheet.form = Form(roles=dict.fromkeys(ids, "keep"))
        self.sheets[sheet.number] = sheet
        return sheet

    async def look(self, sheet: Sheet, form: Form) -> None:
        """Look at the columns of a file with what is filled in; keep both if they go together."""
        request = form.request(sheet.name, roles=("use",))
        sheet.look = await self.do(Task(action="look", request=request, folder=sheet.folder))
        sheet.form = form

    def start(self, sheet: Sheet, form: Form) -> Run:
        """Begin to look for groups in a file."""
        request = form.request(sheet.name)
        sheet.n_runs += 1
        if sheet.n_runs > 1:
            request = replace(request, out=Path(f"{request.folder}-{sheet.n_runs}"))
        run = Run(action="select", request=request, folder=sheet.folder, sheet=sheet, form=form)
        self.runs[run.number] = run
        run.following = asyncio.create_task(run.follow())
        return run

    async def make(self, run: Run, kind: str, ending: str) -> Path:
        """Make a table of a run, once."""
        task = run.to_make(kind, ending)
        async with run.making:
            if not (path := run.folder / task.request.out).exists():
                await self.do(task)
        return path

    async def do(self, task: Task) -> Any:
        """Wait for what a command gives."""
        self.made.add(task)
        try:
            await task.follow()
        finally:
            self.made.discard(task)
        if task.state != "done":
            raise Refused(task.error or "Cancelled.")
        return task.result


def safe_name(name: str) -> str:
    """Return the name of a file without what could lead elsewhere."""
    return UNSAFE.sub("", UNSAFE.sub("", name))[-LONGEST:] or "table"


async def store(chunks: AsyncIterator[bytes], path: Path) -> None:
    """Write an upload to a path; what is too large is read to its end, and not kept."""
    size = 0
    try:
        with path.open("wb") as file:
            async for chunk in chunks:
                size += len(chunk)
                if size <= LARGEST:
                    file.write(chunk)
    except OSError as reason:
        why = (reason.strerror or str(reason)).lower()
        raise Refused(
            f"{path.name} could not be kept ({why}); make room and try again."
        ) from reason
    if size > LARGEST:
        raise Refused(TOO_LARGE.format(path.name, size / 1e6))
