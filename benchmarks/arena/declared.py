"""The content of arena.yaml: methods, streams and caps, checked before anything is spent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

from ...operators.evolution.strategy import strategy_of
from ...pool.teams.sources import load_source
from ...runtime.values.caps import Caps
from ...schema.host.catalogue import Catalogue
from ...schema.host.fields import root
from ...schema.host.models import DEFAULT_ALIAS
from ...schema.loading.loading import read_file, shape_only
from ...schema.loading.recipe import Recipe, load_recipe, recipe_of
from ...schema.loading.seeds import is_seed
from ...schema.team.task import Task
from ...schema.team.writing import dump
from ...schema.values.document import Document
from ...schema.values.errors import ConfigError, InputError
from ...schema.values.files import make_folders, write_atomically
from ...schema.values.hints import did_you_mean
from ...schema.values.values import is_mapping
from ...schema.values.yaml_text import read_yaml
from ..evaluation.baselines import vote_of
from ..evaluation.benchmark import Source, find_benchmark
from ..evaluation.choosing import TaskChoice
from ..evaluation.own import OWN, is_own
from ..papers.streams import PaperStream, apart
from ..papers.tables import merged
from ..streams.tasks import STREAMS, Split, stream

METHODS = Path(__file__).with_name("methods.yaml")
FIXED = "fixed"
"""The strategy that learns nothing."""
TEAM = "team"
MODEL_NEEDS = frozenset({"meta_model", "judge"})
OURS = frozenset({"like", "recipe", "votes", "seeds"})
TEMPERATURE = 0.7
"""The temperature of copies that vote: without sampling, all would answer the same."""
SET_HERE = frozenset({"seed", "meta_model", "judge_model"})
"""Recipe fields that the arena sets."""
Written = Mapping[str, Any]
BENCHMARK = "benchmark:"
COUNT = 40
"""The default number of tasks in each split."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Method:
    """A row of the table.

    Attributes:
        file: The file that paths in the recipe are relative to.
    """

    name: str
    recipe: Recipe
    file: Path

    @property
    def learns(self) -> bool:
        """Whether it uses tasks to learn from."""
        return self.recipe.strategy != FIXED


@dataclass(frozen=True, kw_only=True, slots=True)
class Arena:
    """An arena.

    Attributes:
        methods: The methods; the first is the baseline.
        cap: The cap of a cell's learning.
        test_cap: The cap of a cell's test.
        repeats: The number of trials per test task.
    """

    methods: Sequence[Method]
    streams: Mapping[str, StreamSource]
    cap: Caps
    test_cap: Caps
    seeds: int
    repeats: int


def load_arena(path: Path, catalogue: Catalogue, teams: Path) -> Arena:
    """Load arena.yaml.

    Args:
        teams: The folder for teams that methods derive from the arena's.

    Raises:
        InputError: The file does not exist or cannot be read.
        ConfigError: It does not load; the exception has every problem with its place.
    """
    document, problems = read_yaml(read_file(path), str(path))
    document, problems = shape_only(document, problems, _schema(document))
    if problems:
        raise ConfigError(problems)
    reader = _Reader(document, path, catalogue, teams)
    written = document.value
    cap = reader.caps("cap", written["cap"])
    reader.load(("team",), load_source, _beside(path, written["team"]), catalogue)
    arena = Arena(
        methods=[method for name in written["methods"] for method in reader.methods(name)],
        streams={name: reader.stream(name) for name in written["streams"]},
        cap=cap,
        test_cap=reader.caps("test_cap", written["test_cap"]) if "test_cap" in written else cap,
        seeds=written.get("seeds", 3),
        repeats=written.get("repeats", 1),
    )
    if {*arena.cap.value()} != {*arena.test_cap.value()}:
        reader.note(("test_cap",), "its units differ from those of cap. Use the same ones.")
    if reader.problems:
        raise ConfigError(sorted({*reader.problems}))
    for team, text in reader.voting.values():
        make_folders(team.parent)
        write_atomically(team, text)
    return arena


@cache
def known_methods() -> Mapping[str, Written]:
    """Return the predefined methods of arena.yaml, by name."""
    return read_yaml(read_file(METHODS), str(METHODS))[0].value


def _schema(document: Document) -> Written:
    """Return the schema of this file, with the settings of each method's strategy."""
    common = root("arena").schema
    fields, definitions = common["properties"], common["$defs"]
    methods = document.value.get("methods") if is_mapping(document.value) else None
    if not is_mapping(methods):
        return common
    named = {
        name: _method_schema(definitions["method"], _whole(name, written or {}))
        for name, written in methods.items()
        if written is None or is_mapping(written)
    }
    methods = {**fields["methods"], "properties": named}
    return {**common, "properties": {**fields, "methods": methods}}


