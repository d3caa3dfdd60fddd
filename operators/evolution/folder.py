"""The folder of an evolution in its pool, and the manifest that identifies the evolution.

`evolution.json` records the inputs of an evolution, for people to read and for later commands to
compare. A stream may grow: its first tasks must then stay unchanged.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Self

from ...pool.folder.own_files import refuse_links
from ...pool.memory.learnt_tasks import text_digest
from ...pool.values.layout import EVOLUTIONS, MANIFEST, TURNS
from ...runtime.record.journal import digest
from ...runtime.record.trace import EVENTS
from ...runtime.repository.repository import state_of
from ...schema.host.models import Model
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.loading.recipe import Recipe
from ...schema.team.task import Task
from ...schema.values.codec import Form, Misfit, from_value, stored, to_value
from ...schema.values.errors import InputError
from ...schema.values.files import make_folder, write_atomically
from ...schema.values.json_text import dumps, loads
from ...schema.values.problems import quoted
from ...schema.values.secrets import scrubbed
from ...schema.values.terminal import counted
from ...schema.values.values import is_mapping, parts

__all__ = [
    "EPISODES",
    "EVOLUTIONS",
    "FROZEN",
    "MANIFEST",
    "TURNS",
    "Manifest",
    "find_folder",
    "frozen_under",
    "open_folder",
    "task_digest",
]

EPISODES = "episodes"
"""The folder of episodes' files, with one folder for each number."""
FROZEN = "frozen.json"
"""Marks an evolution that learns no more; it holds the caps that bounded it."""
IGNORED = f"journal.log\n{EPISODES}/*/{EVENTS}\n"
VERSION = 3
"""The version of the manifest's format."""
ASPECTS = ("question", "question", "answer", "scorer", "files", "niche")
"""The aspects behind a task's digests, in order: first the question's words, then all of it."""
DIGITS = 16
_NAME = re.compile(r"[^/\\.\x00-\x1f][^/\\\x00-\x1f]*")


@stored()
class _Recipe:
    """The recipe fields that readers of a manifest need."""

    strategy: str
    workers: int
    beta: float
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _recipe(value: Any) -> Mapping[str, Any]:
    if from_value(_Recipe, value).workers < 1:
        raise Misfit(f"{value['workers']} is less than the minimum of 1", ("workers",))
    return value


def _digests(value: Any) -> Mapping[str, str]:
    for task, digests in from_value(Mapping[str, str], value).items():
        if len(digests.split(".")) != len(ASPECTS):
            raise Misfit(f"{quoted(digests)} are not the digests of a task", (task,))
    return value


