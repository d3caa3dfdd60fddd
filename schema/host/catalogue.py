"""The names known on this host: all that a team may ask for.

A team file only names things. The host decides what each name refers to and whether a team may use
it: by entry points of installed packages, models.yaml, tools.yaml and options of commands.
"""

from __future__ import annotations

import errno
import functools
import re
import site
import sys
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from inspect import isfunction
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from ..values.beneath import open_linked, settled
from ..values.entries import EntryPoint, find_entries
from ..values.errors import InputError
from ..values.hints import did_you_mean
from ..values.problems import quoted
from ..values.values import nothing
from .foreign_code import is_theirs, place_of, why
from .models import DEFAULT_ALIAS, PERSON, PERSON_MODEL, Model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .python_scorer import PythonScorer
    from .python_tool import PythonTool

BUILT_IN_PROMPTS = Path(__file__).parents[2] / "seeds" / "prompts"
SEED = "seed:"
"""The prefix of the names of teams that come with coterie."""
LARGEST_PROMPT_FILE = 4 << 20
"""Maximum bytes, including front matter."""
OF_FUNCTIONS = frozenset({"checks", "functions", "pages", "runners", "scorers", "views"})
"""The groups of entry points that refer to callables."""
OF_BENCHMARKS = f"{__name__.partition('.')[0]}.benchmarks."


Permission = Literal["allow", "ask", "deny"]
"""Whether agents may call a tool; `ask` asks a person before each call."""
_FRONT_MATTER = re.compile(r"\A---\n(.*\n)*?---(\n|\Z)")


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolServer:
    """A tool server of tools.yaml: a command, or an address.

    Attributes:
        name: The part of a tool's name before the dot.
        tools: The tools that may be granted.
        command: The program and its arguments; empty for an address.
        url: The address; empty for a command.
        env: The environment variables that the command may read.
        key_env: The variable with the key for the address.
        headers_env: Headers for the address, each with the variable that holds its value.
        start_timeout: Seconds until it must be ready.
    """

    name: str
    tools: tuple[str, ...]
    command: tuple[str, ...] = ()
    url: str = ""
    env: tuple[str, ...] = ()
    key_env: str = ""
    headers_env: Mapping[str, str] = field(default_factory=nothing)
    timeout: float = 60
    start_timeout: float = 10

    @property
    def where(self) -> str:
        """Its address, or its command."""
        return self.url or " ".join(self.command)

    @property
    def variables(self) -> frozenset[str]:
        """The environment variables whose values the server receives."""
        return frozenset({*self.env, self.key_env, *self.headers_env.values()} - {""})


