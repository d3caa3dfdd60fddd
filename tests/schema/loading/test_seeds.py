"""Naming a team that comes with coterie."""

from pathlib import Path

import pytest

from coterie.schema import InputError, load_team
from coterie.schema.loading.loading import read_team
from coterie.schema.loading.seeds import is_seed, located, seed_files


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("load", [load_team, read_team])
def test_a_seed_loads_by_its_name(load: type) -> None:
    assert load("seed:majority_vote_3") == load(seed_files()["majority_vote_3"])


@pytest.mark.parametrize("name", ["majority_vote_3", "./debate", "majority_vot_3"])
def test_a_bare_name_of_a_seed_is_told(name: str) -> None:
    meant = "debate" if "debate" in name else "majority_vote_3"
    with pytest.raises(InputError, match=f"no file .*Did you mean 'seed:{meant}'"):
        load_team(name)


def test_no_file_passes_for_a_seed(tmp_path: Path) -> None:
    (tmp_path / "seed:majority_vote_3").write_text("agents: none\n", encoding="utf-8")
    assert load_team("seed:majority_vote_3") == load_team(seed_files()["majority_vote_3"])


def test_what_is_there_is_no_seed(tmp_path: Path) -> None:
    (tmp_path / "debate").mkdir()
    (tmp_path / "croto.yaml").touch()
    assert str(located("debate")) == "debate"
    with pytest.raises(InputError, match=r"no file 'croto'\.$"):
        load_team("croto")
    with pytest.raises(InputError, match=r"no file 'my/own\.yaml'\.$"):
        load_team("my/own.yaml")


def test_a_seed_that_is_not_there_names_the_nearest() -> None:
    assert is_seed("seed:debat")
    with pytest.raises(InputError, match=r"Seeds: .*debate.*Did you mean 'seed:debate'\?$"):
        located("seed:debat")
