"""Loading files: read, check shape, check meaning, build. All problems at once, or a value."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from ..checking._shape import shape_problems, sound
from ..host.catalogue import SEED, Catalogue
from ..host.models import Model
from ..team._meaning import GRAPH_RULES, TEAM_RULES, Reading, Rule, secrets_in
from ..team.building import is_grouped, team_of, using_files
from ..team.task import ScorerChoice, Task
from ..team.team import Team
from ..values._json import read_json
from ..values.beneath import open_linked
from ..values.document import LIMITS, Document, DocumentLimits
from ..values.errors import ConfigError, InputError, without_problems
from ..values.hints import did_you_mean
from ..values.problems import MOST_PROBLEMS, Problem, quoted
from ..values.values import frozen, is_mapping
from ..values.yaml_text import read_yaml
from .scorers import EXACT, scorer_of
from .task_form import PLAIN, TaskForm

TASK_LIMITS = DocumentLimits(bytes=16 << 20, nodes=50_000, scalar=1_000_000)
STREAMS = (".jsonl", ".csv")
"""The endings of files with many tasks."""
LONGEST_REMEMBERED = 16_384
"""Maximum bytes of a cached team file."""
UNASKED = Catalogue(
    backends=frozenset(), functions=frozenset(), scorers=frozenset(), tools=frozenset()
)
"""An empty catalogue, for loading without checking names against a host."""
THERE_ARE_MORE = "there are more problems, here and elsewhere. Fix the first ones, and check again."

_Shaped = tuple[Document, Team, Sequence[Problem]]
"""The host-independent part of a team file: its document, its team, and the problems of its
shape."""


def load_team(path: str | Path, catalogue: Catalogue | None = None) -> Team:
    """Load a team file, a team's folder, or a seed.

    Args:
        path: The YAML file, the folder of a `team.yaml`, or `seed:NAME`. Prompt files are found
            beside it (`prompts/<id>.md`).
        catalogue: The known names. Default: those of installed packages, and no models.yaml.

    Raises:
        InputError: The file does not exist or cannot be read.
        ConfigError: The file does not load; the exception has every problem with its place.
    """
    path = team_path(path)
    content = read_file(path, LIMITS)
    own_catalogue = (catalogue or Catalogue.of_host()).beside(path.parent)
    return without_problems(*check_team(content, str(path), own_catalogue, folder=path.parent))


def team_path(name: str | Path) -> Path:
    """Return the path of a team's file.

    Args:
        name: The path of a file or of a team's folder, or `seed:NAME` for a team that comes with
            coterie.

    Raises:
        InputError: There is no such seed, or the folder has no team, or the file does not exist but
            a seed has its name.
    """
    path = Path(name)
    is_seed = str(name).startswith(SEED)  # no file can pass for a seed
    if is_seed or not os.path.exists(path):  # noqa: PTH110 - false also for an impossible name
        from .seeds import located

        path = located(name)
    refuse_tasks(path)
    return _team_in(path) if path.is_dir() else path


def _team_in(folder: Path) -> Path:
    from .agent_document import TEAM, is_team_folder
    from .recognition import crew_folders

    if is_team_folder(folder):
        read_file(folder / TEAM, LIMITS, root=folder)
        return folder / TEAM
    how = f" It belongs to CrewAI. Import it: mas dev import {folder} -o team.yaml"
    is_crew = bool(crew_folders(folder))
    raise InputError(f"{folder}: not a team's folder: it has no {TEAM}.{how if is_crew else ''}")


def refuse_tasks(path: Path) -> Path:
    """Return the path of a team or a recipe, and refuse a file of tasks.

    Raises:
        InputError: It is a file of tasks.
    """
    if path.suffix in STREAMS:
        raise InputError(f"{path}: it has tasks. A team is a .yaml file, and comes first.")
    return path


def read_team(path: str | Path) -> Team:
    """Load a team file, a team's folder or a seed without a host: only its own names count."""
    path = team_path(path)
    return hostless_team(read_file(path), str(path), folder=path.parent)


def hostless_team(content: bytes, file: str, *, folder: Path | None = None) -> Team:
    """Load a team from memory, as `read_team` does.

    Args:
        file: The name in messages.
        folder: The folder with its prompt files.

    Raises:
        ConfigError: Its shape or its graph is wrong; the exception has every problem.
    """
    return without_problems(*check_team(content, file, UNASKED, GRAPH_RULES, folder=folder))


