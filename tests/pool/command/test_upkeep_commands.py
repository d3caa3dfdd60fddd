"""mas-pool verify: what is wrong with a pool, and what a crash left."""

from pathlib import Path

from coterie.pool import Pool

from ...support.commands import printed
from .test_command_of_pools import run, told


def test_verify_says_what_is_wrong_and_repairs_it(pool: Pool) -> None:
    assert run("verify", pool.folder).stdout == (
        f"{pool.folder}: {len(list(pool.entries()))} lines, 3 teams, 1 retired, 0 faults\n"
    )
    (pool.folder / "teams" / "guess.yaml").unlink()
    done = run("verify", pool.folder)
    assert done.exit_code == 1
    assert done.stdout.startswith("fault: no file ")
    done = run("list", pool.folder)
    assert done.exit_code == 1
    assert "mas-pool verify --repair" in done.stderr
    out = printed(run("verify", "--repair", pool.folder))
    assert out.startswith("done: guess was retired: its file is lost")
    assert run("list", pool.folder).exit_code == 0


def test_verify_for_programs(pool: Pool) -> None:
    (pool.folder / "teams" / "mine.yaml").write_text("name: mine\n")
    findings = told("verify", pool.folder, "--json")
    assert findings["faults"] == findings["done"] == []
    assert len(findings["notes"]) == 1
    assert run("verify", pool.folder).stdout.startswith("note: ")


def test_verify_knows_the_models_of_this_host(tmp_path: Path) -> None:
    team = tmp_path / "team.yaml"
    team.write_text("name: t\nagents:\n  a: {prompt: Solve it., model_id: fast}\n")
    given = ("--model", "fast=openai/m")
    assert run("init", tmp_path / "pool", team, *given).exit_code == 0
    assert run("verify", tmp_path / "pool", *given).exit_code == 0
    assert run("verify", tmp_path / "pool").exit_code == 1
    assert run("show", tmp_path / "pool", "t").exit_code == 0


def test_what_a_crash_left_is_told_when_it_is_removed(pool: Pool) -> None:
    with (pool.folder / "ledger.jsonl").open("a") as stream:
        stream.write('{"op": "half')
    assert run("list", pool.folder).stderr == ""
    done = run("retire", pool.folder, "vote", "--reason", "dull")
    assert "was left unfinished" in done.stderr
    assert done.stdout == "vote: retired\n"


def test_files_of_nobody_are_deleted_when_asked_for(pool: Pool) -> None:
    orphan = pool.folder / "teams" / "mine.yaml"
    orphan.write_text("name: mine\n")
    assert "mas-pool verify --delete removes it" in run("verify", pool.folder).stdout
    assert orphan.exists()
    done = run("verify", pool.folder, "--delete").stdout
    assert done.startswith("done: teams/mine.yaml: deleted\n")
    assert "note:" not in done
    assert not orphan.exists()
