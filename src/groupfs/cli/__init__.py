"""The ``groupfs`` command.

``commands`` has the commands and what their help teaches, ``options`` their options; ``select``,
``other_table`` and ``doctor`` do the work, ``result_folder`` writes results, ``printing`` prints
them, ``errors`` turns every error into a sentence and an exit code.
"""

try:
    from groupfs.cli.commands import app
except ModuleNotFoundError as reason:
    if reason.name not in ("typer", "rich"):
        raise
    _missing = reason.name

    def app(**settings: object) -> None:  # type: ignore[misc]
        """Stand in for the command where its own packages are missing."""
        import sys

        hint = 'install it with pip install "groupfs[cli]".'
        print(f"groupfs: the command needs {_missing}; {hint}", file=sys.stderr)
        sys.exit(6)


__all__ = ["app"]
