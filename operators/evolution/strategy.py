"""The interface of a strategy, and its lookup by name in the group `coterie.strategies`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from markupsafe import Markup  # noqa: TC002 - PluginValue reads the fields' types

from ...pool.ledger.changes import Change
from ...pool.view import Fold
from ...runtime.values.caps import Caps
from ...runtime.values.usage import Usage
from ...schema.host.conforming import PluginValue
from ...schema.host.settings import find_strategy
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.loading.recipe import DEFAULT_SEEDS
from ...schema.team.team import Agent, Team
from ...schema.values.errors import InputError
from ...schema.values.values import Json
from ..core.scoring import is_judged

if TYPE_CHECKING:
    from pathlib import Path

    from ...runtime.plan.plan import Plan
    from ...runtime.view import Links
    from ...schema.host.catalogue import Catalogue
    from ...schema.loading.recipe import Recipe
    from ...schema.team.task import Task
    from .context import EvolutionContext
    from .episode import EarlierEpisodes, Episode
    from .stream import TaskStream

Need = Literal["teams", "children", "agents", "meta_model", "judge", "answers", "memory", "past"]
"""The resources that a strategy may need:

* `teams`: the teams of the pool, which starts with the recipe's seeds and must not be empty;
* `children`: room for new teams: a ceiling above what the seeds ask for;
* `agents`: the agents of the pool;
* `meta_model`: a working meta-model of the recipe;
* `judge`: a working judge of the recipe, also for tasks with reference answers;
* `answers`: a reference answer for every task;
* `memory`: search for learnt entries by similarity;
* `past`: the lines of earlier episodes, which are then held in memory."""

Material = tuple[Any, Mapping[str, str]]
"""Settings, and the contents of the files that they name."""

NO_SETTINGS: Mapping[str, Any] = MappingProxyType({"type": "object", "additionalProperties": False})
"""The schema of a strategy without settings."""


def read_schema(path: Path, settings: type[Any]) -> Mapping[str, Any]:
    """Read the JSON Schema of settings from a file; the defaults come from their dataclass."""
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for declared in fields(settings):
        own, default = schema["properties"][declared.name], declared.default
        if default is not None:
            own["default"] = [*default] if isinstance(default, tuple) else default
            if "examples" in own:  # shown last
                own["examples"] = own.pop("examples")
    return schema


class SettingError(InputError):
    """A setting that is invalid on this host."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, kw_only=True, slots=True)
class NoSettings:
    """The settings of a strategy without settings."""


class WholeStatus(Protocol):
    """The state of a strategy that works on all tasks together; `str` describes it for people."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        ...

    @property
    def caps(self) -> Caps:
        """The caps on its spending. With higher caps, it may resume."""
        ...

    @property
    def spending(self) -> Mapping[str, Usage]:
        """The usage so far, by purpose."""
        ...

    @property
    def deployed(self) -> str:
        """The pool's name of the team to deploy; "": the pool decides."""
        ...

    def value(self) -> Mapping[str, Any]:
        """Return it as a JSON object."""
        ...


async def _no_episode(_episode: Episode, /) -> None:
    raise TypeError("this strategy works on all tasks together.")


