"""An evaluation on a small invented benchmark: nothing is lost, paid twice, or scored wrongly."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.evaluation.benchmark import ACCURACY
from coterie.benchmarks.evaluation.evaluation import Evaluation
from coterie.benchmarks.evaluation.figures import EvaluationFigures
from coterie.benchmarks.evaluation.samples import Sample
from coterie.runtime import Journal, Setting, compile, open_services
from coterie.runtime.doubles import Replies, Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.schema import Agent, Catalogue, Execution, Model, ScorerChoice, Task, Team

from ...support.journals import Written, rewrite

TASKS = tuple(
    Task(
        id=f"q{n}",
        query=f"How much is {n} + 1?",
        niche="even" if n % 2 == 0 else "odd",
        answer=n + 1,
        scorer=ScorerChoice(name="number"),
    )
    for n in range(12)
)
PAIR = Team(
    name="pair",
    agents={
        "first": Agent(id="first", prompt="You are [first]. Add."),
        "second": Agent(id="second", prompt="You are [second]. Check."),
    },
    reports_to={"first": ("second",)},
    execution=Execution(max_retries=0),
)
SOLO = replace(PAIR, name="solo", agents={"first": PAIR.agents["first"]}, reports_to={})


def adds(request: Request) -> Reply:
    """Add as asked; but 7 and 1 are too much."""
    n = int(re.findall(r"How much is (\d+)", message_text(request))[-1])
    return Reply(text=f"The answer is {n + (1 if n != 7 else 2)}.")


@dataclass(kw_only=True)
class Stand:
    """Where an evaluation is made, in several processes as it were."""

    folder: Path
    team: Team = PAIR
    tasks: Sequence[Task] = TASKS
    trials: int = 1
    calls: int = 0
    asked: list[str] = field(default_factory=list)
    evaluation: Evaluation | None = None

    async def evaluated(self, replies: Replies = adds, **options: Any) -> list[Sample]:
        """Make what is missing; give all samples there are."""
        with ScriptedModel(replies) as model:
            try:
                return await self._with(model.api_base, _to_the_end, **options)
            finally:
                self.calls += len(model.calls)
                self.asked += [call.text for call in model.calls]

    async def again(self) -> list[str]:
        """Make it again offline."""
        return await self._with("http://127.0.0.1:9/v1", Evaluation.again, replaying=True)

    async def _with(self, base: str, work: Callable[[Evaluation], Any], **options: Any) -> Any:
        known = Catalogue.of_host(
            models={"default": Model(alias="default", model="m", api_base=base)}
        )
        self.folder.mkdir(exist_ok=True)
        async with open_services(known, Setting(seed=0)) as services:
            replaying = options.pop("replaying", False)
            with Journal.open(self.folder, replaying=replaying) as journal:
                self.evaluation = Evaluation(
                    plan=compile(self.team, known),
                    tasks=self.tasks,
                    trials=self.trials,
                    workers=options.pop("workers", 3),
                    services=services,
                    journal=journal,
                    scrubber=services.scrubber({}),
                    **options,
                )
                return await work(self.evaluation)


async def _to_the_end(evaluation: Evaluation) -> list[Sample]:
    await evaluation.to_the_end()
    return list(evaluation.samples())


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(folder=tmp_path / "results")


async def test_every_task_is_tried_and_scored(stand: Stand) -> None:
    seen: list[Sample] = []
    samples = await stand.evaluated(on_sample=seen.append)
    assert [sample.task for sample in samples] == [task.id for task in TASKS]
    assert [sample.task for sample in samples if sample.score != 1] == ["q7"]
    assert samples[7].answer == "The answer is 9."
    assert all((sample.usage.calls, sample.status) == (2, "done") for sample in samples)
    assert sorted(item.task for item in seen) == sorted(sample.task for sample in samples)
    assert stand.calls == 24
    assert EvaluationFigures.of(samples, ACCURACY).niches.keys() == {"even", "odd"}


async def test_each_trial_is_a_run_of_its_own(stand: Stand) -> None:
    stand.tasks, stand.trials, stand.team = TASKS[:2], 3, SOLO
    seeds: set[int] = set()

    def counted(request: Request) -> Reply:
        seeds.add(request["seed"])
        return Reply(text=str(len(seeds)))

    samples = await stand.evaluated(counted, workers=1)
    assert [(sample.task, sample.trial) for sample in samples] == [
        *(("q0", 1), ("q1", 1)),
        *(("q0", 2), ("q1", 2)),
        *(("q0", 3), ("q1", 3)),
    ]
    assert len(seeds) == 6
    assert [sample.score for sample in samples] == [1, 1, 0, 0, 0, 0]


async def test_a_trial_whose_model_hangs_has_no_score_until_it_is_made_again(stand: Stand) -> None:
    hurried = replace(SOLO.agents["first"], timeout=5)
    stand.team, stand.tasks = replace(SOLO, agents={"first": hurried}), TASKS[:3]

    def hanging(request: Request) -> Reply:
        hangs = "How much is 1 " in message_text(request)
        return Reply.fault("hang") if hangs else adds(request)

    assert [item.score for item in await stand.evaluated(hanging)] == [1, None, 1]
    assert [item.score for item in await stand.evaluated()] == [1, 1, 1]


async def test_failures_between_successes_stop_nothing(stand: Stand) -> None:
    stand.team, stand.tasks = SOLO, [replace(TASKS[0], id=f"q{n}") for n in range(40)]
    replies = [Reply.error(400) if n % 4 else "1" for n in range(40)]
    # A refused prompt is the team's own failure; what the provider denies is not.
    denied = [Reply.error(403) if n % 4 else "1" for n in range(40)]
    samples = await stand.evaluated(denied, workers=1)
    assert sum(sample.score is None for sample in samples) == 30
    own = Stand(folder=stand.folder.with_name("own"), team=SOLO, tasks=stand.tasks)
    assert [item.score for item in await own.evaluated(replies, workers=1)] == [1, 0, 0, 0] * 10


async def test_a_team_that_fails_by_itself_scores_0_and_did_not_run(stand: Stand) -> None:
    form = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    strict = replace(PAIR.agents["first"], output_schema=form)
    stand.team = replace(SOLO, agents={"first": strict})

    def odd_ones(request: Request) -> Reply:
        n = int(re.findall(r"How much is (\d+)", message_text(request))[0])
        return Reply.json({"sum": n + 1}) if n % 2 == 0 else Reply(text="I would rather not.")

    samples = await stand.evaluated(odd_ones)
    assert {sample.status for sample in samples if sample.score == 0} == {"failed"}
    figures = EvaluationFigures.of(samples, ACCURACY).results()
    assert figures["execution_rate"]["value"] == 0.5
    assert figures["headline"]["value"] == 0.5
    assert figures["unscored"] == 0
    before = stand.calls
    # A score of 0 is a score: it is not tried again.
    assert await stand.evaluated(odd_ones) == samples
    assert stand.calls == before


async def test_a_replay_says_where_an_answer_was_tampered_with(stand: Stand) -> None:
    await stand.evaluated()
    path = "q5/trial 1/second/attempt 1/call 1"

    def tampered(entry: Written) -> Written:
        if entry.path != path:
            return entry
        assert "is 6." in entry.value
        return entry._replace(value=entry.value.replace("is 6.", "is 60."))

    rewrite(stand.folder, tampered)
    assert await stand.again() == [
        "q5, trial 1: '60' is not '6'",
        "q5/trial 1/second (agent): result differs from the recording.",
    ]


async def test_a_replay_says_where_a_team_asks_something_else(stand: Stand) -> None:
    await stand.evaluated()
    other = replace(PAIR.agents["second"], prompt="You are [second]. Check twice.")
    stand.team = replace(PAIR, agents={**PAIR.agents, "second": other})
    stand.tasks = TASKS[:1]
    assert await stand.again() == [
        "q0/trial 1/sample (sample): asked differs from the recording.",
        "q0/trial 1/second (agent): asked differs from the recording.",
        "q0/trial 1/second/attempt 1/call 1 (model): asked differs from the recording.",
    ]


async def test_a_replay_makes_failures_again_too(stand: Stand) -> None:
    await stand.evaluated(lambda request: Reply.error(400) if "[second]" in str(request) else "1")
    assert await stand.again() == []


async def test_no_agent_sees_a_reference_answer(stand: Stand) -> None:
    stand.tasks = [replace(task, answer=f"secret-{task.id}") for task in TASKS[:2]]
    await stand.evaluated("no idea")
    assert stand.asked
    assert not any("secret" in text for text in stand.asked)
