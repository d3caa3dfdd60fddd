"""The page docs/ci.md is gone through as it stands: its files, its commands, its mistakes."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from shutil import copytree
from xml.etree import ElementTree

import pytest
import yaml

from coterie.runtime.doubles import ScriptedModel, load_script

from .support.newcomer import BLOCK, NAMED, Newcomer

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
NOTEBOOK = ROOT / "examples/notebook/front_desk.ipynb"
PORT = 8711
ADDRESS = f"http://127.0.0.1:{PORT}/v1"
COPY = "cp ../../coterie/examples/ci/* ."
SERVE = f"python -m coterie.runtime.doubles script.yaml --port {PORT} &"


class Reader(Newcomer):
    """Someone who also changes files and plays the script's model."""

    def change(self, before: str, after: str) -> None:
        """Change team.yaml in one place."""
        text = (self.folder / "team.yaml").read_text(encoding="utf-8")
        assert text.count(before) == 1, before
        self.write("team.yaml", text.replace(before, after))

    def copy(self) -> str:
        """Copy the questions and the script from the clone."""
        copytree(ROOT / "examples/ci", self.folder, dirs_exist_ok=True)
        return ""

    def serve(self, servers: ExitStack) -> str:
        """Have the script's model listen, on any free port: tests run side by side."""
        model = ScriptedModel(load_script(self.folder / "script.yaml"))
        self.here[ADDRESS] = servers.enter_context(model).api_base
        self.write("models.yaml", (self.folder / "models.yaml").read_text(encoding="utf-8"))
        return ADDRESS


MISTAKE = re.compile(r"^\| `(.+)` \| `(.+)` \| `(.+)` \|$", re.MULTILINE)


def steps() -> Iterator[re.Match[str]]:
    """Return the page's blocks and its mistakes, in the order in which they stand."""
    matches = [*BLOCK.finditer(PAGE), *MISTAKE.finditer(PAGE)]
    return iter(sorted(matches, key=lambda item: item.start()))


def do(newcomer: Reader, step: re.Match[str]) -> None:
    """Do what the page says in one place."""
    if step.re is MISTAKE:
        make_and_mend(newcomer, *step.groups())
        return
    language, text = step.groups()
    if language == "console":
        newcomer.type_all(text)
    elif language == "diff":
        before, after = (line[1:] for line in text.splitlines())
        newcomer.change(before, after)
    else:
        newcomer.write(NAMED.findall(PAGE, 0, step.start())[-1], text)


def make_and_mend(newcomer: Reader, wrong: str, message: str, right: str) -> None:
    """Make a mistake in team.yaml, read the message, and do as it says."""
    newcomer.change(right, wrong)
    result = newcomer.ran("mas-validate team.yaml")
    assert f"team.yaml:{message}" in (result.out + result.err).splitlines()
    assert result.code == (0 if " warning: " in message else 2)
    words = re.compile(r"\w+")
    assert {*words.findall(right)} - {*words.findall(wrong)} <= {*words.findall(message)}
    newcomer.change(wrong, right)
    assert newcomer.ran("mas-validate team.yaml").out == "1 file: no problems.\n"


@pytest.fixture
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """Yield someone in an empty folder, whose notebooks keep nothing in the home of the host."""
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "jupyter"))
    with ExitStack() as servers:
        reader = Reader(tmp_path)
        reader.plays[COPY] = reader.copy
        reader.plays[SERVE] = partial(reader.serve, servers)
        yield reader


def test_the_journey_from_nothing_to_ci_and_a_notebook(newcomer: Reader) -> None:
    """Init, five agents, five mistakes, own questions, show, a fix, CI, and the notebook."""
    for step in steps():
        do(newcomer, step)
    assert len(MISTAKE.findall(PAGE)) == 5
    desk = newcomer.folder
    assert len(yaml.safe_load((desk / "team.yaml").read_text())["agents"]) == 5
    element = ElementTree.fromstring((desk / "results.xml").read_text())  # noqa: S314 - our own
    assert len(element.findall(".//testcase")) == 20
    workflow = yaml.safe_load((desk / ".github/workflows/team.yml").read_text())
    steps_of_ci = (item.get("run", "") for item in workflow["jobs"]["team"]["steps"])
    assert [item for item in steps_of_ci if item.startswith("mas-")] == newcomer.typed[-2:]
    assert newcomer.code == 0
    assert figures_of_the_notebook(newcomer) == figures_of_the_page()


def figures_of_the_page() -> list[str]:
    return re.findall(r"^accuracy (\S+ \[\S+ \S+\])", PAGE, re.MULTILINE)


def figures_of_the_notebook(newcomer: Reader) -> list[str]:
    """Execute the notebook where the newcomer is, and give the figures that it prints."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    place = {"metadata": {"path": str(newcomer.folder)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    printed = "".join(
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ())
    )
    return re.findall(r"^(?:before|after) (.*)$", printed, re.MULTILINE)
