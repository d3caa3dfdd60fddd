"""Every value that is kept is read as it was written, whatever it holds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.benchmarks.evaluation.benchmark import Source
from coterie.benchmarks.evaluation.choosing import Part, TaskChoice
from coterie.benchmarks.evaluation.results import Request
from coterie.benchmarks.evaluation.samples import Sample
from coterie.operators.credit.contributions import Contribution, Contributions
from coterie.operators.credit.counterfactual import Worth
from coterie.operators.routing import Case, CaseSpending, Condition, Linear, RoutingOutcome, Rule
from coterie.pool.ledger.learnt import OperatorOutcome
from coterie.pool.values.statistics import Trial
from coterie.pool.values.statistics import TrialPart as Share
from coterie.runtime import Caps, Score
from coterie.runtime.agents.outcomes import AgentOutcome, Ending, Posted, Run, ToolCall
from coterie.runtime.agents.posted import Ended, TurnDone, TurnStart
from coterie.runtime.gateway import ChatAnswer
from coterie.runtime.gateway import ToolRequest as Called
from coterie.runtime.record.costs import Attempt
from coterie.runtime.runners import AgentResult
from coterie.runtime.values.usage import Usage
from coterie.schema.host.models import Model
from coterie.schema.values.codec import from_value, to_value

T = TypeVar("T")
TEXTS = st.text(max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SHARES = st.floats(0, 1)
COUNTS = st.integers(0, 99)
PLAIN = st.dictionaries(TEXTS, st.none() | TEXTS | COUNTS | st.lists(COUNTS), max_size=2)


def tuples(of: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(of, max_size=2).map(tuple)


def maps(of: st.SearchStrategy[T]) -> st.SearchStrategy[dict[str, T]]:
    return st.dictionaries(TEXTS, of, max_size=2)


def built(form: Callable[..., T], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[T]:
    """Build a dataclass, each field of it given or left at its default."""
    return st.fixed_dictionaries({}, optional=fields).map(lambda given: form(**given))


USAGES = built(Usage, calls=COUNTS, stored_tokens=COUNTS, usd=st.sampled_from([0.0, 0.5]))
SCORES = st.builds(Score, value=SHARES, reason=TEXTS, measures=maps(SHARES), log=TEXTS)
CALLS = st.builds(ToolCall, tool=TEXTS, arguments=PLAIN, error=st.none() | TEXTS)
RESULTS = st.builds(
    AgentResult,
    content=TEXTS,
    answer=st.none() | TEXTS,
    patch=st.none() | TEXTS,
    steps=tuples(PLAIN),
)
OUTCOMES = st.builds(
    AgentOutcome,
    status=st.sampled_from(["done", "failed", "skipped", "cancelled"]),
    result=st.none() | RESULTS,
    error=st.none() | TEXTS,
    fault=st.none() | TEXTS,
    usage=USAGES,
    seconds=COUNTS,
    attempts=COUNTS,
    tool_calls=tuples(CALLS),
    mishaps=tuples(TEXTS),
    dialogue=tuples(PLAIN),
)
POSTED = st.builds(
    Posted, number=COUNTS, sender=TEXTS, to=TEXTS, kind=st.sampled_from(["task", "message"])
)
ENDINGS = st.builds(
    Ending, why=st.sampled_from(["silence", "turns"]), by=st.none() | TEXTS, turns=maps(COUNTS)
)
SPENDING = st.builds(CaseSpending, cost=SHARES, calls=COUNTS, tokens=COUNTS)
SIDES = st.builds(RoutingOutcome, score=SHARES, spent=SPENDING, name=TEXTS)
CHOICES = st.builds(
    TaskChoice,
    split=st.sampled_from(["all", "test"]),
    limit=st.none() | COUNTS,
    instances=tuples(TEXTS),
    shard=st.none() | st.builds(Part, which=st.integers(1, 3), of=st.integers(3, 9)),
)
CONDITIONS = st.builds(Condition, feature=TEXTS, threshold=SHARES, above=st.booleans())
CONTRIBUTIONS = st.builds(Contribution, value=SHARES, reason=TEXTS)

KEPT: dict[type[Any], st.SearchStrategy[Any]] = {
    AgentOutcome: OUTCOMES,
    Run: st.builds(
        Run,
        status=st.sampled_from(["done", "failed", "stopped"]),
        answer=st.none() | TEXTS,
        answered_by=st.none() | TEXTS,
        said=st.none() | TEXTS,
        score=st.none() | SCORES,
        usage=USAGES,
        saved=USAGES,
        agents=maps(OUTCOMES),
        over_budget=st.booleans(),
        fault=st.none() | TEXTS,
        rounds=COUNTS,
        recruited=maps(TEXTS),
        bus=tuples(POSTED),
        ending=st.none() | ENDINGS,
    ),
    TurnStart: st.builds(TurnStart, agent=TEXTS, turn=COUNTS, messages=tuples(COUNTS)),
    TurnDone: st.builds(TurnDone, agent=TEXTS, turn=COUNTS, posted=tuples(POSTED)),
    Ended: st.builds(Ended, why=st.just("silence"), by=st.none() | TEXTS, text=TEXTS),
    Attempt: st.builds(Attempt, usage=USAGES, state=st.sampled_from(["open", "settled", "lost"])),
    ChatAnswer: st.builds(
        ChatAnswer,
        text=TEXTS,
        tool_calls=tuples(st.builds(Called, id=TEXTS, name=TEXTS, arguments=TEXTS, extra=PLAIN)),
        thinking=TEXTS,
        kept=PLAIN,
        usage=USAGES,
        adapted=maps(TEXTS),
    ),
    Caps: built(Caps, usd=st.floats(0.1, 9), tokens=st.integers(1, 9), calls=st.integers(1, 9)),
    Model: st.builds(
        Model,
        alias=TEXTS,
        model=TEXTS,
        usd_steps=tuples(maps(SHARES)),
        fallback=tuples(TEXTS),
        inputs=st.none() | tuples(st.just("image")),
        effort=st.none() | st.just("low"),
        body=PLAIN,
    ),
    Trial: st.builds(
        Trial,
        task=TEXTS,
        score=st.none() | SHARES,
        reward=st.none() | NUMBERS,
        usage=USAGES,
        saved=USAGES,
        niche=st.none() | TEXTS,
        reason=TEXTS,
        chosen=st.booleans(),
        agents=maps(st.builds(Share, member=TEXTS, share=st.none() | SHARES)),
        rounds=COUNTS,
        structure=st.none() | TEXTS,
    ),
    OperatorOutcome: st.builds(
        OperatorOutcome, operator=TEXTS, team=st.none() | TEXTS, reward=st.none() | SHARES
    ),
    Sample: st.builds(
        Sample,
        task=TEXTS,
        trial=COUNTS,
        niche=TEXTS,
        status=TEXTS,
        score=st.none() | SHARES,
        measures=maps(SHARES),
        answer=st.none() | TEXTS,
        lost=COUNTS,
        usage=USAGES,
    ),
    Request: st.builds(
        Request,
        benchmark=TEXTS,
        source=built(
            Source, data=st.just(Path("/data")), seed=COUNTS, count=st.none() | COUNTS, rubric=TEXTS
        ),
        choice=CHOICES,
        trials=COUNTS,
    ),
    Case: st.builds(
        Case, task=TEXTS, features=maps(SHARES), single=SIDES, team=SIDES, gauging=SPENDING
    ),
    Rule: st.builds(Rule, conditions=tuples(CONDITIONS), joined=st.sampled_from(["all", "any"])),
    Linear: st.builds(
        Linear, weights=maps(SHARES), middles=maps(SHARES), spreads=maps(SHARES), bias=NUMBERS
    ),
    Worth: st.builds(Worth, value=SHARES, needed=USAGES, paid=maps(USAGES)),
    Contributions: st.builds(
        Contributions,
        of=maps(CONTRIBUTIONS),
        score=SHARES,
        reason=TEXTS,
        converged=st.booleans(),
    ),
}


@pytest.mark.parametrize("form", KEPT)
def test_a_value_is_read_as_it_was_written(form: type[Any]) -> None:
    @given(KEPT[form])
    def check(item: Any) -> None:
        assert from_value(form, json.loads(json.dumps(to_value(item)))) == item

    check()
