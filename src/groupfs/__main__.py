"""``python -m groupfs`` is the ``groupfs`` command."""

from groupfs.cli import app

if __name__ == "__main__":
    app(prog_name="groupfs")
