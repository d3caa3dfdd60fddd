"""The page about the double: its code runs, its tables are complete."""

import re
from pathlib import Path

from coterie.runtime.doubles import FAULTS, ScriptedModel, load_script

from ...support.pages import blocks

PAGE = Path(__file__).parents[3].joinpath("docs", "extend.md").read_text(encoding="utf-8")


def test_the_script_loads_and_serves(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    (text,) = blocks("extend.md", "yaml", "### As a script file")
    path.write_text(text, encoding="utf-8")

    with ScriptedModel(load_script(path)) as model:
        assert model.api_base


def test_every_reply_in_the_tables_can_be_made() -> None:
    names = "from coterie.runtime.doubles import Reply\nin_a_minute = 60\n"
    replies = re.findall(r"^\| (?:.* or )?`(Reply[.(].*?)` \|", PAGE, re.MULTILINE)

    assert len(replies) > len(FAULTS)
    for reply in replies:
        exec(names + reply, {})  # noqa: S102 - our own page


def test_every_fault_is_in_the_table() -> None:
    assert [name for name in FAULTS if f'| `Reply.fault("{name}")` |' not in PAGE] == []
