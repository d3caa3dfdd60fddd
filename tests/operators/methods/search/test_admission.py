"""Which team enters the pool, and which trials count: told from evolutions of a scripted world."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coterie.operators.evolution.candidates import Candidate
from coterie.operators.methods.search.admission import Admitting, newcomer
from coterie.pool import Pool
from coterie.pool.view import Views
from coterie.runtime import Run, Score
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request
from coterie.schema import Lineage, Task, Team

from ....pool.edited_teams import pool_of, vote
from ...evolving import ALONE, RECIPE, asked, evolve, lines_of, write_world

Answer = Callable[[Request], str]


def world(answer: Answer, edits: Callable[[Request], list[Any]] = lambda _: []) -> Any:
    """Script agents that answer by a rule, and operators that make given edits."""

    def script(request: Request) -> Reply:
        wanted = asked(request)
        if "edits" in wanted:
            return Reply.json({"reason": "why not", "edits": edits(request)})
        if "change" in wanted:
            return Reply.json({"reason": "why not", "change": wanted["change"]["enum"][0]})
        if "selected" in wanted:
            names = wanted["selected"]["items"]["enum"]
            return Reply.json({"reason": "why not", "selected": names[:2]})
        if "summary" in wanted:
            return Reply.json({"summary": "none"})
        return Reply(text=answer(request))

    return script


def shown(request: Request) -> str:
    return json.dumps(request["messages"])


def half(request: Request) -> str:
    """Be right on half of the tasks, whoever answers."""
    return "7" if any(f"What is {n} +" in shown(request) for n in (0, 2)) else "8"


def better(request: Request) -> str:
    return "7" if "Think of" in shown(request) else "8"


def think(what: object) -> list[Any]:
    return [{"set_prompt": {"agent": "one", "prompt": f"Think of {what}."}}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_world(tmp_path, tasks=4)


def trials(pool: Path) -> list[Mapping[str, Any]]:
    lines = map(json.loads, (pool / "ledger.jsonl").read_text().splitlines())
    return [line["value"] for line in lines if line["value"]["kind"] == "evaluated"]


def test_a_trial_counts_for_the_team_it_is_a_trial_of_whether_it_was_the_best_or_not(
    folder: Path,
) -> None:
    # Instantiation leaves every team as it is; who is right depends on the task alone.
    (folder / "recipe.yaml").write_text(RECIPE.replace("steps: 2", "steps: 0"))
    evolve(folder, "pool", script=world(half)).ended(0)
    pool = Pool.open(folder / "pool")
    assert {
        name: (team.statistics.n, team.statistics.score) for name, team in pool.teams.items()
    } == {
        "vote": (4, 0.5),
        "solo": (4, 0.5),
    }


def test_a_newcomers_winning_trial_is_kept_apart_from_its_score(folder: Path) -> None:
    (folder / "recipe.yaml").write_text(f"{ALONE}  components: [prompts]\n")
    evolve(folder, "pool", script=world(better, lambda _: think("it"))).ended(0)
    pool = Pool.open(folder / "pool")
    (child,) = [team for team in pool.teams.values() if team.lineage.parents]
    chosen = [trial for trial in trials(folder / "pool") if trial.get("chosen")]
    assert [fields["team"] for fields in chosen] == [child.name]
    own = [trial for trial in trials(folder / "pool") if trial["team"] == child.name]
    assert child.statistics.n == len(own) - 1
    assert child.team.successful_tasks[0].q == "What is 0 + 7?"


@pytest.mark.parametrize(
    ("answer", "admission", "newcomers"),
    [
        (lambda _: "8", "gain", 0),  # nobody is ever right
        (lambda _: "8", "best", 1),
        (lambda _: "7", "gain", 0),  # everybody is: no child is a gain
        (better, "gain", 1),
        (better, "none", 0),
    ],
)
def test_only_a_gain_comes_in(folder: Path, answer: Answer, admission: str, newcomers: int) -> None:
    recipe = f"{ALONE}  components: [prompts]\n  instantiate: false\n  admission: {admission}\n"
    if admission == "best" and newcomers:
        recipe = recipe.replace("  instantiate: false", "  instantiate: true")
        recipe = recipe.replace("steps: 2", "steps: 0")
    (folder / "recipe.yaml").write_text(recipe)
    result = evolve(folder, "pool", "--json", script=world(answer, lambda _: think("it"))).ended(0)
    assert result.json["growth"][-1] == newcomers


def test_a_team_that_never_ran_wins_no_tie_and_does_not_come_in(folder: Path) -> None:
    def broken(request: Request) -> Reply:
        if "Think of" in shown(request) and "edits" not in asked(request):
            return Reply(text="")  # no answer: the run fails
        return world(lambda _: "8", lambda _: think("it"))(request)

    (folder / "recipe.yaml").write_text(ALONE + "  components: [prompts]\n  instantiate: false\n")
    evolve(folder, "pool", "--limit", "3", script=broken).ended(0)
    assert [*Pool.open(folder / "pool").teams] == ["solo"]
    for line in lines_of(folder / "pool"):
        assert line["candidates"][line["best"]]["executed"]
        assert line["team"] == "solo"


def test_a_full_pool_lets_the_one_go_that_is_expected_to_score_least(folder: Path) -> None:
    numbers = iter(range(100))

    def ever_better(request: Request) -> str:
        result = [n for n in range(100) if f"Think of {n}." in shown(request)]
        return (
            "7" if result and any(f"What is {n % 4} +" in shown(request) for n in result) else "8"
        )

    (folder / "recipe.yaml").write_text(
        ALONE + "  components: [prompts]\n  instantiate: false\n  cap: 2\n  admission: best\n"
    )
    script = world(ever_better, lambda _: think(next(numbers)))
    report = evolve(folder, "pool", "--json", script=script).ended(0).json
    assert max(report["sizes"]) == 2
    assert report["growth"][-1] > 1
    assert len(Pool.open(folder / "pool").members) == 2


def test_what_a_team_scores_as_adapted_is_known_of_it_win_or_lose(folder: Path) -> None:
    # Every team is always adapted, so none ever runs as it stands; half of the answers are right.
    numbers = iter(range(100))
    recipe = RECIPE.replace("steps: 2", "steps: 0") + "  admission: none\n  components: [prompts]\n"
    (folder / "recipe.yaml").write_text(recipe)
    evolve(folder, "pool", script=world(half, lambda _: think(next(numbers)))).ended(0)
    for team in Pool.open(folder / "pool").teams.values():
        known = team.statistics
        assert (known.n, known.adapted, known.adapted_sum) == (0, 4, 2.0)


def candidate(
    number: int, reward: float, team: Team, status: Any = "done", **fields: Any
) -> Candidate:
    run = Run(status=status, answer="7")
    scored = [(run, Score(value=max(0.0, reward), reason="so"))]
    born = Lineage(operator="mutate", parents=("vote",))
    return Candidate(
        number=number, team=team, lineage=born, runs=scored, rewards=[reward], **fields
    )


@pytest.mark.parametrize(
    ("before", "after", "margin", "status", "comes"),
    [
        (0.5, 0.7, 0.0, "done", True),
        (0.5, 0.7, 0.05, "done", True),
        (0.5, 0.7, 0.2, "done", False),
        (0.5, 0.7, 0.0, "stopped", False),
        (-0.5, 0.0, 0.0, "done", False),  # It costs less than its parent, and is worth nothing.
    ],
)
def test_a_gain_runs_is_worth_something_and_passes_the_margin(
    before: float, after: float, margin: float, status: str, comes: bool
) -> None:
    tried = [
        candidate(0, before, vote(), member="vote"),
        candidate(1, after, vote("Anew."), status, sources=(0,)),
    ]
    settings = SimpleNamespace(admission="gain", margin=margin)
    expected = {"vote": SimpleNamespace(score=before)}
    search: Any = SimpleNamespace(
        best=tried[1], candidate=tried.__getitem__, settings=settings, expected=expected
    )
    assert newcomer(search) is (tried[1] if comes else None)


def test_a_team_that_was_born_meanwhile_is_tried_and_lets_nobody_go(tmp_path: Path) -> None:
    known = vote("Solve it anew.", name="other")
    pool = pool_of(tmp_path / "pool", vote(), known)
    best = candidate(0, 1.0, known)
    episode = SimpleNamespace(
        task=Task(id="t", query="How many?"),
        op=lambda what: f"recipe/{what}",
        context=SimpleNamespace(name="recipe"),
        scored_by="exact",
        head=dict,
        tail=dict,
    )
    settings = SimpleNamespace(admission="best", cap=1)
    search: Any = SimpleNamespace(best=best, candidates=[best], settings=settings, episode=episode)
    line = Admitting(search=search).close(pool, Views(pool, "recipe").upto(0))
    assert (line["team"], line["kept"], line["new"], line["pool"]) == ("other", True, False, 2)
    assert (line["verdict"], line["first"]) == (None, None)  # There is no right answer.
    assert pool.teams["other"].statistics.n == 1
    last = (pool.folder / "ledger.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["op"] == "recipe/trial 0"
