"""`mas-pool memory`, and `show` and `blame` of what was learnt."""

import json
from pathlib import Path

import pytest
from click.testing import Result

from coterie.pool import Pool
from coterie.pool.command import main
from coterie.pool.ledger.changes import EventNoted
from coterie.pool.ledger.learnt import Learnt

from ...support.commands import ran

FIRST = Learnt(
    kind="experience",
    task="Which fever is it?",
    text="Ask where the patient travelled.\nThen look at the blood.",
    niche="fevers",
    owner="cardiology",
    case="case_7",
    turn=2,
    credit=0.8125,
    run="mattrl",
)
OTHER = Learnt(kind="lesson", task="Which rash is it?", text="Look twice.", giver="ben")


def run(*arguments: object) -> Result:
    done = ran(main, *arguments)
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pool = Pool.init(tmp_path / "pool")
    pool.commit(FIRST, op="mattrl/000000/first")
    pool.commit(EventNoted(what="credit.case", about={}), op="told")
    pool.commit(OTHER, op="mattrl/000001/other")
    merged = Learnt(kind="lesson", task="Which?", text="Both.", replaces=("mattrl/000001/other",))
    pool.commit(merged, op="mattrl/000002/merged")
    return pool.folder


def test_entries_are_listed_with_case_agent_turn_and_credit(folder: Path) -> None:
    head, first, merged, _, total = run("memory", folder).stdout.splitlines()
    assert head.split() == ["entry", "kind", "niche", "agent", "case", "turn", "credit", "text"]
    assert first.split()[:7] == [
        "mattrl/000000/first",
        "experience",
        "fevers",
        "cardiology",
        "case_7",
        "2",
        "0.812",
    ]
    assert merged.startswith("mattrl/000002/merged")
    assert total == "2 of 3 entries"
    assert "mattrl/000001/other (replaced)" in run("memory", folder, "--all").stdout


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--kind", "experience"),
        ("--niche", "fevers"),
        ("--owner", "cardiology"),
        ("--case", "case_7"),
    ],
)
def test_some_entries_are_listed(folder: Path, option: str, value: str) -> None:
    report = json.loads(run("memory", folder, option, value, "--json").stdout)["entries"]
    assert [(item["id"], item["turn"], item["line"]) for item in report] == [
        ("mattrl/000000/first", 2, 2)
    ]


def test_an_entry_is_shown_with_the_line_that_it_is(folder: Path) -> None:
    shown = run("show", folder, "mattrl/000000/first").stdout
    assert f"line      {folder}/ledger.jsonl:2" in shown
    for word in ("owner     cardiology", "case      case_7", "turn      2", "credit    0.812"):
        assert word in shown
    report = json.loads(run("show", folder, "mattrl/000000/first", "--json").stdout)
    assert (report["case"], report["credit"], report["replaced_by"]) == ("case_7", 0.8125, None)
    assert "replaced  by mattrl/000002/merged" in run("show", folder, "mattrl/000001/other").stdout


def test_blame_of_an_entry_tells_all_that_it_stands_for(folder: Path) -> None:
    rows = run("origin", folder, "mattrl/000002/merged").stdout.splitlines()
    assert [row.split()[:3] for row in rows[1:]] == [
        ["mattrl/000002/merged", "5", "-"],
        ["mattrl/000001/other", "4", "ben"],
    ]
    report = json.loads(run("origin", folder, "mattrl/000000/first", "--json").stdout)
    assert [(item["case"], item["turn"], item["owner"]) for item in report] == [
        ("case_7", 2, "cardiology")
    ]
