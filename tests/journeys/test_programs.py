"""A notebook, and an application of FastAPI: sections 6 and 7."""

import asyncio
import re
import shlex
from contextlib import chdir
from runpy import run_path

import httpx
import pytest

from ..support.newcomer import Newcomer
from .conftest import SECTIONS, Play


def test_a_team_answers_in_a_notebook(
    newcomer: Newcomer, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(newcomer.folder / "jupyter"))
    play("42")
    notebook = nbformat.v4.new_notebook()
    cells = re.findall(r"^```py\n(.*?)^```$", SECTIONS[6], re.DOTALL | re.MULTILINE)
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    place = {"metadata": {"path": str(newcomer.folder)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    table, printed = (cell.outputs[-1] for cell in notebook.cells)
    assert "<table" in table["data"]["text/html"]
    assert printed["text"] == "done 42 1\n"


def test_an_application_asks_a_team(newcomer: Newcomer, play: Play) -> None:
    model = play({"What is 6 x 7": "42"})
    install, serve, curl = re.findall(r"^\$ (.*)$", SECTIONS[7], re.MULTILINE)
    newcomer.plays |= {install: str, serve: str, curl: lambda: answers(newcomer, curl)[0]}
    newcomer.follow(SECTIONS[7])
    assert len(model.calls) == REQUESTS
    assert len([*newcomer.folder.glob("runs/*")]) == REQUESTS


REQUESTS = 5


def answers(newcomer: Newcomer, curl: str) -> list[str]:
    """Send what curl would send, several times at once, to the application in this process."""
    *words, url = shlex.split(curl)
    assert words == ["curl", "-s", "-X", "POST"]

    async def ask() -> list[str]:
        app = run_path("app.py")["app"]
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            responses = await asyncio.gather(*(client.post(url) for _ in range(REQUESTS)))
        assert {response.status_code for response in responses} == {200}
        return [response.text for response in responses]

    with chdir(newcomer.folder):
        return asyncio.run(ask())
