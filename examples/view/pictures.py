"""Make the pictures of docs/runs.md, as Chromium shows the pages of a run and of what evolved.

    .venv/bin/python examples/view/pictures.py docs

All is made by the project's own commands with a scripted model, in `made.py`. It takes Debian's
Chromium (`apt-get install chromium`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from made import a_pool, a_population, a_run, some_evaluations

from coterie.runtime.view import Links, opened
from coterie.runtime.view.pages import document
from coterie.runtime.view.report import make_page

PICTURES = {
    "view-run.png": ("1160,2560", a_run, ""),
    "view-phone.png": ("500,900", a_run, ""),
    "view-evolution.png": ("1160,1280", a_pool, "evolutions/recipe"),
    "view-lineage.png": ("1160,620", a_population, "lineage"),
    "view-results.png": ("1160,1120", some_evaluations, ""),
}
"""Each picture's size in pixels, what makes the folder, and the page's address."""


def main() -> None:
    """Make the folders, their pages, and the pictures of those."""
    chromium = shutil.which("chromium")
    if chromium is None or len(sys.argv) != 2:
        sys.exit("usage: pictures.py FOLDER; needs chromium: apt-get install chromium")
    docs = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as place:
        os.environ["MAS_HOME"] = place
        os.chdir(place)
        for name, (size, make, address) in PICTURES.items():
            folder = Path(make.__name__)
            shown = folder / "shown" if folder.exists() else make(folder)
            if not (folder / "shown").exists():
                (folder / "shown").symlink_to(shown.resolve())
            page = Path(place, "page.html")
            page.write_text(_page(shown, address), encoding="utf-8")
            command = [
                chromium, "--headless=new", "--disable-gpu", "--hide-scrollbars",
                f"--window-size={size}",
                f"--user-data-dir={place}/profile", f"--screenshot={docs / name}",
                *(["--no-sandbox"] if os.geteuid() == 0 else []), page.as_uri(),
            ]  # fmt: skip
            subprocess.run(command, check=True, capture_output=True, timeout=60)
            sys.stdout.write(f"{docs / name}\n")


def _page(folder: Path, address: str) -> str:
    """Write a page as the server does."""
    site = opened(folder)
    links = Links(here=address, contents=[*site.contents], base="/")
    return document(site, [(links, make_page(site, links, folder))])


if __name__ == "__main__":
    main()
