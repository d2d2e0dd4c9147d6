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
#: Letters of a name that could lead elsewhere or be an option, and how many bytes are left of it.
UNSAFE, LONGEST = re.compile(r'^.*[/\\]|[\x00-\x1f\x7f:*?"<>|]|^[-.\s]+|[.\s]+$', re.S), 150
#: Steps of a fit if nothing else is asked for; with more the bar waits at its end.
USUAL_STEPS = 10
#: Tables that are made of a result when they are asked for.
MADE: dict[str, Any] = {"scores": ScoresRequest, "columns": ApplyRequest}


@dataclass
class Sheet:
    """A file that was dropped: where it is, how its columns are read, and what is filled in."""

    folder: Path
    name: str
    look: dict[str, Any] = field(default_factory=dict)
    form: Form = Form()
    n_runs: int = 0


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

    def cancel(self) -> None:
        """End it; what is unfinished is taken back."""
        if self.following and not self.following.cancelling():
            self.following.cancel()

    def to_make(self, kind: str, ending: str) -> Task:
        """Return the command that makes a table of the scores, or of the selected columns."""
        found = self.request.folder
        out = Path(f"{found}-{kind}.{ending}")
        request = MADE[kind](found, self.sheet.name, keep=self.request.keep, out=out)
        return Task(action=kind, request=request, folder=self.folder)

    @property
    def commands(self) -> list[str]:
        """Write what the command line would have been, for this and for other tables."""
        tasks = [self, self.to_make("scores", "xlsx"), self.to_make("columns", "csv")]
        return [command_line(task.request, self.sheet.name) for task in tasks]


class State:
    """All of it; ``folder`` is removed when the page is closed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.token, self.seen = folder, secrets.token_urlsafe(24), time.monotonic()
        self.sheets, self.runs = dict[str, Sheet](), dict[str, Run]()

    async def take(
        self, name: str, chunks: AsyncIterator[bytes], sheet: Sheet | None = None
    ) -> Sheet:
        """Take a file in, or a codebook for one, and look at its columns; or keep nothing of it."""
        name, is_new = safe_name(name), sheet is None
        sheet = sheet or Sheet(self.folder / secrets.token_hex(6), name)
        while (path := sheet.folder / name).exists():  # runs may still read what was there
            name = f"new-{name}"
        try:
            await store(chunks, path)
            form = Form() if is_new else replace(sheet.form, codebook=Path(name))
            await self.look(sheet, form)
        except BaseException:
            path.unlink(missing_ok=True)
            if is_new:
                shutil.rmtree(sheet.folder, ignore_errors=True)
            raise
        if is_new:
            ids = [of["name"] for of in sheet.look["columns"] if of["is_id"]]
            sheet.form = Form(roles=dict.fromkeys(ids, "keep"))
            self.sheets[sheet.folder.name] = sheet
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
        await task.follow()
        if task.state != "done":
            raise Refused(task.error)
        return task.result


def safe_name(name: str) -> str:
    """Return the end of a file's name without what could lead elsewhere."""
    name = name.encode()[-LONGEST:].decode(errors="ignore")
    return UNSAFE.sub("", UNSAFE.sub("", name)) or "table"


async def store(chunks: AsyncIterator[bytes], path: Path) -> None:
    """Write an upload to a path; what is refused is read to its end, or a browser hears nothing."""
    size = 0
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("wb") as file:
            async for chunk in chunks:
                size += len(chunk)
                if size <= LARGEST:
                    file.write(chunk)
    except OSError as reason:
        async for _ in chunks:
            pass
        why = (reason.strerror or str(reason)).lower()
        sentence = f"{path.name} could not be kept ({why}); make room and try again."
        raise Refused(sentence) from reason
    if size > LARGEST:
        raise Refused(TOO_LARGE.format(path.name, size / 1e6))
