"""Attributions on their way: each trace by each method, several at once, every answer journaled.

What was interrupted goes on where it was. What a provider failed is no verdict: it is told apart,
and made again another time.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from coterie.runtime.gateway import CallError
from coterie.runtime.record.journal import digest
from coterie.runtime.values.together import by_workers
from coterie.runtime.values.usage import Usage
from coterie.schema.values.errors import RunError

from .chance import chance_of
from .methods import METHODS
from .verdicts import Told, exact, original

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coterie.operators.core.meta import MetaModel
    from coterie.runtime.record.journal import Journal

    from .published import Labelled

FAILURES_IN_A_ROW = 10
"""Attributions that a provider fails one after the other before no more are begun."""
KIND = "attribution"

COUNTED: Mapping[str, str] = MappingProxyType(
    {"repaired": "operator_repair", "dropped": "operator_dropped", "shortened": "trimmed"}
)
"""What is counted of the questions of one attribution, and the event that tells it."""

Key = tuple[str, "Labelled"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Attributed:
    """The result of one method on one trace.

    Attributes:
        method: Its name.
        label: The trace, with its label.
        told: Whom it blames; None where nobody is, or no answer was of use.
        repaired: Answers that were handed back to the model.
        dropped: Questions of which no answer was of use.
        shortened: Questions that were too long for the model's context, and were cut to fit.
        usage: What it consumed.
        error: Why there is no verdict, where a provider failed; empty where there is one.
    """

    method: str
    label: Labelled
    told: Told | None = None
    repaired: int = 0
    dropped: int = 0
    shortened: int = 0
    usage: Usage = field(default_factory=Usage)
    error: str = ""

    @classmethod
    def of_value(cls, method: str, label: Labelled, value: Mapping[str, Any]) -> Attributed:
        """Read it as the journal has it."""
        report = Told(**value["told"]) if value["told"] else None
        counts = {name: value[name] for name in COUNTED}
        return cls(method=method, label=label, told=report, usage=Usage(**value["usage"]), **counts)

    def value(self) -> dict[str, Any]:
        """Return what the journal keeps."""
        return {
            "told": self.told and asdict(self.told),
            **{name: getattr(self, name) for name in COUNTED},
            "usage": self.usage.value(),
        }

    def line(self) -> dict[str, Any]:
        """Return all that tables are made of: a line of attributions.jsonl."""
        label = self.label
        about: dict[str, Any] = {
            "method": self.method,
            "trace": label.id,
            "source": label.source,
            "characters": label.characters,
            "steps": len(label.history),
            "label": {"agent": label.agent, "step": label.step},
            "chance": asdict(chance_of(label)),
        }
        if self.error:
            return {**about, "error": self.error, "usage": self.usage.value()}
        loosely, strictly = original(label, self.told), exact(label, self.told)
        right = {"agent": strictly.agent, "agent_original": loosely.agent}
        right |= {"step": strictly.step, "step_original": loosely.step}
        return {**about, **self.value(), "right": right}


@dataclass(kw_only=True, eq=False)
class Attributing:
    """Attributions of some traces by some methods.

    Attributes:
        everything: All traces of the data.
        labels: Those that are to be looked at.
        methods: Names of the methods that are to, in the order in which they are begun.
        with_answer: Whether they are shown the right answers.
        meta_model: Who is asked.
        journal: Where answers and attributions are kept.
        workers: How many attributions are at work at once.
        on_attributed: Told each, those of earlier processes too, as they come.
    """

    everything: Sequence[Labelled]
    labels: Sequence[Labelled]
    methods: Sequence[str]
    with_answer: bool
    meta_model: MetaModel
    journal: Journal
    workers: int
    on_attributed: Callable[[Attributed], None] = lambda _one: None
    _failed: dict[tuple[str, str], Attributed] = field(
        default_factory=dict[tuple[str, str], Attributed]
    )
    _in_a_row: int = 0

    async def to_the_end(self) -> None:
        """Make all that are missing.

        Raises:
            RunError: The provider fails again and again. What was paid for is kept.
            LimitError: The budget is used up. What was paid for is kept.
            StorageError: Something cannot be written down.
        """
        await by_workers(self._keys(), self._make, self.workers)

    def done(self) -> Iterator[Attributed]:
        """Return those of what is to be made that are made."""
        known = (self._known(method, label) for method, label in self._keys())
        return (item for item in known if item is not None)

    def attributed(self) -> Iterator[Attributed]:
        """Yield all that there is, also of other methods and traces: by method, then by trace."""
        for method, label in itertools.product(METHODS, self.everything):
            result = self._known(method, label) or self._failed.get((method, label.id))
            if result is not None:
                yield result

    def _keys(self) -> Iterator[Key]:
        return ((method, label) for method in self.methods for label in self.labels)

    async def _make(self, key: Key) -> None:
        method, label = key
        known = self._known(method, label)
        self.on_attributed(known or await self._taken(method, label))

    async def _taken(self, method: str, label: Labelled) -> Attributed:
        """Have a method look at a trace, and keep what it says; a failure is not kept.

        Raises:
            RunError: The provider fails again and again.
            LimitError: The budget is used up.
        """
        path = _path(method, label)
        tally = Counter[str]()

        def tell(event: str, /, **_fields: Any) -> None:
            tally[event] += 1

        meta = replace(self.meta_model, tell=tell)
        try:
            report = await METHODS[method](meta, path, label.trace(with_answer=self.with_answer))
        except CallError as error:
            return self._lost(method, label, str(error))
        counts: dict[str, Any] = {name: tally[event] for name, event in COUNTED.items()}
        spent = self.journal.spent(f"{path}/", lost=False)
        result = Attributed(method=method, label=label, told=report, usage=spent, **counts)
        self._in_a_row = 0
        self._failed.pop((method, label.id), None)
        await self.journal.put(f"{path}/{KIND}", KIND, self._asked(label), result.value())
        return result

    def _lost(self, method: str, label: Labelled, why: str) -> Attributed:
        spent = self.journal.spent(f"{_path(method, label)}/", lost=False)
        lost = Attributed(method=method, label=label, usage=spent, error=why)
        self._failed[method, label.id] = lost
        self._in_a_row += 1
        if self._in_a_row == FAILURES_IN_A_ROW:
            self.on_attributed(lost)
            raise RunError(
                f"{FAILURES_IN_A_ROW} attributions in a row could not be made; the last one:"
                f" {label.id} by {method}: {why}"
            )
        return lost

    def _known(self, method: str, label: Labelled) -> Attributed | None:
        path = f"{_path(method, label)}/{KIND}"
        value = self.journal.get(path, self._asked(label))
        return None if value is None else Attributed.of_value(method, label, value)

    def _asked(self, label: Labelled) -> str:
        return digest(
            label.value(), self.with_answer, asdict(self.meta_model.limits), self.meta_model.model
        )


def _path(method: str, label: Labelled) -> str:
    return f"{method}/{label.id}"