@dataclass(frozen=True, kw_only=True, slots=True)
class HostTools:
    """The content of a tools.yaml: what the host itself offers.

    Attributes:
        permissions: The permissions by tool; for all other tools, `allow`.
    """

    servers: Mapping[str, ToolServer] = field(default_factory=nothing)
    python: Mapping[str, PythonTool] = field(default_factory=nothing)
    permissions: Mapping[str, Permission] = field(default_factory=nothing)
    scorers: Mapping[str, PythonScorer] = field(default_factory=nothing)

    @property
    def names(self) -> frozenset[str]:
        """The names of these tools in team files."""
        servers = self.servers.values()
        served = {f"{server.name}.{tool}" for server in servers for tool in server.tools}
        return frozenset(served | self.python.keys())


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """The names that a team may use.

    Attributes:
        backends: Names of runners.
        functions: Names of functions for agents of type Function.
        tools: Names of granted tools.
        withheld_tools: Names of tools that exist but are not granted.
        benchmark_tools: Names of tools that benchmarks provide for their own tasks. An agent may
            name them; they are never proposed.
        imports: Packages that the Python of agents may import. None: any installed one.
        models: The models by alias. `default` is known even if absent here.
        permissions: The permissions of tools.yaml, by tool.
        prompt_folders: The folders of prompt files, first match first.
    """

    backends: frozenset[str]
    functions: frozenset[str]
    scorers: frozenset[str]
    tools: frozenset[str]
    withheld_tools: frozenset[str] = frozenset()
    benchmark_tools: frozenset[str] = frozenset()
    imports: frozenset[str] | None = None
    models: Mapping[str, Model] = field(default_factory=nothing)
    servers: Mapping[str, ToolServer] = field(default_factory=nothing)
    python_tools: Mapping[str, PythonTool] = field(default_factory=nothing)
    python_scorers: Mapping[str, PythonScorer] = field(default_factory=nothing)
    permissions: Mapping[str, Permission] = field(default_factory=nothing)
    prompt_folders: tuple[Path, ...] = (BUILT_IN_PROMPTS,)

    @classmethod
    def of_host(
        cls,
        *,
        models: Mapping[str, Model] | None = None,
        host_tools: HostTools | None = None,
    ) -> Catalogue:
        """Collect the installed names, with the host's models and its tools.yaml."""
        benchmark_tools = frozenset(installed("benchmark_tools"))
        catalogue = cls(
            backends=frozenset(installed("runners")),
            functions=frozenset(installed("functions")),
            scorers=frozenset(installed("scorers")),
            tools=frozenset(installed("tools")) | benchmark_tools,
            benchmark_tools=benchmark_tools,
            models=models or {},
        )
        return catalogue.having(host_tools) if host_tools else catalogue

    def having(self, host_tools: HostTools) -> Catalogue:
        """Add tools and scorers of this host; denied tools are withheld.

        Raises:
            InputError: A function has the name of an installed tool or scorer.
        """
        for name in host_tools.python.keys() & self.tools:
            raise InputError(f"a tool {quoted(name)} already exists. Rename the function.")
        for name, scorer in host_tools.scorers.items():
            if name in self.scorers and self.python_scorers.get(name) != scorer:
                raise InputError(f"a scorer {quoted(name)} already exists. Rename the function.")
        permissions = {**self.permissions, **host_tools.permissions}
        added = replace(
            self,
            tools=self.tools | host_tools.names,
            servers={**self.servers, **host_tools.servers},
            python_tools={**self.python_tools, **host_tools.python},
            scorers=self.scorers | host_tools.scorers.keys(),
            python_scorers={**self.python_scorers, **host_tools.scorers},
            permissions=permissions,
        )
        denied = {name for name, permission in permissions.items() if permission == "deny"}
        return added.granting(added.tools - denied) if denied else added

    def granting(self, tools: frozenset[str]) -> Catalogue:
        """Restrict the granted tools to these."""
        return replace(
            self, tools=self.tools & tools, withheld_tools=self.withheld_tools | self.tools - tools
        )

    def approving(self, tools: Iterable[str]) -> Catalogue:
        """Allow calls of these tools without asking; denied tools stay denied.

        Raises:
            InputError: There is no such tool.
        """
        tools = frozenset(tools)
        for name in sorted(tools - self.tools - self.withheld_tools):
            raise InputError(f"--approve {name}: no tool {quoted(name)}.")
        asking = {name for name in tools if self.permissions.get(name) == "ask"}
        return replace(self, permissions={**self.permissions, **dict.fromkeys(asking, "allow")})

    def importing(self, packages: Iterable[str]) -> Catalogue:
        """Restrict the imports of agents' Python to these packages.

        Raises:
            InputError: A package is not installed, so no agent can import it.
        """
        packages = frozenset(packages)
        for name in sorted(packages):
            if not name.isidentifier() or find_package(name) is None:
                raise InputError(
                    f"--allow-import {name}: no package {quoted(name)} is installed beside coterie."
                )
        return replace(self, imports=packages)

    def beside(self, folder: Path) -> Catalogue:
        """Search for prompt files near a team file first: in its folder, then in the one above."""
        near = (folder / "prompts", folder.parent / "prompts")
        return replace(self, prompt_folders=(*near, *self.prompt_folders))

    @property
    def aliases(self) -> frozenset[str]:
        """The model aliases that a team may name."""
        return frozenset(self.models) | {DEFAULT_ALIAS}

    def model(self, alias: str) -> Model | None:
        """Return the model of an alias; None if this host does not define it."""
        return self.models.get(alias) or (PERSON_MODEL if alias == PERSON else None)

    def prompt(self, prompt_id: str) -> str | None:
        """Return the text of a prompt file without its front matter; None if there is no such file.

        Links between the files of a folder of prompts are followed, and no others.

        Raises:
            OSError: The file cannot be read, or is a link that leads out of its folder.
            UnicodeDecodeError: It is not UTF-8. Loading a team finds both first.
        """
        for folder in self.prompt_folders:
            try:
                stream = _opened(folder, f"{prompt_id}.md")
            except (FileNotFoundError, NotADirectoryError):
                continue
            with stream:
                content = stream.read(LARGEST_PROMPT_FILE + 1)
            if len(content) > LARGEST_PROMPT_FILE:
                raise OSError(errno.EFBIG, f"it is larger than {LARGEST_PROMPT_FILE} bytes")
            text = content.decode("utf-8-sig")
            return _body(text.replace("\r\n", "\n").replace("\r", "\n"))
        return None

    @property
    def prompt_ids(self) -> frozenset[str]:
        """The ids of all prompt files in the prompt folders."""
        texts = (path.stem for folder in self.prompt_folders for path in folder.glob("*.md"))
        return frozenset(texts)


