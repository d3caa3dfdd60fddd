"""MIPROv2 of DSPy as a method of an arena: it chooses instructions and worked examples for agents.

`pip install dspy==3.4.1 optuna==5.0.0` makes it available. As at home: the settings
(`auto="light"`), runs that score become worked examples, the operator describes data, program and
agents before it writes an instruction, and Optuna searches. A prompt that ran on a task does not
run on it again, for DSPy caches calls. Not as at home:

- A run is one of the whole team, and DSPy calls no model itself. Worked examples are text at the
  end of a prompt, not messages. Only agents whose output is the answer have any.
- The operator has the arena's temperature, and answers in JSON. If an answer is invalid, a
  description stays empty, and an instruction is the one that the agent has. The program that it is
  shown is the class `Agents` below, with the agents' prompts.
- Evaluations take turns, and a failure ends them all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coterie.operators.methods.race.drawn.answering import (
    agents_that_answer,
    plain_answer,
    prompt_text,
    written,
)
from coterie.operators.methods.race.drawn.choosing import Example, with_examples
from coterie.schema.values.errors import InputError, LimitError

from .bridge import Answered, Bridge, method

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coterie.schema.team.task import Task
    from coterie.schema.team.team import Team

INSTALL = "pip install dspy==3.4.1 optuna==5.0.0"
ANSWER, OTHER = "answer", "message"
"""What agents write whose output is the answer, and the others."""

PRINTING = (
    "dspy.propose.grounded_proposer",
    "dspy.propose.utils",
    "dspy.teleprompt.bootstrap",
    "dspy.teleprompt.utils",
    "dspy.utils.parallelizer",
)
"""The modules of DSPy that print, whatever its settings."""


@dataclass(kw_only=True, eq=False)
class Optimizer(Bridge):
    """The arena's team as a program of DSPy, and its operator as the model that DSPy asks."""

    name = "mipro"
    instructions = "Fill in the output fields."
    _ran: dict[tuple[str, ...], Answered] = field(default_factory=dict[tuple[str, ...], Answered])

    def best(self) -> Team:
        """Let MIPROv2 optimize until the cap is met, and return its best team."""
        dspy = _dspy()
        model = dspy.BaseLM("operator")  # its adapter asks the operator instead
        examples = [
            dspy.Example(query=query, answer=plain_answer(task)).with_inputs("query")
            for query, task in self.by_query.items()
        ]
        optimizer = dspy.MIPROv2(
            metric=lambda _example, run, _trace=None: run.score,
            prompt_model=model,
            task_model=model,
            num_threads=1,
            max_errors=1,
            seed=self.stream.context.recipe.seed,
        )
        with dspy.context(adapter=_adapter(dspy, self), trace=None, disable_history=True):
            try:
                best = optimizer.compile(_program(dspy, self), trainset=examples, valset=examples)
            except LimitError:  # no candidate was validated
                return self.original.team
        return self.with_prompts(self.prompts(best.agents)) or self.original.team

    @cached_property
    def by_query(self) -> Mapping[str, Task]:
        """The tasks by what agents are asked."""
        return {task.text: task for task in self.tasks}

    @cached_property
    def shown(self) -> Mapping[str, str]:
        """The prompts of the original by agent."""
        catalogue = self.stream.context.catalogue
        agents = self.original.team.agents.values()
        texts = {agent.id: prompt_text(agent, catalogue) for agent in agents}
        return {name: text for name, text in texts.items() if text}

    def run(self, predictors: Sequence[Any], query: str) -> Answered:
        """Run a candidate on a task; one that makes no team scores nothing."""
        prompts = self.prompts(predictors)
        key = query, *prompts, *prompts.values()
        if key not in self._ran:
            team = self.with_prompts(prompts)
            self._ran[key] = self.trial(team, self.by_query[query]) if team else ("", 0.0)
        return self._ran[key]

    def prompts(self, predictors: Sequence[Any]) -> Mapping[str, str]:
        """Return the prompts of a candidate that differ from those of the original."""
        texts = {
            name: self._prompt(name, predictor)
            for name, predictor in zip(self.shown, predictors, strict=True)
        }
        return {name: text for name, text in texts.items() if text != self.shown[name]}

    def _prompt(self, name: str, predictor: Any) -> str:
        is_new = predictor.signature.instructions != predictor.original
        text = predictor.signature.instructions if is_new else self.shown[name]
        examples = [*self._examples(name, predictor)]
        return with_examples(text, examples) if examples else text

    def _examples(self, name: str, predictor: Any) -> Iterator[Example]:
        """Yield the demonstrations that have what the agent writes."""
        schema = self.original.team.agents[name].output_schema
        for demo in predictor.demos if ANSWER in predictor.signature.output_fields else ():
            if demo.answer and (answer := written(demo.answer, schema)):
                yield Example(query=demo.query, answer=answer)


def _program(dspy: Any, arena: Optimizer) -> Any:
    """Return the team as a program. MIPROv2 shows operators the source of its class."""
    answering = {agent.id for agent in agents_that_answer(arena.original.team)}

    class Agents(dspy.Module):
        """A team of agents. The instructions of a predictor are the prompt of an agent."""

        def __init__(self) -> None:
            super().__init__()
            self.agents = [predictor_of(name, text) for name, text in arena.shown.items()]

        def forward(self, query: str) -> Any:
            """Run the team."""
            answer, score = arena.run(self.agents, query)
            if dspy.settings.trace is not None:
                dspy.settings.trace.extend(
                    (agent, {"query": query}, {ANSWER: answer})
                    for agent in self.agents
                    if ANSWER in agent.signature.output_fields
                )
            return dspy.Prediction(answer=answer, score=score)

    def predictor_of(name: str, text: str) -> Any:
        output = ANSWER if name in answering else OTHER
        predictor = dspy.Predict(dspy.Signature(f"query -> {output}", text))
        predictor.original = predictor.signature.instructions  # the text without its indentation
        return predictor

    return Agents()


def _adapter(dspy: Any, arena: Optimizer) -> Any:
    """Return an adapter that asks the operator whatever DSPy asks its model."""

    class Adapter(dspy.JSONAdapter):
        def __call__(self, _model: Any, *, lm_kwargs: Any, **asked: Any) -> Sequence[Any]:
            messages = self.format(**asked)
            keys = [*asked["signature"].output_fields]
            answer = arena.answer("\n\n".join(each["content"] for each in messages), *keys)
            return [answer or dict.fromkeys(keys, asked["inputs"].get("basic_instruction", ""))]

    return Adapter()


def _dspy() -> Any:
    """Return DSPy, which prints nothing.

    Cells share stdout and stderr, so what it prints is dropped where it is printed.

    Raises:
        InputError: It, or Optuna, is not installed.
    """
    try:
        dspy, tqdm = import_module("dspy"), import_module("tqdm")
        import_module("optuna")
    except ModuleNotFoundError as error:
        raise InputError(f"MIPROv2 is not installed. {INSTALL}, or choose other --rows.") from error

    class Hidden(tqdm.tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})

    for name in PRINTING:
        vars(import_module(name)).update(print=_drop, tqdm=SimpleNamespace(tqdm=Hidden))
    dspy.disable_logging()
    return dspy


def _drop(*_: object) -> None:
    """Print nothing."""


MIPRO = method(Optimizer)
