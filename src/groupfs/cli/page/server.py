"""Start the page on this machine alone, and end it with nothing left behind."""

import os
import socket
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from groupfs.cli.options import PageRequest
from groupfs.utils.errors import ParameterError

HOST = "127.0.0.1"
STAYS = "All stays on this machine; Ctrl-C here, or Close on the page, ends it and removes all."
#: Nothing is kept in a browser, told to others, or shown within their pages.
HEADERS = [("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")]
HEADERS += [("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "SAMEORIGIN")]


def serve(request: PageRequest, say: Callable[[str], object]) -> None:
    """Serve the page until it is closed; its folder is removed however this process ends."""
    try:
        import uvicorn

        from groupfs.cli.page.routes import Page
        from groupfs.cli.page.state import State
    except ModuleNotFoundError as reason:
        hint = f'The page needs {reason.name}; install it with pip install "groupfs[app]".'
        raise ImportError(hint) from reason
    try:
        listening = socket.create_server((HOST, request.port))
    except OSError as reason:
        why = f"cannot be had ({(reason.strerror or str(reason)).lower()})"
        sentence = f"--port {request.port} {why}; name another, or leave it out."
        raise ParameterError(sentence, "port") from reason
    folder = tempfile.mkdtemp(prefix="groupfs-app-")
    sweep = [sys.executable, str(Path(__file__).with_name("sweep.py")), folder]
    sweeper = subprocess.Popen(sweep, stdin=subprocess.PIPE, start_new_session=True)
    try:
        state = State(Path(folder))
        page = Page(state, lambda: setattr(server, "should_exit", True))
        how: Any = {"log_level": "critical", "server_header": False, "headers": HEADERS}
        how |= {"timeout_graceful_shutdown": 1, "callback_notify": page.watch}
        server = uvicorn.Server(uvicorn.Config(page.app(), **how))
        address = f"http://{HOST}:{listening.getsockname()[1]}/{state.token}/"
        say(f"The page is open at {address}")
        say(STAYS)
        # on Linux without a screen there may be browsers of text
        if not sys.platform.startswith("linux") or {"DISPLAY", "WAYLAND_DISPLAY"} & {*os.environ}:
            webbrowser.open(address)
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass  # the usual end
    finally:
        sweeper.communicate()
    say("Closed; nothing was kept.")