@stored(closed=True)
class Manifest:
    """The inputs of an evolution.

    Attributes:
        models: The model behind each alias, without keys and secrets in addresses.
        embedder: The embedder of the memory; None without a memory.
        tasks: The digests of each task by its id, in order: see `ASPECTS`.
        commands: The distinct commands that worked on it, as typed.
        islands: Its part among several islands; None if it is alone.
    """

    recipe: Annotated[Mapping[str, Any], Form(read=_recipe)]
    ceiling: Mapping[str, Any]
    models: Mapping[str, Mapping[str, Any]]
    embedder: str | None
    tasks: Annotated[Mapping[str, str], Form(read=_digests)]
    commands: tuple[str, ...]
    coterie: tuple[str, ...]
    islands: Mapping[str, int] | None = None

    @classmethod
    def of(
        cls,
        *,
        recipe: Recipe,
        ceiling: CapabilityPolicy,
        models: Iterable[Model],
        embedder: str | None,
        tasks: Iterable[Task],
        command: str,
        islands: Mapping[str, int] | None = None,
        batch: bool = False,
    ) -> Self:
        """Return the manifest of an evolution."""
        allowed = {
            name: sorted(item) if isinstance(item, frozenset) else item
            for name, item in asdict(ceiling).items()
        }
        state = functools.cache(state_of)  # many tasks may share a repository
        return cls(
            recipe=_plain(asdict(recipe)),
            ceiling=_plain(allowed),
            models={model.alias: _model(model, recipe, batch=batch) for model in models},
            embedder=embedder,
            tasks={task.id: task_digest(task, state) for task in tasks},
            commands=(command,),
            coterie=(version("coterie"),),
            islands=islands,
        )

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the manifest in an evolution's folder.

        Raises:
            InputError: It is missing, unreadable, or in another format.
        """
        path = folder / MANIFEST
        try:
            value = loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"no evolution in {str(folder)!r}: it has no {MANIFEST}.") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: cannot be read: {error}.") from None
        if not is_mapping(value) or value.get("v") != VERSION:
            raise InputError(
                f"{folder} was begun by another version of coterie. Choose another --name; the pool"
                " can be used as it is."
            )
        fields = {name: item for name, item in value.items() if name != "v"}
        try:
            return from_value(cls, fields)
        except Misfit as error:
            raise InputError(f"{path}: not what an evolution wrote there: {error}.") from None

    def write(self, folder: Path) -> None:
        """Write it into the evolution's folder."""
        text = dumps({"v": VERSION, **to_value(self)}, indent=2, ensure_ascii=False)
        write_atomically(folder / MANIFEST, text + "\n")

    def after(self, earlier: Manifest) -> Manifest:
        """Return the manifest of a resumed evolution, with the commands and versions of both."""
        return replace(
            self,
            commands=tuple(dict.fromkeys((*earlier.commands, *self.commands))),
            coterie=tuple(dict.fromkeys((*earlier.coterie, *self.coterie))),
        )

    def differences(self, earlier: Manifest) -> list[str]:
        """Return the differences that make this another evolution than an earlier one."""
        texts = _changed("recipe", *(_flat(manifest.recipe) for manifest in (earlier, self)))
        texts += _changed("ceiling", earlier.ceiling, self.ceiling)
        for alias in sorted(self.models.keys() & earlier.models.keys()):
            # A server's address may change, but it must serve the same model.
            was, now = (
                {key: item for key, item in fields[alias].items() if key != "api_base"}
                for fields in (earlier.models, self.models)
            )
            texts += _changed(f"model {alias!r}", was, now)
        texts += _changed("islands", earlier.islands or {}, self.islands or {})
        if self.embedder != earlier.embedder:
            texts.append(f"embedder ({earlier.embedder}, now {self.embedder})")
        return [*texts, *_tasks_changed(earlier.tasks, self.tasks)]


def open_folder(pool: Path, name: str, manifest: Manifest | None = None) -> Path:
    """Open the folder of an evolution in its pool, and create it if it is missing.

    Args:
        manifest: Its manifest. One with additional tasks extends the stream. None: the evolution
            cannot be resumed.
    """
    folder = pool / EVOLUTIONS / name
    if manifest is not None and (find_folder(pool, name, manifest) / MANIFEST).exists():
        earlier = Manifest.read(folder)
        _ignore_what_git_need_not_keep(folder)
        if (going_on := manifest.after(earlier)) != earlier:
            going_on.write(folder)
        return folder
    make_folder(folder.parent)
    make_folder(folder)
    _ignore_what_git_need_not_keep(folder)
    if manifest is not None:
        manifest.write(folder)
    return folder


def _ignore_what_git_need_not_keep(folder: Path) -> None:
    path = folder / ".gitignore"
    if not path.exists() or path.read_text(encoding="utf-8") != IGNORED:
        write_atomically(path, IGNORED)


