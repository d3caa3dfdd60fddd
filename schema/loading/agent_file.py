"""Agent files: single agents, to be shared by teams and stored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..checking._shape import sound
from ..host.catalogue import Catalogue
from ..team._meaning import AGENT_RULES, Reading, Rule, notes_on_others, taught_notes
from ..team.building import agent_of, lineage_of
from ..team.team import Agent, Lineage, Skill, Team, is_prompt_id
from ..team.writing import agent_value, write_agent_yaml, write_yaml
from ..values.codec import to_value
from ..values.document import Document
from ..values.errors import InputError, without_problems
from ..values.files import make_folder, write_atomically
from ..values.folders import files_in, write_folder
from ..values.problems import Problem, quoted
from ..values.values import is_mapping
from .agent_document import (
    AGENT,
    COACHING,
    DASHES,
    KINDS,
    PROMPT,
    SKILL,
    is_agent_folder,
    read_agent_document,
)
from .loading import UNASKED, merged, shape_only

OURS = (
    AGENT,
    PROMPT,
    f"skills/*/{SKILL}",
    f"notes/{COACHING}",
    *(f"notes/{kind}/*.md" for kind in KINDS),
)
"""The files of an agent's folder that are parts of the agent."""

_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")
HOSTLESS: tuple[Rule, ...] = (notes_on_others, taught_notes)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentFile:
    """An agent with its lineage."""

    agent: Agent
    lineage: Lineage | None = None

    @property
    def team(self) -> Team:
        """A team of this agent alone."""
        return Team(name=self.agent.id, agents={self.agent.id: self.agent}, lineage=self.lineage)


def load_agent(path: str | Path, catalogue: Catalogue | None = None) -> AgentFile:
    """Load an agent file, or an agent's folder.

    Args:
        path: The YAML file, the folder, or the `agent.yaml` in it. The agent's id is the name of
            the file or folder, unless the file sets another.
        catalogue: The known names. Default: those of installed packages, and no models.yaml.
    """
    own_catalogue = (catalogue or Catalogue.of_host()).beside(_whole(Path(path)).parent)
    return without_problems(*check_agent(path, own_catalogue))


def read_agent(path: str | Path) -> AgentFile:
    """Load an agent file without a host: its names are not checked."""
    return without_problems(*check_agent(path, UNASKED, HOSTLESS))


def check_agent(
    path: str | Path, catalogue: Catalogue, rules: tuple[Rule, ...] = AGENT_RULES
) -> tuple[AgentFile, list[Problem]]:
    """Return an agent file's readable part and all its problems, by place.

    Raises:
        InputError: The file does not exist or cannot be read.
    """
    whole = _whole(Path(path))
    try:
        document, problems = shape_only(*read_agent_document(whole, whole.parent), "agent")
    except ValueError as error:
        raise InputError(str(error)) from None
    if not document.complete:
        return AgentFile(agent=Agent(id="one")), problems
    value = sound(document, "agent") if problems else document.value
    value = value if is_mapping(value) else {}
    name = value.get("id", whole.name if whole.is_dir() else whole.stem)
    if not _ID.fullmatch(name):
        message = f"the file's name is the agent's id, and {quoted(name)} is not an id. Write one."
        problems = [*problems, document.problem((), message)]
    fields = {key: item for key, item in value.items() if key not in {"id", "lineage"}}
    file = AgentFile(agent=agent_of(name, fields), lineage=lineage_of(value.get("lineage")))
    reading = Reading(
        document=_as_team(document, name, fields),
        team=file.team,
        catalogue=catalogue,
        problems=problems,
    )
    return file, merged(problems, (problem for rule in rules for problem in rule(reading)))


def agent_paths(folder: Path) -> tuple[Path, ...]:
    """List the agent files and agents' folders directly in a folder, by name."""
    inside = sorted(folder.iterdir())
    return tuple(
        path
        for path in inside
        if is_agent_folder(path) or (path.is_file() and path.suffix in {".yaml", ".yml"})
    )


def write_agent(path: str | Path, agent_file: AgentFile) -> None:
    """Write an agent as a file, if the path ends with `.yaml`, or as a folder.

    Each file is written completely or not at all, `agent.yaml` first. Obsolete files of the agent
    are removed last. Reading gives an equal agent back.
    """
    path = Path(path)
    if path.suffix in {".yaml", ".yml"}:
        write_atomically(path, _named(_value(agent_file), agent_file.agent.id, path.stem))
        return
    make_folder(path)
    write_folder(path, agent_texts(agent_file, called=path.name), files_in(path, OURS))


def agent_texts(agent_file: AgentFile, *, called: str | None = None) -> Mapping[str, str]:
    """Return the texts of an agent's folder, by their paths in it.

    Args:
        called: The folder's name. None: the agent's id.
    """
    texts = dict(_texts(agent_file.agent))
    apart = {"notes", "prompt"} if PROMPT in texts else {"notes"}
    value = {key: item for key, item in _value(agent_file).items() if key not in apart}
    return {AGENT: _named(value, agent_file.agent.id, called or agent_file.agent.id), **texts}


def _value(agent_file: AgentFile) -> dict[str, Any]:
    lineage = {"lineage": to_value(agent_file.lineage)} if agent_file.lineage else {}
    return {**agent_value(agent_file.agent), **lineage}


def _named(value: Mapping[str, Any], name: str, usual: str) -> str:
    """Write an agent file, with its id if the file name differs or no other field is set."""
    return write_agent_yaml(value if value and name == usual else {"id": name, **value})


def _texts(agent: Agent) -> Iterator[tuple[str, str]]:
    """Yield the files of an agent's folder except agent.yaml, with their paths in it."""
    notes = agent.notes
    if agent.prompt and not is_prompt_id(agent.prompt):
        yield PROMPT, f"{agent.prompt}\n"
    for name, skill in notes.skills.items():
        yield f"skills/{name}/{SKILL}", _skill(name, skill, notes.taught.get(f"skills/{name}"))
    for place in notes.places:
        kind, _, name = place.partition("/")
        if kind != "skills":
            text = getattr(notes, kind)[name] if name else notes.coaching
            yield f"notes/{place}.md", _note(text, notes.taught.get(place))


def _skill(name: str, skill: Skill, task: str | None) -> str:
    """Write a skill's file in the form of the Agent Skills convention."""
    fields: dict[str, Any] = {
        "name": name,
        "description": skill.description,
        "license": skill.license,
        "compatibility": skill.compatibility,
        "metadata": {**skill.metadata, **({"task": task} if task else {})},
    }
    return _fronted({key: item for key, item in fields.items() if item}, skill.body)


def _note(text: str, task: str | None) -> str:
    """Write a note's file. Front matter names the task that taught it, if known."""
    if task is None and not text.startswith(DASHES):
        return f"{text}\n"
    return _fronted({"task": task} if task else {}, text)


def _fronted(fields: Mapping[str, Any], text: str) -> str:
    return f"{DASHES}{write_yaml(fields) if fields else ''}{DASHES}\n{text}\n"


def _whole(path: Path) -> Path:
    """Return the folder of an agent.yaml, or the path unchanged."""
    return path.parent if path.name == AGENT else path


def _as_team(document: Document, name: str, fields: Mapping[str, Any]) -> Document:
    """Return an agent's document as a team document with this one agent."""
    place = ("agents", name)
    return Document(
        file="",
        value={"agents": {name: fields}},
        places={},
        keys={(*place, *path): where for path, where in document.keys.items()},
        grafts={place: document},
    )
