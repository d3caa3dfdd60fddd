"""File lookups after a task: an agent reads the files that it worked on, as it left them.

It has only those read-only tools that it had during its work. The copy is rebuilt from the task and
the agent's own changes, so it is the same after a restart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from .....runtime.gateway.stream_sink import unheard
from .....runtime.repository.changes import passed_on
from .....runtime.repository.workspace import Workspaces
from .....runtime.tools.files import list_files, read_file, search_text
from .....runtime.tools.tool import GrantedTool, Tool, ToolError
from .....schema.edits.offer.strict import ANY_LIST, among, array, closed
from .....schema.team.task import Task
from .....schema.values.problems import quoted
from .....schema.values.terminal import on_one_line
from .....schema.values.values import is_mapping
from ....core.answers import InvalidAnswer, structured
from ....core.bounds import Bounds
from ....core.material import clip, fenced
from .ground import Ground

TOOLS: Mapping[str, Tool] = MappingProxyType(
    {tool.name: tool for tool in (list_files, read_file, search_text)}
)
CODING = frozenset({"mini-swe-agent", "swe-agent"})
"""Backends whose agents work on a copy of the repository with a shell."""
AT_ONCE = 4
"""The most lookups in one answer."""
LINES = 200
LONGEST_LOOK = 4_000
FIELDS = ("tool", "path", "text", "line")


@dataclass(frozen=True, kw_only=True, slots=True)
class FileLook:
    """A file lookup.

    Attributes:
        result: The output of the tool, or its error.
    """

    tool: str
    path: str
    text: str = ""
    line: int = 1
    result: str = ""

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of the tool call."""
        match self.tool:
            case "read_file":
                return {"path": self.path, "start_line": self.line, "line_count": LINES}
            case "search_text":
                return {"text": self.text, "path": self.path or "."}
            case _:
                return {"path": self.path or "."}

    def shown(self, most: int) -> str:
        """Return it in a fence, with at most `most` characters of the result."""
        what = f"{self.tool} {self.path} {self.text}".strip()
        return fenced("looked_up", f"{on_one_line(what)}\n{clip(self.result, most)}")


def tools_of(ground: Ground, agent: str) -> Sequence[str]:
    """Return the tools by which an agent may look at the task's files; empty without files."""
    task, own = ground.feedback.task, ground.team.agents[agent]
    if task.repo is None and not task.files:
        return ()
    if task.repo is not None and ground.team.backend_of(own) in CODING:
        return [*TOOLS]
    return [name for name in TOOLS if name in own.tools]


def looks_schema(tools: Sequence[str]) -> Mapping[str, Any]:
    """Return the schema of an answer that requests lookups."""
    text = {"type": "string", "maxLength": 300}
    line = {"type": "integer", "minimum": 1, "maximum": 1_000_000}
    item = closed(tool=among(tools), path=text, text=text, line=line)
    return closed(looks=array(item, AT_ONCE))


def looks_in(text: str, tools: Sequence[str], *, strict: bool) -> tuple[FileLook, ...]:
    """Parse the requested lookups.

    Args:
        strict: Whether an invalid lookup is an error; else it is ignored.

    Raises:
        InvalidAnswer: The answer has another shape, or a lookup is invalid.
    """
    items: list[Any] = structured(text, closed(looks=ANY_LIST), Bounds())["looks"]
    bad = [item for item in items if not _is_look(item, tools)]
    if strict and (bad or len(items) > AT_ONCE):
        shown = "; ".join(quoted(on_one_line(str(item))[:80]) for item in bad) or f"{len(items)}"
        raise InvalidAnswer(
            f"looks: {shown}. At most {AT_ONCE}, each with tool ({', '.join(tools)}), path, text"
            " and line."
        )
    fit = [item for item in items if _is_look(item, tools)]
    return tuple(dict.fromkeys(FileLook(**item) for item in fit))[:AT_ONCE]


def _is_look(item: Any, tools: Sequence[str]) -> bool:
    if not is_mapping(item) or item.keys() != {*FIELDS} or item["tool"] not in tools:
        return False
    texts = all(isinstance(item[name], str) for name in ("path", "text"))
    return texts and type(item["line"]) is int and item["line"] > 0


async def looked_up(ground: Ground, agent: str, looks: Sequence[FileLook]) -> tuple[FileLook, ...]:
    """Run lookups in an agent's copy of the task's files, as it left them."""
    outcome = ground.run.agents[agent]
    patch = outcome.result.patch if outcome.result else None
    changes = outcome.changes or passed_on(agent, patch, ())
    task: Task = replace(ground.feedback.task, answer=None)
    results: list[FileLook] = []
    with Workspaces(task) as workspaces:
        workspace = workspaces.of(agent, 1, changes)
        for look in looks:
            tool = GrantedTool(tool=TOOLS[look.tool], workspace=workspace, emit=unheard)
            try:
                text = str(await tool.call(look.arguments))
            except ToolError as error:
                text = str(error)
            results.append(replace(look, result=text))
    return tuple(results)
