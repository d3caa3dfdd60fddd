"""Operators at work with hostile answers: a gateway that gives them, and what is counted."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from coterie.operators import MetaModel, Proposal, RejectedProposal
from coterie.runtime import Calls
from coterie.runtime.gateway import ChatAnswer, ChatRequest
from coterie.schema import dump
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.loading import check_team

from ..operators.asking import catalogue, ceiling_of, llm, team
from ..operators.hostile import HostileModel

CATALOGUE = catalogue()
FIRST = team(
    "first",
    llm("worker", role="worker", agent_type="ToolCallingAgent", tools=("read_file",)),
    llm("critic", role="critic"),
    llm("judge", role="judge", model_id="fast"),
)
SECOND = team(
    "second",
    llm("worker", role="worker", prompt="Be brief.", max_tokens=64),
    llm("judge", temperature=1),
)
CEILING = ceiling_of(FIRST, SECOND)
GRANTED = CapabilityPolicy.of(FIRST, SECOND)


class Answering:
    """Stands where the gateway does, with a hostile model behind it."""

    models: Mapping[str, Any] = CATALOGUE.models

    def __init__(self, chance: Random) -> None:
        self.model = HostileModel(chance=chance)
        self.asked = 0

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        assert request.schema is not None
        self.asked += 1
        return ChatAnswer(text=self.model.answer(request.schema))


class Count:
    """What came of all the answers."""

    def __init__(self) -> None:
        self.answers = 0
        self.counts: Counter[str] = Counter()

    def of(self, work: Callable[[MetaModel], Awaitable[Any]], chance: Random, run: Any) -> Any:
        """Let an operator work with hostile answers; nothing that it does may go uncounted."""
        events: Counter[str] = Counter()

        def tell(event: str, /, **_: Any) -> None:
            events[event] += 1

        gateway: Any = Answering(chance)
        calls = Calls(gateway=gateway)
        meta = MetaModel(calls=calls, catalogue=CATALOGUE, ceiling=CEILING, tell=tell)
        result = run(work(meta))
        self.answers += gateway.asked
        self.counts[type(result).__name__] += 1
        assert events["model_call"] == gateway.asked
        assert events["operator_dropped"] == isinstance(result, RejectedProposal)
        if isinstance(result, RejectedProposal):
            assert result.problems
        return result

    def enough(self, at_least: int, text: str, *, usable: bool, refused: float = 0.1) -> None:
        """Nothing else came. Of many, all were asked for, some were of no use, and some of use.

        Of few answers (`usable` is false) it is chance whether they are.
        """
        dropped, total = self.counts["RejectedProposal"], self.counts.total()
        assert dropped + self.counts[text] == total > 0
        if usable:
            assert self.answers >= at_least
            assert dropped >= total * refused
            assert self.counts[text] > 0


def check(proposal: Proposal) -> None:
    """A child loads from its file, is below the ceiling, and may do no more than its parents."""
    child = proposal.child
    loaded, problems = check_team(dump(child).encode(), "child.yaml", CATALOGUE)
    assert problems == []
    assert loaded == child
    assert CEILING.problems(child) == []
    for agent in child.agents.values():
        assert set(agent.tools) <= GRANTED.tools
        assert agent.model_id in CATALOGUE.aliases
        assert child.backend_of(agent) in GRANTED.backends
        assert len(agent.prompt) <= 4_000
        assert agent.max_tokens <= 4096
    assert child.execution.timeout <= 600
    assert child.execution.max_retries <= 2


NO_OPTION = st.none()


def examples(share: int, part: int, *, least: int = 10) -> int:
    """Return the number of examples that is enough for a share of answers: many ask twice."""
    return max(least, share * 8 // 10 // part)


def hostile(
    examples: int,
    work: Callable[[MetaModel, Any], Awaitable[Any]],
    *checks: Callable[[Any], None],
    options: SearchStrategy[Any] = NO_OPTION,
) -> Count:
    """Let an operator work with hostile answers, as many times."""
    count, before = Count(), (dump(FIRST), dump(SECOND))
    with asyncio.Runner() as runner:

        @settings(max_examples=examples)
        @given(st.randoms(use_true_random=True), options)
        def many(chance: Random, option: Any) -> None:
            result = count.of(lambda meta: work(meta, option), chance, runner.run)
            if not isinstance(result, RejectedProposal):
                for item in checks:
                    item(result)

        many()
    assert (dump(FIRST), dump(SECOND)) == before
    return count
