"""What holds for every strategy: nothing goes wrong in silence, and a kill changes nothing."""

import hashlib
import json
import random
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request
from coterie.schema.host.catalogue import installed

from ...sites import file_of
from ...support.commands import invoked_in
from ..building import Killed, dying
from ..evolving import asked, killed_at
from ..methods.evochamber import chamber
from .every_strategy import RECIPES, adapt, evolve


def test_no_strategy_is_left_out() -> None:
    assert {*RECIPES} == {*installed("strategies")}


def wordy(request: Request) -> Reply:
    """Answer right, in a form that the scorer does not read; operators get nothing of use."""
    return Reply(text="I would rather not." if asked(request) else "All in all it makes 7.")


def on_push(names: Iterable[str], *on_push: str) -> list[Any]:
    """Leave all but some strategies to the night, where one frame holds for all of them."""
    return [
        name if name in on_push else pytest.param(name, marks=pytest.mark.nightly) for name in names
    ]


@pytest.mark.parametrize("strategy", on_push(RECIPES, "evomas", "fixed", "mattrl"))
def test_scores_of_0_for_want_of_a_form_stop_an_evolution(strategy: str, tmp_path: Path) -> None:
    result = evolve(tmp_path, strategy, wordy, "--yes", tasks=12).ended(2)
    assert "the first 10 scores are all 0, yet 10 of these answers contain" in result.err
    assert "the scorer exact does not find it" in result.err
    assert "the answer ends in 'All in all it makes 7.', the reference answer is '7'" in result.err
    assert 'write "scorer": {"name": "number"} into the tasks' in result.err
    assert result.err.rstrip().endswith(
        "add --allow-zeros; nothing is lost. Repeat the command to resume."
    )


def test_an_evolution_resumes_on_allowed_zeros_and_pays_nothing_again(tmp_path: Path) -> None:
    assert evolve(tmp_path, "fixed", wordy, tasks=12).calls == 10
    assert evolve(tmp_path, "fixed", wordy, tasks=22).code == 2  # it looks again where it resumes
    allowed = evolve(tmp_path, "fixed", wordy, "--allow-zeros", tasks=22)
    assert (allowed.code, allowed.calls) == (0, 3)
    assert "online 0.000" in allowed.out


def useless(request: Request) -> Reply:
    """Answer wrong; operators get nothing of use."""
    return Reply(text=f"I would rather not. {request.get('seed')}" if asked(request) else "8")


ASKING = [name for name in RECIPES if name not in {"best_of_n", "fixed"}]


@pytest.mark.parametrize("strategy", ASKING)
def test_useless_operators_are_reported_and_warned_of(strategy: str, tmp_path: Path) -> None:
    result = evolve(tmp_path, strategy, useless, tasks=12 if strategy == "race" else 2).ended(0)
    assert "useless: it is not JSON: …" in result.out
    *_, warning = [line for line in result.out.splitlines() if line.startswith("warning: ")]
    assert re.fullmatch(r"warning: every operator answer was useless: (\d+) of \1\.", warning)
    report = invoked_in(tmp_path, mas_view, ["pool", "--json"], "mas-view").ended(0)
    answers = report.json["asked"].values()
    assert {answer["useful"] for answer in answers} == {0}
    assert all(sum(answer["useless"].values()) for answer in answers)


def judged(request: Request) -> Reply:
    """Judge every answer; else answer as `useless`."""
    is_judge = {*asked(request)} == {"reason", "score"}
    return Reply.json({"reason": "so", "score": 0.3}) if is_judge else useless(request)


@pytest.mark.parametrize("strategy", ["evomas", "tacomas"])
def test_a_run_of_useless_operators_says_so_everywhere(strategy: str, tmp_path: Path) -> None:
    result = adapt(tmp_path, strategy, judged)
    assert (result.code, result.out) == (0, "8\n"), result.err
    assert re.search(
        r"^\w+: (\d+) of \1 answers? useless: it is not JSON: … \(\1\)$", result.err, re.M
    )
    assert re.search(
        r"^warning: every operator answer was useless: (\d+) of \1\.$", result.err, re.M
    )
    [run] = (tmp_path / "runs").iterdir()
    answers = json.loads((run / "result.json").read_text())["operators"]
    assert json.loads((run / "story.json").read_text())["operators"] == answers
    assert {answer["useful"] for name, answer in answers.items() if name != "judge"} == {0}
    shown = invoked_in(tmp_path, mas_view, ["--text", str(run)], "mas-view").out
    assert re.search(r"^useless  \w+: (\d+) of \1 answers? useless: it is not JSON", shown, re.M)
    assert re.search(r"^warning  every operator answer was useless", shown, re.M)
    assert re.search(r"s  \w+: nothing of use: it is not JSON: 'I would rather not", shown)
    assert "nothing of use: it is not JSON" in file_of(run).text


