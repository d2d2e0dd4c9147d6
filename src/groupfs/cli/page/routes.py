"""The addresses of the page: a file comes in, its columns are looked at, groups go out.

Every address begins with the token. Files are found by numbers that were given out here and by
names from a list; no name from outside is ever a path.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import jinja2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from groupfs import __version__
from groupfs.cli.page.form import ROLES, Refused, in_order
from groupfs.cli.page.state import LARGEST, MADE, TOO_LARGE, Run, Sheet, State
from groupfs.cli.result_folder import CONDITIONS, FILES, SCORES
from groupfs.report.render import TEMPLATES as OF_REPORT

TEMPLATES = Path(__file__).parent / "templates"
#: Bytes of a form, at most; seconds after which the page closes if no browser has it open.
LARGEST_FORM, UNSEEN = 5_000_000, 1800.0
#: What groupfs select writes, and the endings of tables that are made when they are asked for.
WRITTEN, ENDINGS = (*FILES, CONDITIONS, SCORES), {"csv": "csv", "xlsx": "Excel", "sav": "SPSS"}
#: Nothing comes from elsewhere; the report brings a stricter policy of its own.
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
POLICY += "img-src data:; frame-src 'self'; form-action 'self'; base-uri 'none'"


class Page:
    """What answers at each address; ``close`` ends the server."""

    def __init__(self, state: State, close: Callable[[], None]) -> None:
        self.state, self.close, self.root = state, close, f"/{state.token}"
        loader = jinja2.FileSystemLoader(TEMPLATES)
        self.templates = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True)
        told = {"version": __version__, "largest": LARGEST, "too_large": TOO_LARGE, "to": self.to}
        self.templates.globals |= told | {"root": self.root, "roles": ROLES, "endings": ENDINGS}

    def app(self) -> ASGIApp:
        """Return what a server runs."""
        post = ["POST"]
        routes = [
            Route("/", self.start),
            Route("/seen", self.seen),
            Route("/close", self.closed, methods=post),
            Mount("/static", StaticFiles(directory=TEMPLATES)),
            Mount("/report", StaticFiles(directory=OF_REPORT)),  # whose style the page has, too
            Route("/file", self.take, methods=post),
            Route("/file/{number}", self.columns),
            Route("/file/{number}", self.filled_in, methods=post),
            Route("/file/{number}/codebook", self.take, methods=post),
            Route("/run/{number}", self.run),
            Route("/run/{number}", self.again, methods=post),
            Route("/run/{number}/state", self.progress),
            Route("/run/{number}/{name}", self.file),
        ]
        app = Starlette(
            routes=[Mount(self.root, routes=routes)],  # nothing answers without the token
            exception_handlers=dict.fromkeys((HTTPException, Refused, Exception), self.refuse),
        )
        return TrustedHostMiddleware(app, ["127.0.0.1", "localhost"], www_redirect=False)

    async def watch(self) -> None:
        """Close the page when nothing runs and no browser has had it open for long."""
        if any(run.state == "running" for run in self.state.runs.values()):
            self.state.seen = time.monotonic()  # and what it finds can be fetched for a while
        elif time.monotonic() - self.state.seen > UNSEEN:
            self.close()

    def show(self, name: str, status: int = 200, **parts: Any) -> Response:
        """Render a page."""
        html = self.templates.get_template(f"{name}.html").render(parts)
        return HTMLResponse(html, status, {"Content-Security-Policy": POLICY})

    def to(self, one: Sheet | Run) -> str:
        """Return the address of a file or a run."""
        of = f"run/{one.number}" if isinstance(one, Run) else f"file/{one.folder.name}"
        return f"{self.root}/{of}"

    async def start(self, _: Request) -> Response:
        return self.show("start", sheets=self.state.sheets.values(), runs=self.state.runs.values())

    async def take(self, request: Request) -> Response:
        """Take a table or a codebook; tell the script where to go on, or one sentence."""
        sheet = found(self.state.sheets, request) if "number" in request.path_params else None
        try:
            name = request.query_params.get("name", "")
            sheet = await self.state.take(name, request.stream(), sheet)
        except Refused as reason:
            return JSONResponse({"error": str(reason)}, 422)
        return JSONResponse({"to": self.to(sheet)})

    async def columns(self, request: Request) -> Response:
        sheet = found(self.state.sheets, request)
        return self.show("columns", sheet=sheet, form=sheet.form)

    async def filled_in(self, request: Request) -> Response:
        """Look at the columns as they are wanted now, and find groups if that is asked for."""
        sheet, given = found(self.state.sheets, request), await fields(request)
        words, columns = sheet.look["words"], sheet.look["columns"]
        order = in_order(words, [given.pop(f"step-{i}", "") for i in range(len(words))])
        for name, more in (("missing", given.pop("code", "")), ("order", order)):
            given[name] = f"{given.get(name, '')}\n{more}".strip()
        roles = {of["name"]: given.pop(f"role-{i}", "") for i, of in enumerate(columns)}
        roles = {name: role for name, role in roles.items() if role in ROLES}
        form = replace(sheet.form, texts=given, roles=roles)
        try:
            await self.state.look(sheet, form)
            to = self.state.start(sheet, form) if "run" in given else sheet
            return RedirectResponse(self.to(to), 303)
        except Refused as reason:
            return self.show("columns", 422, sheet=sheet, form=form, error=reason)

    async def run(self, request: Request) -> Response:
        run = found(self.state.runs, request)
        return self.show("found" if run.state == "done" else "running", run=run)

    async def progress(self, request: Request) -> Response:
        return JSONResponse(found(self.state.runs, request).progress)

    async def again(self, request: Request) -> Response:
        """Look for groups once more, at another level or with another selection; or stop."""
        run, given = found(self.state.runs, request), await fields(request)
        if "cancel" in given:
            run.cancel()
        else:
            form = replace(run.form, texts=run.form.texts | given)
            run = self.state.start(run.sheet, form)
        return RedirectResponse(self.to(run), 303)

    async def file(self, request: Request) -> Response:
        """Give a file of a run; tables of other endings are made first."""
        run, name = found(self.state.runs, request), request.path_params["name"]
        kind, _, ending = name.partition(".")
        path = run.folder / run.request.folder / name
        if run.state == "done" and name not in WRITTEN and kind in MADE and ending in ENDINGS:
            path = await self.state.make(run, kind, ending)
        elif run.state != "done" or name not in WRITTEN or not path.is_file():
            raise HTTPException(404)
        is_shown = name == "report.html" and "save" not in request.query_params
        return FileResponse(path, filename=None if is_shown else f"{run.request.folder}-{name}")

    async def seen(self, _: Request) -> Response:
        self.state.seen = time.monotonic()
        return Response(status_code=204)

    async def closed(self, _: Request) -> Response:
        asyncio.get_running_loop().call_later(0.3, self.close)
        return self.show("closed")

    async def refuse(self, request: Request, reason: Exception) -> Response:
        """Say in one sentence what cannot be had."""
        if not request.scope["path"].startswith(f"{self.root}/"):
            return Response("This page is open to those who have its address.\n", 403)
        status, kind = getattr(reason, "status_code", 422), type(reason).__name__
        return self.show("error", status, kind=kind, reason=reason)


def found(among: dict[str, Any], request: Request) -> Any:
    """Return the file or the run of an address."""
    if one := among.get(request.path_params["number"]):
        return one
    raise HTTPException(404)


async def fields(request: Request) -> dict[str, str]:
    """Read what was filled in."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            raise HTTPException(413)
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
