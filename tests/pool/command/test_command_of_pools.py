"""`mas-pool`: what a person sees of a pool, and does with it."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from coterie.pool import Pool
from coterie.pool.command import main
from coterie.pool.ledger.changes import Retired
from coterie.schema import Lineage, LineageStep, load_team

from ...support.commands import printed, ran, refused
from ...support.processes import python
from ..edited_teams import child_of, edited, pool_of, scored, tried, vote
from .conftest import NASTY

run = partial(ran, main)


def told(*arguments: object) -> Any:
    out = printed(run(*arguments))
    return json.loads(out)


# init


def test_init_makes_a_pool_of_seeds_and_files(tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    done = run("init", folder, "seed:debate_3")
    assert done.stdout == f"{folder}: 1 team: debate_3\n"
    assert run("init", folder).stdout == done.stdout
    done = run("init", folder, "seed:single_agent")
    assert done.stdout == f"{folder}: 2 teams: debate_3, single_agent\n"
    assert run("verify", folder).exit_code == 0


def test_a_new_pool_begins_with_the_seeds_of_the_paper(tmp_path: Path) -> None:
    run("init", tmp_path / "pool")
    assert list(Pool.open(tmp_path / "pool").members) == ["peer_review", "majority_vote", "debate"]
    assert run("init", tmp_path / "none", "--empty").stdout == f"{tmp_path / 'none'}: 0 teams\n"


BAD = {
    "unknown seed": (("init", "new", "seed:debat"), "no seed team 'seed:debat'"),
    "no file": (("init", "new", "team.yaml"), "no file 'team.yaml'"),
    "both": (
        ("init", "new", "--empty", "seed:debate"),
        "--empty cannot be combined with 'seed:debate'",
    ),
    "no pool": (("list", "nothing"), "no pool in 'nothing': it has no ledger.jsonl. Make one"),
    "long name": (("list", "x" * 300), "x: cannot be read: File name too long."),
    "no pool to verify": (("verify", "nothing"), "no pool in 'nothing'"),
    "no team": (("show", "pool", "vot"), "no team 'vot' in pool. Did you mean 'vote'?"),
    "no origin of nobody": (("origin", "pool", "x"), "no team 'x' in pool."),
    "no team in lineage": (("lineage", "pool", "x"), "no team 'x' in pool."),
    "no niche": (("best", "pool", "--niche", "x"), "Its niches: ages, dates."),
    "no split": (("best", "pool", "--split", "x"), "on the split 'x'. Its niches: none."),
    "too few": (("best", "pool", "--at-least", "9"), "no team in pool has 9 evaluations"),
    "no source": (("import", "pool", "nothing"), "no file 'nothing'"),
    "a team of a file": (("import", "pool", "seed:debate", "x"), "'seed:debate' is a single team"),
    "source no pool": (("import", "pool", "empty"), "no pool in 'empty'"),
    "retire nobody": (("retire", "pool", "x", "--reason", "y"), "no team 'x' in pool."),
    "restore nobody": (("restore", "pool", "x"), "no team 'x' in pool."),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_input_is_one_error(pool: Pool, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pool.folder.parent)
    Path("empty").mkdir()
    arguments, message = BAD[case]
    err = refused(run(*arguments))
    assert err.startswith("error: ")
    assert message in err
    assert len(err.splitlines()) == 1
    assert not Path("new").exists()


# list, show, best


def test_list_shows_the_best_first(pool: Pool) -> None:
    heads, *rows, _, summary = run("list", pool.folder).stdout.splitlines()
    assert heads.split()[:4] == ["team", "expected", "score", "95"]
    assert [row.split()[0] for row in rows] == ["vote_1", "guess", "vote"]
    assert rows[0].split("  ")[:1] == ["vote_1"]
    for part in (
        "0.557 [0.279, 0.836]",
        "0.700",
        "to",
        "$0.0100",
        "mutate",
        "dates 0.93 (3), ages 0.00 (1)",
    ):
        assert part in rows[0]
    assert summary == (
        "3 teams; 1 retired; children rejected: 1 (mutate 1); children there already: 1 (mutate 1)"
    )


def test_list_counts_the_tasks_that_are_asked_for(pool: Pool) -> None:
    teams = told("list", pool.folder, "--niche", "ages", "--json")["teams"]
    assert [(team["team"], team["n"], team["score"]) for team in teams] == [
        ("guess", 1, 0.5),
        ("vote", 0, None),
        ("vote_1", 1, 0),
    ]
    assert [round(team["expected"], 3) for team in teams] == [0.424, 0.362, 0.36]
    assert all(low < team["expected"] < high for team in teams for low, high in [interval(team)])
    teams = told("list", pool.folder, "--split", "test", "--json")["teams"]
    assert [team["n"] for team in teams] == [1, 0, 0]


def interval(team: dict[str, Any]) -> tuple[float, float]:
    low, high = team["expected_interval"]
    return low, high


def test_list_shows_retired_teams_and_rejections_on_request(pool: Pool) -> None:
    done = run("list", pool.folder, "--all", "--rejections")
    assert "vote_2 (retired)" in done.stdout
    assert done.stdout.endswith("rejected: mutate of vote: no team red; a cycle\n")
    listed = told("list", pool.folder, "--all", "--rejections", "--json")
    assert [team["retired"] for team in listed["teams"]].count("weak") == 1
    assert (listed["rejected"], listed["twins"]) == ({"mutate": 1}, {"mutate": 1})
    assert listed["dropped"][0]["problems"] == ["a cycle"]


def test_an_empty_pool_can_be_listed(tmp_path: Path) -> None:
    pool_of(tmp_path)
    assert "0 teams; 0 retired" in run("list", tmp_path).stdout
    assert told("list", tmp_path, "--json")["teams"] == []


def test_show_tells_why_a_team_exists_and_how_it_does(pool: Pool) -> None:
    lines = run("show", pool.folder, "vote_1").stdout.splitlines()
    assert lines[0] == "vote_1: 0.700 [0.267, 0.937] n=4"
    facts = dict(line.strip().split("  ", 1) for line in lines[1:] if "niche" not in line)
    assert {name: text.strip() for name, text in facts.items()} == {
        "expected": "0.557 [0.279, 0.836]",
        "file": str(pool.folder / "teams" / "vote_1.yaml"),
        "made by": "mutate of vote",
        "task": "t",
        "run": "r-1",
        "why": "It rambles.",
        "edit": "w1: max_tokens 4096 -> 9",
        "children": "vote_2",
        "agents": "3, with 2 edges",
        "spent": "400 tokens, $0.0400",
    }
    assert "  niche     dates: 0.933 [0.383, 0.997] n=3" in lines
    shown = told("show", pool.folder, "vote_1", "--json")
    assert shown["path"] == str(pool.folder / "teams" / "vote_1.yaml")
    assert shown["niches"]["ages"]["score"] == 0


def test_what_a_team_was_taken_in_for_is_told_apart(pool: Pool) -> None:
    pool.commit(tried("vote_1", "t", 1, run="r-1", chosen=True), op="won")
    done = run("show", pool.folder, "vote_1")
    word = "  won       1 trial, score 1.000, which admitted it to the pool: not in its mean\n"
    assert done.stdout.startswith("vote_1: 0.700 [0.267, 0.937] n=4\n")
    assert word in done.stdout
    assert told("show", pool.folder, "vote_1", "--json")["chosen"] == 1


def test_how_a_team_does_when_it_is_adapted_is_told_apart(pool: Pool) -> None:
    for number, score in enumerate((1, 0, 0)):
        pool.commit(tried("guess", f"a{number}", score, adapted=True), op=f"adapted {number}")
    assert "  adapted   0.333 (3)\n" in run("show", pool.folder, "guess").stdout
    row = next(row for row in run("list", pool.folder).stdout.splitlines() if "guess" in row)
    assert " 0.333 (3) " in row
    shown = told("show", pool.folder, "guess", "--json")
    assert (shown["n"], shown["adapted"], round(shown["adapted_score"], 3)) == (1, 3, 0.333)


def test_show_of_a_retired_or_untried_team(pool: Pool) -> None:
    shown = run("show", pool.folder, "vote_2").stdout
    assert shown.startswith("vote_2: not evaluated\n")
    assert "  retired   weak\n" in shown
    assert "  failed    1 run\n" in run("show", pool.folder, "vote").stdout


def test_best_is_a_path_that_can_be_run(pool: Pool) -> None:
    done = run("best", pool.folder)
    assert done.stdout == f"{pool.folder / 'teams' / 'vote_1.yaml'}\n"
    assert done.stderr == "vote_1: expected 0.557 [0.279, 0.836]; 0.700 [0.267, 0.937] n=4\n"
    assert load_team(done.stdout.strip()).name == "vote_1"
    assert run("best", pool.folder, "--niche", "ages").stdout.strip().endswith("guess.yaml")
    assert run("best", pool.folder, "--split", "test").stdout.strip().endswith("guess.yaml")
    assert told("best", pool.folder, "--at-least", 2, "--json")["team"] == "vote_1"


def test_among_equals_the_cheaper_is_the_best(pool: Pool) -> None:
    pool.commit(Retired(member="vote_1", reason=""), op="r")
    assert run("best", pool.folder).stdout.strip().endswith("guess.yaml")


def test_an_unknown_price_is_shown_as_such(pool: Pool) -> None:
    scored(pool, "guess", 0.5, niche="free", unpriced_calls=1)
    row = next(row for row in run("list", pool.folder).stdout.splitlines() if "guess" in row)
    assert "unpriced" in row
    assert run("best", pool.folder, "--json").exit_code == 0


# lineage, blame


def test_lineage_is_a_tree_with_the_edits_on_its_branches(pool: Pool) -> None:
    done = run("lineage", pool.folder)
    assert done.stdout.splitlines() == [
        "vote · 0.500 [0.095, 0.905] n=2",
        "└─ vote_1 · 0.700 [0.267, 0.937] n=4 · mutate: w1: max_tokens 4096 -> 9",
        "   └─ vote_2 (retired) · not evaluated · crossover with guess:"
        " w1: prompt Solve it. -> Solve it well.",
        "guess · 0.500 [0.055, 0.945] n=1",
    ]


def test_a_team_of_several_steps_says_all_of_them(pool: Pool) -> None:
    steps = (
        LineageStep(operator="instantiate", edits=("w1: max_tokens 4096 -> 5",), reason="Short."),
        LineageStep(operator="mutate", edits=("w1: temperature -> 1",)),
    )
    born = Lineage(operator="mutate", parents=("vote",), steps=steps)
    name = pool.add(edited(vote(), max_tokens=5, temperature=1), born, op="two").name
    branch = "instantiate + mutate: w1: max_tokens 4096 -> 5, temperature none -> 1"
    assert branch in run("lineage", pool.folder).stdout
    shown = run("show", pool.folder, name).stdout
    assert "  made by   instantiate + mutate of vote\n" in shown
    assert "  step      instantiate: w1: max_tokens 4096 -> 5; Short.\n" in shown
    assert "  step      mutate: w1: temperature -> 1\n" in shown
    assert [step["operator"] for step in told("show", pool.folder, name, "--json")["steps"]] == [
        "instantiate",
        "mutate",
    ]


def test_lineage_of_a_team_is_its_family(pool: Pool) -> None:
    child_of(pool, "vote", max_tokens=77)
    done = run("lineage", pool.folder, "vote_1")
    assert "vote_3" not in done.stdout
    assert "vote_2" in done.stdout
    assert [
        item["team"] for item in told("lineage", pool.folder, "vote_1", "--format", "json")
    ] == [
        "vote",
        "vote_1",
        "vote_2",
    ]


def test_branches_side_by_side(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, vote())
    for number in (1, 2):
        child_of(pool, "vote", max_tokens=number)
    child_of(pool, "vote_1", prompt="x " * 200)
    lines = run("lineage", tmp_path).stdout.splitlines()
    assert [line.split("vote")[0] for line in lines] == ["", "├─ ", "│  └─ ", "└─ "]
    child = Lineage(operator="mutate", parents=("vote",), edits=("so " * 99,))
    pool.add(edited(vote(), max_tokens=3), child, op="long")
    assert run("lineage", tmp_path).stdout.splitlines()[-1].endswith(" …")


def test_lineage_as_a_picture(pool: Pool) -> None:
    lines = run("lineage", pool.folder, "--format", "mermaid").stdout.splitlines()
    assert lines[0] == "flowchart LR"
    assert '    team_vote["vote<br/>0.500 #91;0.095, 0.905#93; n#61;2"]' in lines
    edge = '-- "mutate#58; w1#58; max_tokens 4096 -#62; 9" -->'
    assert f"    team_vote {edge} team_vote_1" in lines
    assert sum(line.endswith("--> team_vote_2") for line in lines) == 2
    family = run("lineage", pool.folder, "vote_1", "--format", "mermaid").stdout
    assert "guess -->" not in family
    assert family.count("-->") == 2


def test_blame_says_who_set_each_field(pool: Pool) -> None:
    heads, *rows = run("origin", pool.folder, "vote_2").stdout.splitlines()
    assert heads.split("  ")[0] == "field"
    fields = {row.split()[0]: row.split()[1:3] for row in rows}
    assert fields["agents.w1.prompt"] == ["vote_2", "crossover"]
    assert fields["agents.w1.max_tokens"] == ["vote_1", "mutate"]
    assert fields["agents.judge.prompt"] == ["vote", "seed"]
    origins = told("origin", pool.folder, "vote_2", "--json")
    tokens = next(origin for origin in origins if origin["field"] == "agents.w1.max_tokens")
    assert (tokens["value"], tokens["team"]) == (9, "vote_1")
    assert tokens["scored"]["n"] == 4


# import, retire


def test_import_carries_a_team_with_its_lineage(pool: Pool, tmp_path: Path) -> None:
    other = tmp_path / "other"
    run("init", other, "--empty")
    assert run("import", other, pool.folder, "vote_1").stdout.startswith("vote_1: ")
    (member,) = Pool.open(other).members.values()
    assert member.statistics.n == 4
    assert re.fullmatch(r"vote_[a-z2-7]{6}", member.name)  # `init` makes pools that git can merge
    again = run("import", other, pool.folder, "vote_1")
    assert again.stdout.endswith("(was there already)\n")
    assert run("verify", other).exit_code == 0


def test_a_file_is_imported_once(pool: Pool, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\nagents:\n  a: {prompt: Solve it.}\n")
    assert run("import", pool.folder, file).stdout.endswith("mine.yaml (new)\n")
    assert list(Pool.open(pool.folder).members)[-1] == "mine"
    assert Pool.open(pool.folder).members["mine"].lineage == Lineage(operator="import")
    file.write_text("name: other\nagents:\n  b: {prompt: Solve it.}\n")
    assert "mine.yaml" in run("import", pool.folder, file).stdout


def test_a_file_that_does_not_load_is_told_with_all_problems(pool: Pool, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("name: bad\nagents:\n  a: {prompt: Solve it., tools: [bomb]}\ncolour: red\n")
    assert len(refused(run("import", pool.folder, file)).splitlines()) == 3
    assert list(Pool.open(pool.folder).members) == ["vote", "guess", "vote_1"]


def test_a_team_can_be_retired_and_restored(pool: Pool) -> None:
    assert run("retire", pool.folder, "vote", "--reason", "dull").stdout == "vote: retired\n"
    assert run("retire", pool.folder, "vote", "--reason", "again").exit_code == 0
    assert Pool.open(pool.folder).member("vote").retired == "dull"
    assert run("restore", pool.folder, "vote").stdout == "vote: a member\n"
    assert run("restore", pool.folder, "vote").exit_code == 0
    assert list(Pool.open(pool.folder).members) == ["vote", "guess", "vote_1"]


# verify, gc


def test_nothing_of_a_file_commands_the_terminal(pool: Pool) -> None:
    path = pool.folder / "teams" / "vote_1.yaml"
    text = json.dumps(f"{NASTY} said")
    path.write_text(
        path.read_text().replace("name: vote_1\n", f"name: vote_1\ndescription: {text}\n")
    )
    pool.commit(tried("vote", "z", 1, niche=f"n{NASTY}"), op="z")
    orphan = pool.folder / "teams" / "\x1b[31mx.yaml"
    orphan.write_text("")
    for arguments in (
        ("list", pool.folder, "--rejections"),
        ("show", pool.folder, "vote"),
        ("lineage", pool.folder),
        ("lineage", pool.folder, "--format", "mermaid"),
        ("origin", pool.folder, "vote_2"),
        ("verify", pool.folder),
        ("best", pool.folder, "--niche", f"x{NASTY}"),
        ("list", pool.folder, "--json"),
    ):
        words = run(*arguments).output
        assert "\x1b" not in words
        assert "\u202e" not in words


HEAVY = {
    "aiohttp",
    "coterie.pool.command.population",  # of another command
    "coterie.pool.expectation.expectation",
    "coterie.runtime.engine.engine",
    "litellm",
    "minisweagent",
    "networkx",
    "openai",
    "qdrant_client",
    "smolagents",
}


def test_looking_at_a_pool_imports_nothing_heavy(pool: Pool) -> None:
    script = (
        "import sys\n"
        "from coterie.pool.command import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = python("-c", script, "origin", pool.folder, "vote_2", check=True)
    assert set(done.stderr.split()) & HEAVY == set()
