"""What an install weighs."""

import json

import pytest
from click.testing import CliRunner

from studies import weight
from studies.weight import needed, size


def test_an_extra_brings_what_it_needs_and_what_that_needs() -> None:
    base, more = needed(()), needed(["mini-swe-agent"])
    assert "aiohttp" in base
    assert "yarl" in base  # aiohttp's
    assert {"mini-swe-agent", "pyarrow"} <= more - base
    assert size("aiohttp") > 1_000_000


def test_the_parts_are_told_and_nothing_counts_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight, "size", lambda name: 9_000_000 if name == "aiohttp" else 1_000_000)
    parts = json.loads(CliRunner().invoke(weight.main, ["--json"]).stdout)
    assert not {*parts["base"]} & {*parts["mini-swe-agent"]}
    texts = CliRunner().invoke(weight.main, []).stdout.splitlines()
    assert [line.split()[0] for line in texts] == [part for part, names in parts.items() if names]
    packages = len(parts["base"])
    assert f" {packages + 8} MB  {packages} packages: aiohttp 9, " in texts[0]