def parse_team(content: bytes, file: str, catalogue: Catalogue) -> Team:
    """Load a team from the bytes of a YAML file; `file` is the name that messages show.

    Raises:
        ConfigError: The text does not load.
    """
    return without_problems(*check_team(content, file, catalogue))


def check_team(
    content: bytes,
    file: str,
    catalogue: Catalogue,
    rules: tuple[Rule, ...] = TEAM_RULES,
    *,
    folder: Path | None = None,
) -> tuple[Team, list[Problem]]:
    """Return a team file's readable part and all its problems, by place.

    Args:
        rules: The rules to check in addition to its shape.
        folder: The folder of the file and of its agent files. None: it may use none.
    """
    shaped = _read_alone(content, file) if len(content) <= LONGEST_REMEMBERED else None
    whole, team, shape = shaped or _read_with_agents(content, file, folder)
    if not whole.complete:
        return team, [*shape]
    reading = Reading(document=whole, team=team, catalogue=catalogue, problems=shape)
    return team, merged([*shape], (problem for rule in rules for problem in rule(reading)))


@lru_cache(maxsize=128)
def _read_alone(content: bytes, file: str) -> _Shaped | None:
    """Return the cached content of a team file; None if it uses agent files.

    A pool, an evolution and a server read the same few files over and over.
    """
    document, problems = read_yaml(content, file)
    return None if using_files(document.value) else _shaped(document, problems)


def _read_with_agents(content: bytes, file: str, folder: Path | None) -> _Shaped:
    from .agent_document import with_used

    return _shaped(*with_used(*read_yaml(content, file), folder))


def _shaped(document: Document, problems: list[Problem]) -> _Shaped:
    document, problems = shape_only(document, problems, "team")
    if not document.complete:
        return document, team_of({}), problems
    value = sound(document, "team") if problems else document.value
    if not is_grouped(document.value):
        return document, team_of(value), problems
    from ..team.groups import expanded, expanded_value

    whole, unclear = expanded(document)
    team = team_of(expanded_value(value) if problems else whole.value)
    return whole, team, merged(problems, unclear)


def load_task(path: str | Path, catalogue: Catalogue | None = None, form: TaskForm = PLAIN) -> Task:
    """Load a task file, JSON or YAML by its name, and the files that it names.

    Args:
        catalogue: The known names. Default: those of installed packages.
        form: The form of the task file.

    Raises:
        InputError: The file does not exist or cannot be read.
        ConfigError: The file does not load; the exception has every problem with its place.
    """
    own_catalogue = catalogue or Catalogue.of_host()
    task = parse_task(read_file(path), str(path), Path(path).parent, own_catalogue, form)
    return replace(task, origin=Path(path))


def parse_task(
    content: bytes,
    file: str,
    folder: Path,
    catalogue: Catalogue,
    form: TaskForm = PLAIN,
) -> Task:
    """Load a task from the bytes of a file.

    Args:
        file: The name in messages; the ending `.yaml` or `.yml` means YAML.

    Raises:
        ConfigError: The text does not load.
    """
    read = read_yaml if file.endswith((".yaml", ".yml")) else read_json
    document, problems = read(content, file, TASK_LIMITS)
    document, misplaced = form.read(document)
    document, problems = shape_only(document, [*problems, *misplaced], "task")
    if not document.complete:
        raise ConfigError(problems)
    value = sound(document, "task") if problems else document.value
    value = value if is_mapping(value) else {}
    files, missing = _files_of(value.get("files"), document, folder)
    scorer, unscored = scorer_of(value.get("scorer", EXACT), document, folder, catalogue)
    repo = folder / value["repo"] if value.get("repo") else None
    result = [*missing, *unscored]
    if repo is not None and not _is_repository(repo, bare=bool(value.get("commit"))):
        message = f"{quoted(value['repo'])} is not a git working copy (looked in {repo})."
        result.append(document.problem(("repo",), message))
    for name in ("commit", "history"):
        if repo is None and value.get(name):
            result.append(
                document.problem((name,), f"a {name} without a repository. Name it: repo.")
            )
    without_problems(document, merged(problems, result))
    return _task(value, files, repo, scorer)


def _files_of(
    value: Any, document: Document, folder: Path
) -> tuple[Mapping[str, Any], list[Problem]]:
    """Return the fields of a task for its files, and their problems."""
    if not value:
        return {}, []
    from .task_files import by_kind, files_of_task

    files, problems = files_of_task(value, document, folder, TASK_LIMITS.scalar)
    return by_kind(files), problems


