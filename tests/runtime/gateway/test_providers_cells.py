"""The table of providers: its form, its exit code, and that its cells see what is wrong."""

import asyncio
from dataclasses import replace

import pytest
from click.testing import CliRunner

from studies.doubles import PROVIDERS, Provider, Speech
from studies.doubles.said import Bill
from studies.providers import __main__ as command
from studies.providers.table import judged, markdown, plain, wrong
from studies.providers.verdict import Verdict

(OPENAI,) = (provider for provider in PROVIDERS if provider.name == "OpenAI")
TABLE = {"A": {"text": Verdict("works"), "cost": Verdict("wrong", "$1, billed $2")}}


def test_it_is_written_for_pages_and_for_terminals() -> None:
    assert markdown(TABLE).splitlines() == [
        "|  | text | cost |",
        "| --- | --- | --- |",
        "| A | works | wrong |",
    ]
    assert plain(TABLE).splitlines()[-1].split() == ["A", "works", "wrong"]
    assert [*wrong(TABLE)] == ["A, cost: $1, billed $2"]


def test_a_wrong_cell_is_told_and_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    async def found(*_: object, **_options: object) -> object:
        return TABLE

    monkeypatch.setattr(command, "judged", found)
    done = CliRunner().invoke(command.main, ["--markdown"])
    assert done.exit_code == 1
    assert "A, cost: $1, billed $2" in done.stderr


def test_a_stream_comes_where_it_is_wanted() -> None:
    for stream in (True, False):
        table = asyncio.run(judged([OPENAI], ["streamed", "cut off"], stream=stream))
        assert [cell.mark for cell in table["OpenAI"].values()] == ["works", "told"]


def test_what_the_books_say_decides() -> None:
    def generous(bill: Bill) -> dict[str, int]:
        return {"prompt_tokens": bill.prompt, "completion_tokens": 1, "total_tokens": 1}

    liar = told_by(OPENAI, usage=generous)
    table = asyncio.run(judged([OPENAI, replace(liar, name="liar")], ["text", "usage", "cost"]))
    assert [cell.mark for cell in table["OpenAI"].values()] == ["works", "works", "works"]
    assert [cell.mark for cell in table["liar"].values()] == ["works", "wrong", "wrong"]


def told_by(provider: Provider, **changes: object) -> Provider:
    speaks = {
        path: replace(speech, **changes) if isinstance(speech, Speech) else speech
        for path, speech in provider.speaks.items()
    }
    return replace(provider, speaks=speaks)
