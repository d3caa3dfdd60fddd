"""How a missing extra is told."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.command.run import main
from coterie.schema.command import main as mas
from coterie.schema.values import extras
from coterie.schema.values.extras import how_to_get

from ...support.commands import ran, refused

WHEEL = "file:///w/coterie-0.1.0-py3-none-any.whl"
ORIGINS = {
    "a clone": ({"url": "file:///a%20b", "dir_info": {"editable": True}}, "-e '/a b[mcp]'"),
    "a folder": ({"url": "file:///c", "dir_info": {}}, "'coterie[mcp] @ file:///c'"),
    "a wheel": ({"url": WHEEL, "archive_info": {}}, f"'coterie[mcp] @ {WHEEL}'"),
    "a repository": (
        {"url": "https://host/c", "vcs_info": {"vcs": "git", "commit_id": "1f2e"}},
        "'coterie[mcp] @ git+https://host/c@1f2e'",
    ),
    "an index": (None, "'coterie[mcp]'"),
}


@pytest.mark.parametrize("has_pip", [True, False])
@pytest.mark.parametrize(("origin", "named"), ORIGINS.values(), ids=ORIGINS)
def test_the_command_adds_an_extra_to_this_very_installation(
    origin: dict[str, Any] | None, named: str, has_pip: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            return json.dumps(origin) if origin and name == "direct_url.json" else None

    monkeypatch.setattr("importlib.metadata.distribution", {"coterie": Installed()}.__getitem__)
    monkeypatch.setattr(extras, "find_spec", lambda _: has_pip or None)
    command = how_to_get("mcp")
    assert command.endswith(f" install {named}" if has_pip else f" --python {sys.prefix} {named}")
    program = Path(shlex.split(command)[0])
    assert program == Path(sys.executable) if has_pip else program.name == "uv"


def test_a_team_without_its_backend_loads_and_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "minisweagent", None)
    text = f"mini-swe-agent, which is not installed. Run: {how_to_get('mini-swe-agent')}"
    assert ran(mas, "validate", "seed:code_repair").exit_code == 0
    words = ["seed:code_repair", "-q", "hi", "--model", "m@http://127.0.0.1:9/v1"]
    assert text in ran(main, *words, "--dry-run").stdout
    assert text in refused(ran(main, *words, "--unsafe-local"))
    assert list(tmp_path.iterdir()) == []
