"""Work folders that come back from a worker, whatever happens to them meanwhile."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coterie.runtime.cluster import host
from coterie.runtime.jail import JailLimits, JailRequest, Jails, Shell
from coterie.runtime.runners._jailed import jailed
from coterie.schema.values.errors import AgentError, JailError, LimitError

from .links import near


class Rewriting:
    """Reads files of a work folder, to which something happens just before.

    Attributes:
        contents: What is written to a file by then; None: it is removed.
    """

    def __init__(self, contents: dict[str, bytes | None]) -> None:
        self.contents = contents
        self.read = host.read_content

    def __call__(self, root: Path, name: str, offset: int, length: int) -> bytes:
        if name in self.contents:
            content = self.contents[name]
            (root / name).unlink(missing_ok=True)
            if content is not None:
                (root / name).write_bytes(content)
        return self.read(root, name, offset, length)


@pytest.mark.parametrize("along", [host.ALONG, 2])
def test_what_is_written_while_the_folder_is_looked_at_comes_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, along: int
) -> None:
    monkeypatch.setattr(host, "ALONG", along)
    with near(1) as (jails, _):
        with jails.open(tmp_path) as jail:
            write = "printf same > file; ln -f file again; printf other > other; printf x > gone"
            assert Shell(jail).run(write).returncode == 0
            with monkeypatch.context() as patched:
                patched.setattr(host, "read_content", Rewriting({"file": b"half", "gone": None}))
                jail.refresh()
            # What is seen now is what was seen first, and not what was sent.
            assert Shell(jail).run(write).returncode == 0
        for name, text in (("file", "same"), ("again", "same"), ("other", "other"), ("gone", "x")):
            assert (tmp_path / name).read_text("ascii") == text
        assert (tmp_path / "file").samefile(tmp_path / "again")


def test_what_goes_meanwhile_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with near(1) as (jails, _):
        with jails.open(tmp_path) as jail:
            assert Shell(jail).run("printf x > gone; printf y > there").returncode == 0
            monkeypatch.setattr(host, "read_content", Rewriting({"gone": None}))
            jail.refresh()
        assert [path.name for path in tmp_path.iterdir()] == ["there"]


def run_too_deep(jails: Jails, folder: Path, error: Exception | None = None) -> None:
    with jails.open(folder) as jail:
        Shell(jail).run(f"mkdir -p {'/'.join(['d'] * 150)}")
        if error is not None:
            raise error


def test_a_folder_that_cannot_come_back_hides_no_budget_that_is_used_up(tmp_path: Path) -> None:
    with near(1) as (jails, _):
        with pytest.raises(LimitError, match="used up"):
            run_too_deep(jails, tmp_path, LimitError("the budget is used up"))
        with pytest.raises(JailError, match="deeper than"):
            run_too_deep(jails, tmp_path)


def test_a_folder_that_cannot_come_back_is_its_agents_failure(tmp_path: Path) -> None:
    """Not this host's: else one agent's code could keep an evolution from ever going on."""
    workspace = SimpleNamespace(path=tmp_path, jail=None)
    bridge: Any = SimpleNamespace(tell=lambda done: done(), on_stop=lambda _: None)

    def work(jails: Jails) -> None:
        assignment: Any = SimpleNamespace(workspace=workspace, jails=jails, waiting=nullcontext)
        with jailed(assignment, bridge, JailRequest(limits=JailLimits(disk=1 << 20))) as jail:
            Shell(jail).run("truncate -s 200M sparse")

    with near(1) as (jails, _), pytest.raises(AgentError, match="has more than"):
        work(jails)