def load_models(path: str | Path) -> Mapping[str, Model]:
    """Load a models.yaml: the models of this host by alias.

    Raises:
        InputError: The file does not exist or cannot be read.
        ConfigError: The file does not load; the exception has every problem with its place.
    """
    from ..host._models_file import fallback_problems, request_problems

    document, problems = shape_only(*read_yaml(read_file(path, LIMITS), str(path)), "models")
    if document.complete:
        value = sound(document, "models") if problems else document.value
        result = chain(fallback_problems(document, value), request_problems(document, value))
        problems = merged(problems, result)
    without_problems(document, problems)
    return {
        alias: Model(
            alias=alias,
            origin=str(path),
            **frozen(fields),
        )
        for alias, fields in document.value["models"].items()
    }


def read_file(
    path: str | Path, limits: DocumentLimits = TASK_LIMITS, *, root: Path | None = None
) -> bytes:
    """Read a file's bytes, at most one more than the limit.

    Args:
        root: The folder in which the file was found: links must not lead out of it.

    Raises:
        InputError: The file does not exist or cannot be read.
    """
    with open_file(path, root) as stream:
        content = stream.read(limits.bytes + 1)
    if not content and Path(path).is_fifo():
        raise InputError(
            f"{path}: nothing is left in this pipe. Files are read more than once: save it."
        )
    return content


@contextmanager
def open_file(path: str | Path, root: Path | None = None) -> Generator[IO[bytes]]:
    """Open a file for reading; arguments and errors are those of `read_file`."""
    path = Path(path)
    try:
        with _opened(path, root) as stream:
            yield stream
    except FileNotFoundError:
        names = [entry.name for entry in path.parent.glob("*")]
        raise InputError(f"no file {quoted(str(path))}.{did_you_mean(path.name, names)}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None


def _opened(path: Path, root: Path | None) -> IO[bytes]:
    if root is None:
        return path.open("rb")
    return open_linked(root, path.relative_to(root).as_posix())


def shape_only(
    document: Document, problems: list[Problem], schema: str | Mapping[str, Any]
) -> tuple[Document, list[Problem]]:
    """Add secrets and problems of shape to the problems that a document's reader found.

    Another program's file in place of a team yields one problem only.
    """
    if not document.complete:
        return document, sorted(problems)
    first = [*problems, *islice(secrets_in(document), MOST_PROBLEMS)]
    result = merged(first, shape_problems(document, schema))
    if result and schema == "team":
        from .recognition import foreign_problem

        if (foreign := foreign_problem(document)) is not None:
            return replace(document, complete=False), [foreign]
    return document, result


def read_shape(path: str | Path, schema: str) -> Any:
    """Read a YAML file and check only its shape.

    Raises:
        InputError: The file does not exist or cannot be read.
        ConfigError: The file does not load; the exception has every problem with its place.
    """
    read = read_yaml(read_file(path), str(path))
    return without_problems(*shape_only(*read, schema)).value


def merged(first: list[Problem], more: Iterable[Problem]) -> list[Problem]:
    """Merge problems by place; a place with an earlier problem gets no later one.

    The result has at most `MOST_PROBLEMS`; if there are more, the last one says so.
    """
    if len(first) >= MOST_PROBLEMS:
        return first
    places = {(problem.file, problem.place) for problem in first}
    new = (problem for problem in more if (problem.file, problem.place) not in places)
    problems = sorted({*first, *islice(new, MOST_PROBLEMS - len(first))})
    if len(problems) == MOST_PROBLEMS and next(new, None) is not None:
        problems[-1] = replace(problems[-1], path="", message=THERE_ARE_MORE)
    return problems


def _task(
    value: dict[str, Any],
    files: Mapping[str, Any],
    repo: Path | None,
    scorer: ScorerChoice,
) -> Task:
    names = ("id", "query", "context", "niche", "commit", "history", "answer")
    fields = {key: value[key] for key in names if key in value}
    briefs: dict[str, str] = value.get("briefs") or {}
    return Task(
        **fields,
        briefs=MappingProxyType(briefs),
        fields=MappingProxyType(value.get("fields") or {}),
        **files,
        repo=repo,
        scorer=scorer,
    )


def _is_repository(folder: Path, *, bare: bool) -> bool:
    """Return whether a folder is a git working copy or, with `bare`, a bare repository."""
    try:
        return (folder / ".git").exists() or (bare and (folder / "objects").is_dir())
    except OSError:  # no valid file name
        return False