def _method_schema(common: Written, whole: Written) -> Written:
    recipe = root("evolution").schema["properties"]
    fields = {name: field for name, field in recipe.items() if name not in SET_HERE}
    try:
        settings = {**fields["settings"], **strategy_of(whole["strategy"]).schema}
    except (InputError, KeyError, TypeError):  # the reader reports an unknown strategy
        settings = fields["settings"]
    fields = {**common["properties"], **fields, "settings": settings}
    return {**common, "additionalProperties": False, "properties": fields}


def _whole(name: str, written: Written) -> Written:
    """Return a method's fields, including those of the predefined method that it is like."""
    like = written.get("like", name)
    base = known_methods().get(like, {}) if isinstance(like, str) else {}
    has_own_strategy = "strategy" in written and written["strategy"] != base.get("strategy")
    base = {} if has_own_strategy or "recipe" in written else base
    return merged(dict(base), dict(written))


def _beside(path: Path, name: str) -> str | Path:
    return name if is_seed(name) else path.parent / name


class _Reader:
    """Reads the parts of an arena, and collects problems.

    Attributes:
        voting: The files and texts of voting teams, by their seeds.
    """

    def __init__(self, document: Document, path: Path, catalogue: Catalogue, teams: Path) -> None:
        self.problems = list[Any]()
        self.voting: dict[str, tuple[Path, str]] = {}
        self._document, self._path, self._known, self._teams = document, path, catalogue, teams
        self._written: Written = document.value

    def note(self, place: tuple[str, ...], message: str) -> None:
        self.problems.append(self._document.problem(place, message))

    def load(self, place: tuple[str, ...], load: Any, *arguments: Any) -> Any:
        """Load an object that the file names; None, with a problem, if that fails."""
        try:
            return load(*arguments)
        except ConfigError as error:
            self.problems += error.problems
        except InputError as error:
            self.note(place, str(error))
        return None

    def caps(self, name: str, text: str) -> Caps:
        caps: Caps | None = self.load((name,), Caps.parse, text)
        if caps is not None and caps.seconds is not None:
            self.note((name,), "seconds depend on the machine. Cap calls, tokens or usd.")
        return caps or Caps()

    def stream(self, name: str) -> StreamSource:
        written = self._written["streams"][name] or {}
        source = StreamSource.of(name, written, self._path.parent, self._known)
        self.load(("streams", name), source.tasks, 0)
        return source

    def methods(self, name: str) -> Iterator[Method]:
        """Yield a method for each operator model; only one if its operators call no model."""
        method = self._method(name)
        if method is None:
            return
        needs = strategy_of(method.recipe.strategy).needs(method.recipe.settings)
        if MODEL_NEEDS.isdisjoint(needs) and method.recipe.score != "judge":
            yield method
            return
        operators: Sequence[str] = self._written.get("operators", [DEFAULT_ALIAS])
        if not operators:
            self.note(
                ("methods", name), "it needs a model to write or judge. Name it in operators."
            )
        for alias in operators:
            if alias not in self._known.aliases:
                hint = did_you_mean(alias, self._known.aliases)
                self.note(("operators",), f"no model {alias!r} on this host.{hint}")
            label = f"{name} ({alias})" if len(operators) > 1 else name
            recipe = replace(method.recipe, meta_model=alias, judge_model=alias)
            yield replace(method, name=label, recipe=recipe)

    def _method(self, name: str) -> Method | None:
        whole = self._fields(name)
        if whole is None:
            return None
        place = ("methods", name)
        if "recipe" in whole:
            return self._of_file(place, whole)
        strategy = self.load((*place, "strategy"), strategy_of, whole["strategy"])
        if strategy is None:
            return None
        recipe, wrong = recipe_of(strategy, {k: v for k, v in whole.items() if k not in OURS})
        for setting, why in wrong.items():
            self.note((*place, "settings", setting), why)
        seeds = [self._voting(place, whole["votes"])] if "votes" in whole else whole["seeds"]
        seeds = tuple(self._written["team"] if seed == TEAM else seed for seed in seeds)
        workers = whole.get("workers", self._written.get("workers", 1))
        return self._seeded(place, replace(recipe, seeds=seeds, workers=workers), self._path)

    def _fields(self, name: str) -> Written | None:
        """Return all fields of a method; None, with a problem, if the file does not define it."""
        written: Written = self._written["methods"][name] or {}
        place, names = ("methods", name), known_methods()
        like = written.get("like", name)
        if "like" in written and like not in names:
            self.note((*place, "like"), f"no method {like!r}.{did_you_mean(like, names)}")
            return None
        whole = _whole(name, written)
        if not whole.keys() & {"recipe", "strategy", "seeds", "votes"}:
            listed = f"{did_you_mean(name, names)} Known: {', '.join(names)}."
            self.note(place, f"no such method.{listed} Or write strategy, seeds or recipe.")
            return None
        return whole if "recipe" in whole else {"strategy": FIXED, "seeds": [TEAM], **whole}

    def _of_file(self, place: tuple[str, str], whole: Written) -> Method | None:
        if more := sorted(whole.keys() - {"recipe"}):
            why = "a recipe's file has all fields. Write it there, or leave recipe out."
            self.note((*place, more[0]), why)
        file = self._path.parent / whole["recipe"]
        recipe: Recipe | None = self.load((*place, "recipe"), load_recipe, file)
        if recipe is None:
            return None
        team = self._written["team"]
        if recipe.seeds == strategy_of(recipe.strategy).seeds:
            path = os.path.relpath(self._path.parent / team, file.parent)
            recipe = replace(recipe, seeds=(team if is_seed(team) else path,))
        return self._seeded(place, recipe, file)

    def _voting(self, place: tuple[str, str], copies: int) -> str:
        source = _beside(self._path, self._written["team"])
        team = self.load(("team",), load_source, source, self._known)
        vote = partial(vote_of, team, copies, temperature=TEMPERATURE)
        if team is None or (voting := self.load(place, vote)) is None:
            return TEAM
        path = self._teams / f"{voting.name}.yaml"
        seed = os.path.relpath(path, self._path.parent)
        self.voting[seed] = path, dump(voting)
        return seed

    def _seeded(self, place: tuple[str, str], recipe: Recipe, file: Path) -> Method:
        for seed in [seed for seed in recipe.seeds if seed not in self.voting]:
            self.load(place, load_source, _beside(file, seed), self._known)
        return Method(name=place[1], recipe=recipe, file=file)


