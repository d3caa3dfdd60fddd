"""`mas-view`: what it says, and what it refuses."""

import signal
import threading
from pathlib import Path
from urllib.request import urlopen

import pytest

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.command.view import main
from coterie.runtime.doubles import ScriptedModel

from ...support.commands import invoked, invoked_in, started
from ...webpage import parsed
from ..view.test_run_page import TEAM, page_of, run_of


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory.mktemp("run"), "7")


def test_a_folder_of_no_known_kind_is_told_in_a_sentence(tmp_path: Path) -> None:
    result = invoked(main, [str(tmp_path)], "mas-view").ended(2)
    assert result.err.startswith(
        f"error: {tmp_path}: mas-view cannot show this folder, only these:"
    )
    gone = invoked(main, [str(tmp_path / "gone")], "mas-view")
    assert (gone.code, gone.err.count("\n")) == (2, 1)
    assert "no such folder" in gone.err
    (tmp_path / "file").touch()
    for words in ([], ["--text"]):
        file = invoked(main, [str(tmp_path / "file"), *words], "mas-view")
        assert (file.code, "not a folder" in file.err) == (2, True)


def test_the_folder_of_runs_leads_to_the_last_one(run: Path) -> None:
    result = invoked(main, [str(run.parent)], "mas-view")
    assert (result.code, result.err.endswith(f" Try: mas-view {run}\n")) == (2, True), result.err
    (run / "more").mkdir(exist_ok=True)
    assert invoked(main, [str(run / "more")], "mas-view").err.endswith(f" Try: mas-view {run}\n")


def test_a_file_of_a_run_needs_nothing_from_elsewhere(run: Path) -> None:
    page = page_of(run)
    assert [element for element in page.all() if "src" in element.attributes] == []
    addresses = [
        element.attributes["href"] for element in page.all() if "href" in element.attributes
    ]
    assert all(address.startswith(("#", "data:image/svg+xml,")) for address in addresses)


def test_it_serves_until_it_is_interrupted_and_says_how_to_forward(run: Path) -> None:
    environment = {"SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22"}
    with started(run.parent, str(run), command="view", env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().strip()
        with urlopen(address) as response:  # noqa: S310 - our own server
            assert b"trio: sum" in response.read()
        report = process.stderr.readline()
        port = address.split(":")[2].split("/")[0]
        assert f"ssh -N -L {port}:127.0.0.1:{port} 10.0.0.2" in report
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
        assert "Traceback" not in process.stderr.read()


def test_a_run_says_how_to_look_at_it(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(TEAM)
    with ScriptedModel("7") as model:
        words = ["team.yaml", "-q", "What?", "--model", f"m@{model.api_base}"]
        text = invoked_in(tmp_path, mas_run, words, "mas-run").err
        quiet = invoked_in(tmp_path, mas_run, [*words, "--quiet"], "mas-run").err
    command = text.splitlines()[-1].removeprefix("Look at it with: ").split()
    assert command[0] == "mas-view"
    file = tmp_path / "report.html"
    assert invoked_in(tmp_path, main, [*command[1:], "-o", str(file)], "mas-view").code == 0
    assert parsed(file).one("h1").text.startswith("trio: ")
    assert "mas-view" not in quiet


@pytest.mark.parametrize("other", [["--dry-run"], ["--replay", "."]])
def test_only_a_run_that_is_made_is_shown_meanwhile(tmp_path: Path, other: list[str]) -> None:
    result = invoked_in(tmp_path, mas_run, ["seed:direct", "--view", *other], "mas-run")
    assert (result.code, f"{other[0]} starts none" in result.err) == (2, True)


def test_a_run_is_shown_while_it_is_made_and_until_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(TEAM)
    answering = threading.Event()

    def answer(_: object) -> str:
        answering.wait(300)
        return "7"

    with ScriptedModel(answer) as model:
        process = started(
            tmp_path, "team.yaml", "-q", "What?", "--model", f"m@{model.api_base}", "--view"
        )
        with process:
            assert process.stderr is not None
            lines = iter(process.stderr.readline, "")
            report = next(line for line in lines if line.startswith("look: "))
            address = report.removeprefix("look: ").strip()
            with urlopen(address) as response:  # noqa: S310 - our own server
                assert parsed(response.read().decode()).all(class_="badge")[0].text == "▶ under way"
            answering.set()
            assert any("The page stays open until you press Ctrl-C." in line for line in lines)
            with urlopen(address) as response:  # noqa: S310
                assert parsed(response.read().decode()).all(class_="badge")[0].text == "✓ done"
            process.send_signal(signal.SIGINT)
            assert process.wait(300) == 0
            assert process.stdout is not None
            assert process.stdout.read() == "7\n"
