"""Make the pictures of docs/view.md: a run of a scripted model, as Chromium shows its page.

    .venv/bin/python examples/view/pictures.py docs

It takes Debian's Chromium (`apt-get install chromium`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, ScriptedModel

TEAM = """\
name: second_opinion
description: Two solve, one looks for mistakes, one decides.
agents:
  algebra: {role: algebraist, prompt: "You are [algebra]. Write equations."}
  estimate: {role: estimator, prompt: "You are [estimate]. Estimate first."}
  critic: {role: critic, prompt: "You are [critic]. Find it.", max_tokens: 60}
  judge: {role: judge, prompt: "You are [judge]. Answer with a number."}
topology:
  reports_to: {algebra: [critic, judge], estimate: [critic, judge], critic: [judge]}
"""
TASK = {
    "id": "two_pipes",
    "query": "One pipe fills a tank in 3 hours, another one in 6. Both are open. How many hours?",
    "answer": "2",
    "scorer": "number",
}
REPLIES = {
    "[judge]": Reply(text="The critic holds 4.5 for right. Answer: 4.5", latency=0.5),
    "[critic]": Reply(
        text="The equations add rates, but times are to be averaged: (3 + 6) / 2 = 4.5, as the",
        latency=0.9,
        finish_reason="length",
    ),
    "[algebra]": Reply(text="1/3 + 1/6 = 1/2 of the tank in an hour. So 2 hours.", latency=0.7),
    "[estimate]": [
        Reply.error(503, retry_after=0),
        Reply(text="Between 3 and 6, so about 4.5 hours.", latency=0.4),
    ],
}
PICTURES = {"view-run.png": "1160,2560", "view-phone.png": "500,900"}
"""Each picture's size in pixels."""


def main() -> None:
    """Make the run, its page, and the pictures of that."""
    chromium = shutil.which("chromium")
    if chromium is None or len(sys.argv) != 2:
        sys.exit("usage: pictures.py FOLDER; needs chromium: apt-get install chromium")
    folder = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as place:
        page = _page(Path(place))
        for name, size in PICTURES.items():
            command = [
                chromium, "--headless=new", "--disable-gpu", "--hide-scrollbars",
                f"--window-size={size}",
                f"--user-data-dir={place}/profile", f"--screenshot={folder / name}",
                *(["--no-sandbox"] if os.geteuid() == 0 else []), page.as_uri(),
            ]  # fmt: skip
            subprocess.run(command, check=True, capture_output=True, timeout=60)
            sys.stdout.write(f"{folder / name}\n")


def _page(place: Path) -> Path:
    """Make a run in a folder; give the page of it."""
    (place / "team.yaml").write_text(TEAM, encoding="utf-8")
    (place / "task.json").write_text(json.dumps(TASK), encoding="utf-8")
    with ScriptedModel(REPLIES) as model, chdir(place):
        shell = CliRunner(env={"MAS_HOME": str(place)})
        words = ["team.yaml", "task.json", "--model", f"scripted@{model.api_base}"]
        made = shell.invoke(mas_run, [*words, "--budget", "calls=10,seconds=60"])
        (run,) = (place / "runs").iterdir()
        seen = shell.invoke(mas_view, [str(run.relative_to(place)), "-o", "report.html"])
    if made.exit_code or seen.exit_code:
        sys.exit(made.output + seen.output)
    return place / "report.html"


if __name__ == "__main__":
    main()
