"""Print the notes of a release, if the tag, CITATION.cff and the changelog agree on its version.

``python .github/release_notes.py v0.1.0`` prints that section of ``CHANGELOG.md``.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes(tag: str) -> str:
    """Return the section of the changelog about a tag, or exit with what does not agree."""
    version = tag.removeprefix("v")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    if f"\nversion: {version}\n" not in citation:
        raise SystemExit(f"CITATION.cff does not name version {version}; set it and tag again.")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    for section in sections:
        title, _, body = section.partition("\n")
        if title.split(" (")[0] == version:
            return body.strip() + "\n"
    raise SystemExit(f"CHANGELOG.md has no section {version}; run towncrier build and tag again.")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python .github/release_notes.py v0.1.0")
    print(notes(sys.argv[1]), end="")