def test_a_run_that_no_judge_could_judge_says_so(tmp_path: Path) -> None:
    def in_turn(request: Request) -> Reply:
        return Reply(text="no" if asked(request) else f"{len(request['messages'])}")

    result = adapt(tmp_path, "tacomas", in_turn).ended(0)
    assert "round 2: ended, most; round 2 answers; no round was scored" in result.err
    assert "warning: nothing was judged: contributions had no answer of use." in result.err


def test_a_run_in_which_no_operator_is_asked_says_so(tmp_path: Path) -> None:
    result = adapt(tmp_path, "fixed", judged).ended(0)
    assert "warning: fixed called no operator: the team worked unchanged." in result.err


@pytest.mark.parametrize(
    "strategy", on_push([name for name in ASKING if name != "race"], "evochamber", "evomas")
)
def test_an_evolution_of_useless_operators_stops_early(strategy: str, tmp_path: Path) -> None:
    result = evolve(tmp_path, strategy, useless, tasks=8).ended(1)
    why = r"nothing evolves: on \d tasks, none of (\d+) operator answers was usable\. \w+: (\d+) of"
    assert re.search(why, result.err)
    assert "it is not JSON: …" in result.err
    assert len((tmp_path / "pool/evolutions/recipe/turns.jsonl").read_text().splitlines()) < 7
    again = evolve(tmp_path, strategy, useless, "--yes", tasks=8)
    assert (again.code, "resuming after " in again.err) == (0, True), again.err


def sensible(request: Request) -> Reply:
    """Answer operators in the form that they ask for; agents are right by what they read."""
    if asked(request):
        return chamber.answering(request)
    digest = hashlib.sha256(json.dumps(request["messages"], sort_keys=True).encode())
    return Reply(text="7" if digest.digest()[0] % 2 else "8")


WHOLE: Mapping[str, Mapping[str, Any]] = {
    "evochamber": {"settings": {**chamber.RECIPE["settings"], "tau": 2}},
    "evomas": {},
    "mattrl": {},
    "meta_team": {"settings": {}},
    "tacomas": {},
}
"""Strategies that evolve task by task, with recipes that leave out none of their parts."""


@pytest.mark.parametrize("strategy", WHOLE)
def test_killed_anywhere_it_has_the_same_pool(strategy: str, tmp_path: Path, nightly: bool) -> None:
    recipe, tasks = {**WHOLE[strategy], "workers": 3}, 20 if nightly else 3
    clean = evolve(tmp_path, strategy, sensible, tasks=tasks, pool="clean", **recipe).ended(0)
    lines = len((tmp_path / "clean/ledger.jsonl").read_text().splitlines())
    chance, kills = random.Random(strategy), 0
    for _ in range(40 if nightly else 1):
        try:
            with dying(chance.randrange(lines), is_written=chance.random() < 0.5):
                evolve(tmp_path, strategy, sensible, tasks=tasks, pool="killed", **recipe)
        except* Killed:
            kills += 1
    for _ in range(20 if nightly else 0):
        moment = chance.randint(1, clean.calls // 2)
        killed_at(tmp_path, "killed", moment, "--embedder", "hashing", script=sensible)
    evolve(tmp_path, strategy, sensible, tasks=tasks, pool="killed", **recipe).ended(0)
    assert kills > 0
    assert chamber.left(tmp_path / "killed") == chamber.left(tmp_path / "clean")


@pytest.mark.parametrize("strategy", WHOLE)
def test_a_budget_ends_it_and_with_more_it_comes_to_the_same(strategy: str, tmp_path: Path) -> None:
    recipe = WHOLE[strategy]
    clean = evolve(tmp_path, strategy, sensible, tasks=2, pool="clean", **recipe)
    cap = ("--budget", f"calls={clean.calls // 2}")
    stopped = evolve(tmp_path, strategy, sensible, *cap, tasks=2, **recipe)
    assert (stopped.code, stopped.calls) == (3, clean.calls // 2), stopped.err
    again = evolve(tmp_path, strategy, sensible, "--budget", "calls=1000", tasks=2, **recipe)
    assert (again.code, stopped.calls + again.calls) == (0, clean.calls), again.err
    assert chamber.left(tmp_path / "pool") == chamber.left(tmp_path / "clean")
