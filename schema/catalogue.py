"""What names are known on this host: the ceiling of what a team may ask for.

A team file only names things. What a name means, and whether a team may use it, is up to the host:
entry points of installed packages, models.yaml, tools.yaml and the options of a command.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .errors import InputError
from .models import DEFAULT_ALIAS, Model

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "GROUPS",
    "Catalogue",
    "Server",
    "installed",
    "load_named",
    "needs_reports",
    "tool_identifier",
]

GROUPS = (
    "benchmarks",
    "commands",
    "functions",
    "operators",
    "runners",
    "scorers",
    "strategies",
    "tools",
)
"""Our entry-point groups, each without its prefix `coterie.`."""

BUILT_IN_PROMPTS = Path(__file__).parent.with_name("seeds") / "prompts"


_FRONT_MATTER = re.compile(r"\A---\n(.*\n)*?---(\n|\Z)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A tool server of tools.yaml. `timeout` is in seconds for one call of a tool."""

    name: str
    command: tuple[str, ...]
    tools: tuple[str, ...]
    env: tuple[str, ...] = ()
    timeout: float = 60


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """What a team may name.

    Attributes:
        backends: Names of runners.
        functions: Names of functions for agents of type Function.
        scorers: Names of scorers.
        tools: Names of tools that are granted.
        withheld_tools: Names of tools that exist, but that the caller does not grant.
        models: The models by alias. `default` counts as known even when it is not here.
        servers: The tool servers of tools.yaml, by name.
        prompt_folders: Where prompt files are looked for, first match first.
    """

    backends: frozenset[str]
    functions: frozenset[str]
    scorers: frozenset[str]
    tools: frozenset[str]
    withheld_tools: frozenset[str] = frozenset()
    models: Mapping[str, Model] = field(default_factory=_empty)
    servers: Mapping[str, Server] = field(default_factory=_empty)
    prompt_folders: tuple[Path, ...] = (BUILT_IN_PROMPTS,)

    @classmethod
    def of_host(
        cls,
        *,
        models: Mapping[str, Model] | None = None,
        servers: Mapping[str, Server] | None = None,
    ) -> Catalogue:
        """Collect what is installed, with the host's models and tool servers."""
        servers = servers or {}
        served = {f"{server.name}.{tool}" for server in servers.values() for tool in server.tools}
        return cls(
            backends=frozenset(installed("runners")),
            functions=frozenset(installed("functions")),
            scorers=frozenset(installed("scorers")),
            tools=frozenset(installed("tools")) | served,
            models=models or {},
            servers=servers,
        )

    def granting(self, tools: frozenset[str]) -> Catalogue:
        """Narrow the granted tools to these."""
        return replace(
            self, tools=self.tools & tools, withheld_tools=self.withheld_tools | self.tools - tools
        )

    def beside(self, folder: Path) -> Catalogue:
        """Look for prompt files near a team file first: in its folder, then in the folder above."""
        near = (folder / "prompts", folder.parent / "prompts")
        return replace(self, prompt_folders=(*near, *self.prompt_folders))

    @property
    def aliases(self) -> frozenset[str]:
        """The model aliases that a team may name."""
        return frozenset(self.models) | {DEFAULT_ALIAS}

    def prompt(self, prompt_id: str) -> str | None:
        """Give the text of a prompt file without its front matter, or None where there is none.

        Raises:
            OSError: The file cannot be read.
            UnicodeDecodeError: It is not UTF-8. Loading a team finds both first.
        """
        for folder in self.prompt_folders:
            path = folder / f"{prompt_id}.md"
            if path.is_file():
                return _body(path.read_text(encoding="utf-8-sig"))
        return None

    @property
    def prompt_ids(self) -> frozenset[str]:
        """The prompt files that are found."""
        found = (path.stem for folder in self.prompt_folders for path in folder.glob("*.md"))
        return frozenset(found)


def tool_identifier(name: str) -> str:
    """Give a tool's name as an identifier, for models and code: `clock.now` is `clock_now`."""
    return "".join(char if char.isalnum() else "_" for char in name)


def _body(text: str) -> str:
    """Leave out the front matter: what stands between two lines of dashes at the top."""
    return _FRONT_MATTER.sub("", text, count=1).strip()


@functools.cache
def installed(group: str) -> Mapping[str, EntryPoint]:
    """Find the entry points of a group by name, without importing any of them."""
    return {point.name: point for point in entry_points(group=f"coterie.{group}")}


def load_named(group: str, name: str) -> Any:
    """Import what a name of a group stands for.

    Raises:
        KeyError: No installed package gives that name. Loading a team finds this first.
        InputError: The package that gives it cannot be imported.
    """
    point = installed(group)[name]
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        package = f" of {point.dist.name}" if point.dist else ""
        raise InputError(
            f"{name} ({point.value}{package}) cannot be imported: {error}. Install what is missing."
        ) from error


def needs_reports(function: str) -> bool:
    """Tell whether a function needs a report to work on.

    Every function does, unless it says otherwise by an attribute: `needs_reports = False`.

    Raises:
        KeyError: No installed package gives that function.
        InputError: The package that gives it cannot be imported.
    """
    return bool(getattr(load_named("functions", function), "needs_reports", True))