def tool_identifier(name: str) -> str:
    """Return a tool's name as an identifier, for models and code: `clock.now` is `clock_now`."""
    return "".join(char if char.isalnum() else "_" for char in name)


def _opened(folder: Path, name: str) -> IO[bytes]:
    """Open a file of a prompt folder, which must not lead out of its own parent folder."""
    if folder == BUILT_IN_PROMPTS:
        return (folder / name).open("rb")
    return open_linked(folder.parent / settled(folder.parent, folder.name), name)


def _body(text: str) -> str:
    return _FRONT_MATTER.sub("", text, count=1).strip()


@functools.cache
def installed(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name, without importing any of them."""
    return {entry.name: entry for entry in _entries(tuple(sys.path)) if entry.group == group}


@functools.cache
def _entries(path: tuple[str, ...]) -> Sequence[EntryPoint]:
    """Read the entry points of all groups at once: each reading opens every package's files."""
    return find_entries(path)


def load_named(group: str, name: str) -> Any:
    """Import the object of a group's entry point.

    Raises:
        KeyError: No installed package declares that name. Loading a team finds this first.
        InputError: The package cannot be imported, or the object is not callable.
    """
    point = installed(group)[name]
    try:
        result = point.load()
    except BaseException as error:
        if not is_theirs(error):
            raise
        package = f" of {point.package}" if point.package else ""
        is_missing = isinstance(error, (ImportError, AttributeError)) and not place_of(error)
        how = f"{error}. Install what is missing." if is_missing else f"{why(error)}. Correct it."
        raise InputError(f"{name} ({point.value}{package}) cannot be imported: {how}") from error
    if group in OF_FUNCTIONS and not callable(result):
        raise InputError(
            f"the entry point {name!r} of coterie.{group} must be a function or a class, not"
            f" {quoted(result)}. Correct the package that declares it."
        )
    return result


def load_installed(group: str, noun: str, name: str) -> Any:
    """Return `load_named` of a noun's group; an unknown name is an InputError with a hint."""
    names = installed(group)
    if name not in names:
        hint = did_you_mean(name, names) or f" Known: {', '.join(sorted(names))}."
        raise InputError(f"no {noun} {name!r}.{hint}")
    return load_named(group, name)


def benchmark_scorers() -> frozenset[str]:
    """Return the scorers that only the tasks of one benchmark can use."""
    points = installed("scorers").items()
    return frozenset(name for name, point in points if point.value.startswith(OF_BENCHMARKS))


def plugin_packages() -> frozenset[str]:
    """Return the packages that entry points refer to."""
    modules = (entry.value.partition(":")[0] for entry in _entries(tuple(sys.path)))
    return frozenset(module.partition(".")[0].strip() for module in modules)


def is_installed(tool: str) -> bool:
    """Return whether an installed package declares a tool; another host may have more."""
    return any(tool in installed(group) for group in ("benchmark_tools", "tools"))


def load_tool(name: str) -> Any:
    """Import an installed tool: a tool, a toolkit, or a function.

    Raises:
        KeyError: No installed package declares that name. Loading a team finds this first.
        InputError: It cannot be imported, or it is none of these.
    """
    group = "benchmark_tools" if name in installed("benchmark_tools") else "tools"
    result = load_named(group, name)
    if getattr(result, "name", None) != name and not isfunction(result):
        raise InputError(
            f"the entry point {name!r} of coterie.{group} must be a Tool or a Toolkit of that name,"
            f" or a function, not {quoted(result)}. Correct the package that declares it."
        )
    return result


def find_package(name: str) -> Path | None:
    """Return a package or a module among those installed in this environment.

    Other modules that Python would find, such as folders in the current folder, do not count.

    Args:
        name: The name to import, without a dot.

    Returns:
        Its folder or file; None if it is not installed.
    """
    spec = find_spec(name)
    places = [*(spec.submodule_search_locations or [spec.origin])] if spec else []
    sites = {
        Path(getsitepackage)
        for getsitepackage in (*site.getsitepackages(), site.getusersitepackages())
    }
    paths = (Path(place) for place in places if place is not None)
    return next((place for place in paths if place.parent in sites), None)


def needs_reports(function: str) -> bool:
    """Return whether a function needs a report to work on.

    Every function does, unless its attribute says otherwise: `needs_reports = False`.
    """
    return bool(getattr(load_named("functions", function), "needs_reports", True))
