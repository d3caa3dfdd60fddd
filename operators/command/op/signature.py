"""The command of an operator, derived from its parameters.

Each parameter of an operator is a setting or an input. A reader makes an input from other inputs,
and ultimately from the arguments and options of the command.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import click

from ....pool.population.evolutions import population_of
from ....pool.teams.pool import Pool
from ....schema.command import Command, catalogue_of, with_options
from ....schema.team.team import Agent, Team
from ....schema.values.errors import InputError
from ...core.meta import OperatorModel
from ...core.operator import Operator, OperatorSetting
from ...core.proposal import Parent
from ...core.roles import alone
from ...methods.meta_team import Ground, speakers
from ...methods.search.chance import Chance
from ..arguments import OperatorHost, model_options, policy_option, setting_options
from . import files, pool_readers, readers
from .presenting import present
from .words import ARGUMENTS, OPTIONS, OUTPUTS, argument_text

READERS: Mapping[str, Callable[..., Any]] = {
    name: reader
    for module in (readers, files, pool_readers)
    for name, reader in inspect.getmembers(module, inspect.isfunction)
    if reader.__module__ == module.__name__ and not name.startswith("_")
} | {
    "criticism": lambda surviving: [reasons for _, reasons in surviving],
    "first": lambda couple: couple[0],
    "catalogue": catalogue_of,
    "members": lambda pool: list(pool.teams.values()),
    "pool": lambda catalogue, pool_folder: Pool.open(pool_folder, catalogue=catalogue),
    "population": population_of,
    "recorded_task": lambda recorded: recorded.task,
    "utterances": lambda recorded: recorded.utterances,
    "second": lambda couple: couple[1],
    "structure": lambda team: team.name,
    "surviving_ideas": lambda surviving: [idea for idea, _ in surviving],
}
"""The reader of each input: functions of these modules, and parts of their results."""
COMMON = ("options", "operator", "seed")
"""The inputs that every command has."""
NO_MODEL = click.option("--no-model", is_flag=True, help="Ask no model.")
NAMED = ("agent_id", "other_agent_id")
"""The arguments that become part of a question's path, after the operator's name."""
TYPES = {"int": int, "float": float, "str": str, "bool": bool}
RESULTS = {
    "child": "Writes the child to standard output or to -o FILE, and the changes with their"
    " reason to standard error. Exits with code 1 if no valid child stays within the limits.",
    "changes": "Prints the changes and their reason. --keep applies them to the pool.",
    "entry": "Prints the entry, and adds it to the pool's memory.",
    "words": "Prints the result.",
}


SCALES = {
    "agent": "Works on one agent.",
    "pair": "Works on two agents that work together.",
    "team": "Works on a team.",
    "roster": "Works on the members of a team or a pool.",
}


def command_of(operator: Operator) -> click.Command:
    """Return the command of an operator."""
    signature = Signature(operator)

    def run(**options: Any) -> None:
        invocation = Invocation(signature=signature, options=options)
        result = invocation.result()
        present(operator, result, invocation.values | invocation.arguments, options)

    command = click.command(operator.name, cls=Command, help=signature.help)
    return command(with_options(*signature.options())(run))


@dataclass(frozen=True)
class Signature:
    """The arguments and options of an operator's command."""

    operator: Operator

    @property
    def act(self) -> Callable[..., Awaitable[Any]]:
        """The function that runs the operator."""
        return self.operator.alone or self.operator.act

    @cached_property
    def inputs(self) -> Mapping[str, str | OperatorSetting]:
        """The source of each parameter that does not keep its default."""
        inputs: dict[str, str | OperatorSetting] = {}
        _meta, _path, *parameters = inspect.signature(self.act).parameters.values()
        for parameter in parameters:
            name = parameter.name
            kind = self.operator.inputs.get(name, name)
            if isinstance(kind, OperatorSetting) or kind in READERS or kind in ARGUMENTS:
                inputs[name] = kind
            elif parameter.default is parameter.empty:
                raise InputError(
                    f"{self.operator.name}: its parameter {name!r} is not an input of mas dev op."
                    f" Declare it in `inputs` of the Operator: a Setting, or one of"
                    f" {', '.join(sorted(READERS))}."
                )
        return inputs

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The arguments and options that the inputs are read from, in order."""
        return tuple(name for name in self.read if name not in READERS and name not in COMMON)

    @cached_property
    def read(self) -> tuple[str, ...]:
        """All inputs and their sources, in the order of reading."""
        kinds = (kind for kind in self.inputs.values() if isinstance(kind, str))
        return tuple(dict.fromkeys(name for kind in kinds for name in _read_for(kind)))

    @property
    def help(self) -> str:
        """The help text: the operator, its arguments, and its result."""
        words = " ".join(argument_text(word) for word in self.words if word in ARGUMENTS)
        result = f"{RESULTS[self.operator.gives]} {SCALES[self.operator.scale]}"
        parts = (self.operator.about, words, result)
        return "\n\n".join(filter(None, parts))

    def options(self) -> Iterator[Callable[..., Any]]:
        """Yield the decorators that add arguments and options to a command, in order."""
        operator = self.operator
        for word in (word for word in self.words if word in ARGUMENTS):
            yield click.argument(word, metavar=_metavar(word), **ARGUMENTS[word][2])
        parameters = inspect.signature(self.act).parameters
        for name, kind in self.inputs.items():
            if isinstance(kind, OperatorSetting):
                yield _setting_option(parameters[name], kind)
        yield from (OPTIONS[word] for word in self.words if word in OPTIONS)
        yield from OUTPUTS[operator.gives]
        if operator.gives == "child" or (operator.gives == "changes" and operator.asks == "model"):
            yield policy_option
        if operator.asks == "maybe":
            yield NO_MODEL
        if operator.asks != "nobody":
            yield model_options
        yield setting_options


def _read_for(kind: str) -> Iterator[str]:
    """Yield every input that an input needs, in the order of reading, then the input itself."""
    if kind in READERS:
        for parameter in inspect.signature(READERS[kind]).parameters.values():
            if parameter.default is parameter.empty:
                yield from _read_for(parameter.name)
    yield kind


def _metavar(word: str) -> str:
    name, _, how = ARGUMENTS[word]
    if "nargs" not in how:
        return name.upper()
    return f"{name.upper()}..." if "required" in how else f"[{name.upper()}]..."


def _setting_option(parameter: inspect.Parameter, setting: OperatorSetting) -> Callable[..., Any]:
    """Return the option of a setting, with the type and default of the parameter."""
    has_default = parameter.default not in {parameter.empty, None, ()}
    annotation = getattr(parameter.annotation, "__name__", parameter.annotation)
    kind = TYPES.get(annotation, type(parameter.default) if has_default else str)
    how: dict[str, Any] = {"help": setting.about}
    if kind is bool:
        how["is_flag"] = True
    else:
        how |= {"type": _type(kind, setting), "multiple": setting.several}
        how |= {"default": parameter.default, "show_default": True} if has_default else {}
        how["required"] = parameter.default is parameter.empty
    option = setting.option or f"--{parameter.name.replace('_', '-')}"
    return click.option(option, parameter.name, **how)


def _type(kind: type, setting: OperatorSetting) -> Any:
    if setting.choices:
        return click.Choice(setting.choices)
    if kind is int:
        return click.IntRange(_whole(setting.least), _whole(setting.most))
    return click.FloatRange(setting.least, setting.most) if kind is float else kind


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


@dataclass(kw_only=True, eq=False)
class Invocation:
    """One run of an operator, with the command's arguments and options."""

    signature: Signature
    options: dict[str, Any]
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])

    def result(self) -> Any:
        """Read all inputs, then run the operator."""
        self._read()
        host: OperatorHost = self._value("host")
        ceiling = host.ceiling(*_teams_in(self.values.values()))
        if self.signature.operator.asks == "nobody":
            chance = Chance(catalogue=host.catalogue, ceiling=ceiling, seed=host.seed or 0)
            return asyncio.run(self._act(chance))
        if self.options.get("no_model"):
            return asyncio.run(self._act(None))
        return host.ask(ceiling, self._act, others=_models_in(self.values.values()))

    async def _act(self, model: OperatorModel | None) -> Any:
        named = (self.options.get(word) for word in NAMED)
        path = "/".join([self.signature.operator.name, *filter(None, named)])
        return await self.signature.act(model, path, **self.arguments)

    def _read(self) -> None:
        signature = self.signature
        words = {word: self.options[word] for word in (*signature.words, "seed")}
        self.values |= {"options": self.options, "operator": signature.operator.name, **words}
        for name, kind in signature.inputs.items():
            is_setting = isinstance(kind, OperatorSetting)
            self.arguments[name] = self.options[name] if is_setting else self._value(kind)

    def _value(self, name: str) -> Any:
        """Return an input, read once."""
        if name not in self.values:
            reader = READERS[name]
            parameters = inspect.signature(reader).parameters.values()
            inputs = {
                each.name: self._value(each.name)
                for each in parameters
                if each.default is each.empty or each.name in self.signature.read
            }
            self.values[name] = reader(**inputs)
        return self.values[name]


def _teams_in(values: Iterable[Any]) -> Iterator[Team]:
    """Yield the teams and agents among the inputs: they determine the ceiling of a child."""
    for value in values:
        match value:
            case Team():
                yield value
            case Parent():
                yield value.team
            case Agent():
                yield from alone({value.id: value})
            case Mapping():
                yield from _teams_in(value.values())
            case tuple():
                yield from _teams_in(value)
            case _:
                pass


def _models_in(values: Iterable[Any]) -> set[str]:
    """Return the models of agents that answer with their own models."""
    grounds = (value for value in values if isinstance(value, Ground) and value.own_model)
    return {
        ground.team.agents[agent].model_id
        for ground in grounds
        for agent in speakers(ground.team, ground.run)
    }