async def _no_more(_episode: Episode, _earlier: EarlierEpisodes, /) -> None:
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Strategy(PluginValue):
    """A loop that decides which operator acts when, on one task at a time.

    Callables with `settings` among their arguments receive the parsed settings.

    Attributes:
        episode: Works on one task, in a strategy that takes one task after the other. It

            * **must** set the result with `Episode.answered`, or raise;
            * **must** take randomness only from `Episode.chance`, and model answers only through
              the journal, under paths that do not depend on scheduling;
            * **must** change the pool only with `Episode.keep`, in an order that does not depend on
              scheduling.
        before_commit: Works on an episode once all earlier ones are committed. The changes it keeps
            are committed with that episode. It **must** do the same when it is repeated. It needs
            `past`.
        whole: Works on all tasks together. It **must** take randomness only from the recipe's seed,
            and model answers only through the journal, under paths that do not depend on
            scheduling. It **must** leave its result in the evolution's folder.
        ceiling: The most that children of a team may ask for, if the recipe has no policy. None:
            what the seeds ask for together.
        status: Reads the state of `whole` from the evolution's folder; None if it has not begun.
        page: Returns its part of the evolution's page, given the result of `status`, the page's
            links, and the names of the pool's teams that have pages.
        begin: Returns the changes to the pool before the first task, such as its first agents. It
            **must** return the same on every call.
        settings: Makes the settings, usually their type; see `schema.host.settings.Configurable`.
        schema: The JSON Schema of the settings.
        check: Returns the problems of the settings that no schema can express, by field.
        check_recipe: Returns the problems of the settings in combination with other fields of the
            recipe, by field of the settings.
        check_tasks: Checks the tasks to learn from and the held-out tasks of `whole` before
            anything is created. Raises `InputError`.
        suits: Returns the problems of the settings in combination with the pool's active teams and
            agents, by field. A new pool has its seeds, and no agents.
        seeds: The teams of a new pool, if the recipe names none.
        agents: Returns the first agents of a pool that has none, given the settings and the
            recipe's folder. The ceiling includes what they ask for. Raises `InputError`.
        teams: Returns the teams that it makes from the pool's teams and agents, which run in their
            place. The ceiling includes what they ask for. Raises `InputError`. None: the pool's
            teams are run unchanged.
        needs: Returns its needs, given its settings.
        keeps: Returns the kinds of entries that it keeps for agents to recall, given its settings.
            A pool without an agent that recalls one of them is refused.
        fold: Returns, given its settings, the fold over the ledger before the evolution's first
            line. An episode finds the result in `PoolView.folded`. None: no fold.
        leaves_team: Whether its result is a team of the pool, which a test runs unchanged. Else a
            test runs the strategy, with all that its pool has learnt. The control of a test is the
            team, or the strategy, in the pool before the first task.
        control: Works on a task as the control of a test, for a strategy that adapts to each task
            in addition to what the pool has learnt. None: `episode`.
        scaffold: Whether it evolves one team, the pool's head, whose folder is then `scaffold/`.
        reuses: Whether it names the parents of each run on a task; see `Recipe.reuse`.
        find: Finds and checks the files that its settings name, relative to the recipe's folder.
            Returns the settings with the files' recorded names, and the files' contents by these
            names. Raises `InputError`, and `SettingError` for a missing file.
        foretells: Returns a line about what happens on a task, given its settings; "" if its name
            says enough.
        calls_at_most: Returns an upper bound on the model calls of one task, of agents and
            operators together, given its settings and the initial plan. None: there is no bound.
    """

    name: str
    episode: Callable[[Episode], Awaitable[None]] = _no_episode
    before_commit: Callable[[Episode, EarlierEpisodes], Awaitable[None]] = _no_more
    closing_calls: Callable[[Any, Sequence[Mapping[str, Any]], int], int] | None = None
    whole: Callable[[TaskStream], Awaitable[object]] | None = None
    ceiling: Callable[[Team], CapabilityPolicy] | None = None
    status: Callable[[Path], WholeStatus | None] = lambda _folder: None
    page: Callable[[Any, Links, Container[str]], Markup | str] = lambda *_: ""
    begin: Callable[[EvolutionContext], Iterable[Change]] = lambda _stage: ()
    settings: Callable[..., Any] = NoSettings
    schema: Mapping[str, Json] = field(default_factory=lambda: NO_SETTINGS)
    check: Callable[[Any, Mapping[str, Any]], Mapping[str, str]] = lambda *_: {}
    check_recipe: Callable[[Recipe], Mapping[str, str]] = lambda _recipe: {}
    check_tasks: Callable[[Sequence[Task], Sequence[Task]], None] = lambda *_: None
    suits: Callable[[Any, Sequence[Team], Sequence[Agent]], Mapping[str, str]] = lambda *_: {}
    seeds: tuple[str, ...] = DEFAULT_SEEDS
    agents: Callable[[Any, Path, Catalogue], Sequence[Agent]] = lambda *_: ()
    teams: Callable[[Any, Sequence[Team], Sequence[Agent], Catalogue], Iterable[Team]] | None = None
    needs: Callable[[Any], Collection[Need]] = lambda _settings: frozenset()
    keeps: Callable[[Any], Collection[str]] = lambda _settings: frozenset()
    fold: Callable[[Any], Fold | None] = lambda _settings: None
    leaves_team: bool = False
    control: Callable[[Episode], Awaitable[None]] | None = None
    scaffold: bool = False
    reuses: bool = False
    find: Callable[[Any, Path, Catalogue], Material] = lambda settings, *_: (settings, {})
    foretells: Callable[[Any], str] = lambda _settings: ""
    calls_at_most: Callable[[Any, Plan], int] | None = None


def strategy_of(name: str) -> Strategy:
    """Return a strategy by its name in recipes.

    Raises:
        InputError: No installed package provides it, its import fails, or it is not a `Strategy`.
    """
    configurable = find_strategy(name)
    if not isinstance(configurable, Strategy):
        raise InputError(
            f"{name!r} of coterie.strategies does not lead to a Strategy, but to a"
            f" {type(configurable).__name__}."
        )
    return configurable


def asked_models(recipe: Recipe, tasks: Iterable[Task]) -> frozenset[str]:
    """Return the aliases of the models that operators and the judge may call.

    The models of agents are not included: they follow from the teams.
    """
    names: set[str] = set()
    needs = strategy_of(recipe.strategy).needs(recipe.settings)
    if "judge" in needs or any(is_judged(recipe, task) for task in tasks):
        names.add(recipe.judge_model or recipe.meta_model)
    if "meta_model" in needs:
        names.add(recipe.meta_model)
    return frozenset(names)