@dataclass(frozen=True, kw_only=True)
class StreamSource:
    """The source of a stream's tasks.

    Attributes:
        names: The mixed streams; or one benchmark, or one file.
        evolve: The number of tasks to learn from, or the file with them.
        folder: The folder that files are relative to.
        source: The source for a benchmark.
    """

    names: tuple[str, ...]
    evolve: int | str
    test: int | str
    folder: Path
    source: Source

    @classmethod
    def of(cls, name: str, written: Mapping[str, Any], folder: Path, catalogue: Catalogue) -> Self:
        """Read a stream of arena.yaml."""
        names = written.get("from", name)
        options = {key: written[key] for key in ("scorer", "level") if key in written}
        data = folder / written["data"] if "data" in written else None
        return cls(
            names=(names,) if isinstance(names, str) else tuple(names),
            evolve=written.get("evolve", COUNT),
            test=written.get("test", COUNT),
            folder=folder,
            source=Source(data=data, catalogue=catalogue, **options),
        )

    def tasks(self, seed: int) -> PaperStream:
        """Return the tasks for a seed, always the same ones."""
        return _tasks(self, seed)

    def prepare(self, seed: int) -> None:
        """Prepare the needs of a benchmark's tasks, such as clones."""
        name, tasks = self.names[0], self.tasks(seed)
        if isinstance(self.test, int) and name not in STREAMS and not is_own(name):
            benchmark = find_benchmark(name.removeprefix(BENCHMARK))
            benchmark.prepare(self.source, [*tasks.tasks, *tasks.held_out])

    def drawn(self, split: Split, seed: int) -> Sequence[Task]:
        """Draw the tasks of a split with a seed."""
        count, other = self.evolve, self.test
        if split == "test":
            count, other = other, count
        if isinstance(count, str) != isinstance(other, str):
            raise InputError("evolve and test must be two files or two numbers, not one of each.")
        if isinstance(count, str):
            return self._file(count)
        if all(name in STREAMS for name in self.names):
            each = (stream(name, split, count=count, seed=seed) for name in self.names)
            return [task for tasks in zip(*each, strict=True) for task in tasks][:count]
        if len(self.names) > 1:
            raise InputError(f"only streams can be mixed: {', '.join(STREAMS)}.")
        return TaskChoice(split=split, limit=count, seed=seed).of(self._everything(seed))

    def _everything(self, seed: int) -> Sequence[Task]:
        (name,) = self.names
        if is_own(name):
            return self._file(name)
        source = replace(self.source, seed=seed)
        try:
            return find_benchmark(name.removeprefix(BENCHMARK)).tasks(source)
        except InputError as error:  # it names the option of mas-bench run
            words = str(error).replace("--data DIR", "data: DIR")
            raise InputError(words.replace("--data", "the field data")) from None

    def _file(self, name: str) -> Sequence[Task]:
        return OWN.tasks(replace(self.source, data=self.folder / name))


@cache
def _tasks(source: StreamSource, seed: int) -> PaperStream:
    test = source.drawn("test", seed)
    evolve = apart(source.drawn("evolve", seed), test)
    if not evolve or not test:
        raise InputError("it has no tasks to learn from, or none to test on.")
    return PaperStream(tasks=evolve, held_out=[*test])