def find_folder(pool: Path, name: str, manifest: Manifest) -> Path:
    """Return the path of an evolution's folder, and check that no other evolution uses it.

    Raises:
        InputError: Another evolution has that name, the name is invalid, or the pool holds a link.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"{quoted(name)} cannot name an evolution, because it names a folder.")
    refuse_links(pool, whole=True)
    folder = pool / EVOLUTIONS / name
    if (folder / MANIFEST).exists() and (
        differences := manifest.differences(Manifest.read(folder))
    ):
        raise InputError(
            f"{folder} holds an evolution with another {'; another '.join(differences)}. Use what"
            " it began with, or choose another --name."
        )
    return folder


def frozen_under(folder: Path) -> dict[str, Any] | None:
    """Return the caps that bounded a frozen evolution; None if it may still learn."""
    path = folder / FROZEN
    return loads(path.read_text(encoding="utf-8"))["budget"] if path.exists() else None


def task_digest(task: Task, state: Callable[[Path, str], str] = state_of) -> str:
    """Return the digests of a task's aspects, joined by dots.

    Args:
        state: Returns the identity of a repository's content.
    """
    rest: Sequence[Any] = (
        [
            task.query,
            task.context,
            dict(task.briefs),
            *([dict(task.fields)] if task.fields else ()),
        ],
        [task.id, task.answer],
        [*task.scorer.identity],
        [
            *(dict(task.files), task.attached),
            *(task.repo and state(task.repo, task.commit), task.commit),
            *([task.history] if task.history else ()),
        ],
        task.niche,
    )
    return ".".join([text_digest(task), *(digest(part)[:DIGITS] for part in rest)])


def _model(model: Model, recipe: Recipe, *, batch: bool) -> dict[str, Any]:
    """Return the model behind an alias; with its prices if rewards depend on them."""
    from ...runtime.gateway.prices import batch_price_of
    from ...runtime.local.weights import SMOLLM2, weights_sha256
    from ...schema.host.models import EMBEDDED

    fields: dict[str, Any] = {
        "model": scrubbed(model.model),
        "api_base": model.api_base and scrubbed(model.api_base),
        "fallback": list(model.fallback),
        "notes": scrubbed(model.notes),
    }
    if model.model == EMBEDDED:
        fields["weights"] = f"{SMOLLM2.name} sha256:{SMOLLM2.sha256}"
    elif model.is_embedded:
        fields["weights"] = f"sha256:{weights_sha256(model.model)}"
    if model.fallback_on_refusal:
        fields["fallback_on_refusal"] = True
    fields |= _plain(model.settings)
    if recipe.beta and recipe.cost_unit == "usd":
        prices = {name: item for name, item in parts(model).items() if name.startswith("usd_")}
        fields |= {**prices, "usd_steps": [dict(usd_step) for usd_step in model.usd_steps]}
        fields |= {"batch_price": batch_price_of(model)} if batch else {}
    return fields


def _changed(label: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    texts = [
        f"{key}: {quoted(was.get(key))}, now {quoted(now.get(key))}"
        for key in sorted(was.keys() | now.keys())
        if was.get(key) != now.get(key)
    ]
    return [f"{label} ({'; '.join(texts)})"] if texts else []


def _tasks_changed(was: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    if len(now) < len(was):
        return [f"stream ({counted(len(was), 'task')}, now {len(now)}; it may only grow)"]
    for (old, digests), (new, others) in zip(was.items(), now.items(), strict=False):
        if old != new:
            return [f"stream (task {quoted(old)}, now {quoted(new)} in its place)"]
        if digests != others:
            pairs = zip(ASPECTS, digests.split("."), others.split("."), strict=True)
            parts = dict.fromkeys(name for name, before, after in pairs if before != after)
            many = sum(now[task] != sums for task, sums in was.items() if task in now) - 1
            more = f" and {many} more" if many else ""
            return [f"{' and '.join(parts)} of task {quoted(old)}{more}"]
    return []


def _flat(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a recipe, including `settings.*`, by the names that messages show."""
    own = {f"settings.{key}": item for key, item in recipe["settings"].items()}
    return {**{key: item for key, item in recipe.items() if key != "settings"}, **own}


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value as JSON would read it back."""
    return loads(dumps(value))
