"""`mas-view`: what it says, and what it refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from coterie.runtime.command.view import main

from ...came import invoked
from ..view.test_run_page import page_of, run_of


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory.mktemp("run"), "7")


def test_a_folder_of_no_known_kind_is_told_in_a_sentence(tmp_path: Path) -> None:
    came = invoked(main, [str(tmp_path)], "mas-view")
    assert came.code == 2
    assert came.err.startswith(
        f"error: {tmp_path}: not a folder that can be looked at. Known kinds:"
    )
    gone = invoked(main, [str(tmp_path / "gone")], "mas-view")
    assert (gone.code, gone.err.count("\n")) == (2, 1)
    assert "there is no such folder" in gone.err


@pytest.mark.parametrize(
    ("name", "damage", "told"),
    [
        ("events.jsonl", '{"v": 1, "n": 1, "t": 0, "type": "agent_started"}\n', "has not the form"),
        ("events.jsonl", '{"v": 2, "n": 1, "t": 0, "type": "run_started"}\n', "version 2"),
        ("events.jsonl", "no event\n", "events.jsonl:1: this line is damaged"),
        ("run.json", "{}", "not the manifest of a run"),
        ("result.json", '{"v": 9}', "result.json"),
        ("team.yaml", "name: x\n", "team.yaml"),
    ],
)
def test_a_damaged_run_is_told_in_a_sentence(
    run: Path, tmp_path: Path, name: str, damage: str, told: str
) -> None:
    for path in run.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / name).write_text(damage)
    file = tmp_path / "report.html"
    came = invoked(main, [str(tmp_path), "-o", str(file)], "mas-view")
    assert (came.code, told in came.err) == (2, True), came.err
    assert not file.exists()


def test_a_file_of_a_run_needs_nothing_from_elsewhere(run: Path) -> None:
    page = page_of(run)
    assert [one for one in page.all() if "src" in one.attributes] == []
    addresses = [one.attributes["href"] for one in page.all() if "href" in one.attributes]
    assert all(one.startswith(("#", "data:image/svg+xml,")) for one in addresses)


def test_it_serves_until_it_is_interrupted_and_says_how_to_forward(run: Path) -> None:
    environment = {**os.environ, "SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22"}
    with subprocess.Popen(
        [sys.executable, "-m", "coterie.runtime.command.view", str(run)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().strip()
        with urlopen(address) as response:  # noqa: S310 - our own server
            assert b"trio: sum" in response.read()
        told = process.stderr.readline()
        port = address.split(":")[2].split("/")[0]
        assert f"ssh -N -L {port}:127.0.0.1:{port} 10.0.0.2" in told
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert "Traceback" not in process.stderr.read()
