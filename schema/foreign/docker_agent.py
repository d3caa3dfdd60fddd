"""docker-agent's YAML as a team: sub-agents report to whoever calls them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from ..host.models import DEFAULT_ALIAS
from ..loading.recognition import DOCKER_AGENT
from ..team.team import Agent, Team
from ..values.errors import ConfigError
from ..values.hints import did_you_mean
from ..values.problems import quoted
from ..values.values import is_mapping
from .docker_names import AUTO, MODEL_RUNNER, PROVIDERS, ROOT, calling
from .source import Edges, ForeignFile, Imported, as_prompt, ids_of, ill_fitting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..values.document import Document
    from ..values.problems import Path

__all__ = ["docker_agent_team"]

LONGEST_ROLE = 200
LONGEST_ALIAS = 100
AGENT_READ = (
    "description", "handoffs", "instruction", "model", "structured_output", "sub_agents",
    "toolsets",
)  # fmt: skip
AGENT_LOST = {
    "add_date": "Write the date into the task.",
    "add_environment_info": "Write what agents are to know of the machine into the task.",
    "add_prompt_files": "Write the files' texts into the prompt.",
    "commands": "Write such a prompt as a task.",
    "fallback": "What answers in a model's place stands in models.yaml: fallback.",
    "hooks": "Nothing is run beside the agents.",
    "max_iterations": "max_steps is for agents that use tools; this one makes one call.",
    "rag": "Give a pool's memory with recall, or the texts as files of the task.",
    "skills": "Write skills under notes.skills.",
}
TOOLSETS = (
    "Tools are granted by name: write agent_type: ToolCallingAgent and tools, and servers into"
    " tools.yaml."
)
TOP_READ = ("agents", "metadata", "models", "providers", "version")
TOP_LOST = {
    "mcps": "Write the servers into tools.yaml.",
    "permissions": "What may be called stands in tools.yaml: permissions.",
    "rag": "Give a pool's memory with recall, or the texts as files of the task.",
}
MODEL_READ = (
    "base_url", "frequency_penalty", "max_tokens", "model", "presence_penalty", "provider",
    "temperature", "thinking_budget", "token_key", "top_p", "type",
)  # fmt: skip
MODEL_LOST = {"routing": "An agent has one model; give others to other agents."}
IN_BODY = ("frequency_penalty", "presence_penalty")
EFFORTS = {"none", "minimal", "low", "medium", "high"}
_VARIANT = re.compile(r"(.+)-\d+")
_NO_ALIAS = re.compile(r"[^A-Za-z0-9_.:/-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Chosen:
    """A model of an agent: its alias here, and what its agents say of how it answers."""

    alias: str
    settings: Mapping[str, Any]


@dataclass(kw_only=True, slots=True)
class _Models:
    """The models of a file, as they are chosen by its agents."""

    source: ForeignFile
    fields: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    _known: dict[str, _Chosen] = field(default_factory=dict[str, "_Chosen"])

    def chosen(self, path: Path) -> _Chosen:
        """Read the model that an agent names."""
        first, *others = [one.strip() for one in self.source.text(path).split(",")]
        if others:
            self.source.lose(path, f"an agent has one model. This one has {quoted(first)}.")
        if not first or (first == AUTO and not self.source.at(("models", AUTO))):
            return _Chosen(alias=DEFAULT_ALIAS, settings={})
        if first not in self._known:
            self._known[first] = self._read(first, path)
        return self._known[first]

    def _read(self, name: str, path: Path) -> _Chosen:
        entries = self.source.mapping(("models",))
        if name in entries and not self._provider(name):
            return self._other(name)
        if name in entries:
            return self._entry(name)
        provider, slash, model = name.partition("/")
        if not slash:
            hint = did_you_mean(name, entries) or " Write PROVIDER/NAME."
            self.source.refuse(path, f"no model {quoted(name)} under models.{hint}")
            return _Chosen(alias=DEFAULT_ALIAS, settings={})
        fields = self._endpoint(provider, model, {})
        return _Chosen(alias=self._alias(model, name, fields), settings={})

    def _other(self, name: str) -> _Chosen:
        """Read a model that names others: the first of them."""
        path = ("models", name, "model")
        self._known[name] = _Chosen(alias=DEFAULT_ALIAS, settings={})  # what names itself ends here
        if not self.source.text(path):
            self.source.refuse(path, "no provider, and no model. Write both.")
        return self.chosen(path)

    def _entry(self, name: str) -> _Chosen:
        source, path = self.source, ("models", name)
        said = source.mapping(path)
        source.lose_rest(path, MODEL_READ, MODEL_LOST)
        fields = self._fields(name)
        numbers = ("max_tokens", "temperature", "top_p")
        settings: dict[str, Any] = {key: source.number((*path, key)) for key in numbers}
        budget = said.get("thinking_budget")
        if isinstance(budget, str) and budget in EFFORTS:
            settings["effort"] = budget
        elif isinstance(budget, int) and budget >= 0:
            fields |= {"thinking_tokens": budget} if budget else {}
            settings |= {} if budget else {"effort": "none"}
        elif budget not in (None, -1):
            source.refuse((*path, "thinking_budget"), f"{quoted(budget)} is no effort.")
        body = {key: said[key] for key in IN_BODY if said.get(key) is not None}
        for place, message in ill_fitting({k: v for k, v in settings.items() if v is not None}):
            source.refuse((*path, place), message)
        alias = self._alias(self._basis(name), name, {**fields, **({"body": body} if body else {})})
        return _Chosen(
            alias=alias,
            settings={key: item for key, item in settings.items() if item is not None},
        )

    def _basis(self, name: str) -> str:
        """Give the model of which a name is a variant: `fast-2` of `fast`, where both are alike."""
        found = _VARIANT.fullmatch(name)
        basis = found[1] if found else name
        entries = self.source.mapping(("models",))
        is_variant = basis in entries and self._fields(basis) == self._fields(name)
        return basis if is_variant else name

    def _fields(self, name: str) -> dict[str, Any]:
        said = self.source.mapping(("models", name))
        provider = self._provider(name)
        model = self.source.text(("models", name, "model"))
        if not model:
            self.source.refuse(("models", name), "no model. Write which: model.")
        return self._endpoint(provider, model, said, name)

    def _provider(self, name: str) -> str:
        """Give a model's provider, which the first version of the format called its type."""
        path = ("models", name)
        return self.source.text((*path, "provider")) or self.source.text((*path, "type"))

    def _endpoint(
        self, provider: str, model: str, said: Mapping[str, Any], name: str = ""
    ) -> dict[str, Any]:
        """Give where a model answers, as models.yaml says it."""
        custom = self.source.mapping(("providers", provider)) if provider else {}
        base = said.get("base_url") or custom.get("base_url")
        key = said.get("token_key") or custom.get("token_key")
        if provider == "dmr":
            base = base or MODEL_RUNNER
        if isinstance(base, str) and "$" in base:
            where = ("models", name, "base_url") if "base_url" in said else ("providers", provider)
            self.source.lose(where, "variables in addresses are not read. Write it: api_base.")
            base = None
        fields: dict[str, Any] = {"model": model}
        if base:
            fields["api_base"] = base
        elif provider:
            fields["model"] = f"{PROVIDERS.get(provider, provider)}/{model}"
        if custom.get("api_type") == "openai_responses":
            fields["api"] = "responses"
        elif base and provider == "anthropic":
            fields["api"] = "anthropic"
        return {**fields, **({"key_env": key} if key else {})}

    def _alias(self, wanted: str, whole: str, fields: dict[str, Any]) -> str:
        """Note what an alias stands for; where it stands for something else, take another."""
        names = chain((wanted, whole), (f"{wanted}_{number}" for number in count(2)))
        aliases = (_NO_ALIAS.sub("_", name)[-LONGEST_ALIAS:].strip("_./:-") for name in names)
        fitting = (
            aliase for aliase in aliases if self.fields.setdefault(aliase or "m", fields) == fields
        )
        return next(fitting) or "m"


def docker_agent_team(document: Document, name: str) -> Imported:
    """Take over a file of docker-agent.

    The agent that is asked there gives the answer here. Whom it can call (`sub_agents`) works ahead
    of it and reports to it; whoever an agent hands over to (`handoffs`) works after it.

    Args:
        document: The file as read.
        name: What the team is to be called.

    Raises:
        ConfigError: The file is none that docker-agent would load; the exception has every problem.
    """
    source = ForeignFile(document=document)
    written = source.mapping(("agents",))
    ids = ids_of(written)
    first = ROOT if ROOT in written else next(iter(written))
    called = {one: [*_called(source, one, written)] for one in written}
    order = _reached(first, called)
    models = _Models(source=source)
    agents = {ids[one]: _agent(source, one, ids, models) for one in order}
    edges = _edges(source, order, called, ids)
    output = _output(source, edges, first, ids, order)
    for one in written.keys() - {*order}:
        source.lose(("agents", one), f"{quoted(first)} calls it nowhere, so it is left out.")
    source.lose_rest((), TOP_READ, TOP_LOST)
    source.lose_rest(("metadata",), ("description", "version"), {})
    if source.wrong:
        raise ConfigError(sorted(source.wrong))
    team = Team(
        name=ids_of([name])[name],
        description=source.whole_text(("metadata", "description")),
        agents=agents,
        reports_to=edges.tuples,
        declared_output=output if len(agents) > 1 else None,
    )
    return Imported(
        program=DOCKER_AGENT, team=team, models=models.fields, lost=tuple(sorted(source.lost))
    )


def _called(
    source: ForeignFile, one: str, written: Mapping[str, Any]
) -> Iterator[tuple[Path, str]]:
    """Give whom an agent calls or hands over to, each with its place."""
    for kind in ("sub_agents", "handoffs"):
        for path, other in source.texts(("agents", one, kind)):
            if other in written:
                yield path, other
            elif "/" in other or ":" in other:
                source.lose(path, f"{quoted(other)} is an agent from elsewhere. Write it here.")
            else:
                hint = did_you_mean(other, written)
                source.refuse(path, f"no agent {quoted(other)}.{hint}")


def _reached(first: str, called: Mapping[str, list[tuple[Path, str]]]) -> list[str]:
    """Give who works at all, whoever is asked first at the head."""
    order = {first: None}
    waiting = [first]
    while waiting:
        new = [other for _, other in called[waiting.pop(0)] if other not in order]
        order |= dict.fromkeys(new)
        waiting += dict.fromkeys(new)
    return [*order]


def _edges(
    source: ForeignFile,
    order: list[str],
    called: Mapping[str, list[tuple[Path, str]]],
    ids: Mapping[str, str],
) -> Edges:
    edges = Edges()
    for one in order:
        for path, other in called[one]:
            is_sub = path[2] == "sub_agents"
            ends = (other, one) if is_sub else (one, other)
            if not edges.add(ids[ends[0]], ids[ends[1]]):
                source.lose(
                    path,
                    f"if {ids[ends[0]]} reported to {ids[ends[1]]}, that would close a cycle."
                    " Nobody waits for an answer to an answer here: see execution.rounds.",
                )
        _tell_of_calls(source, one)
    return edges


def _tell_of_calls(source: ForeignFile, one: str) -> None:
    """Say what comes of calls that an agent chose to make; of ours, it made all of them."""
    path = ("agents", one)
    subs = [name for _, name in source.texts((*path, "sub_agents"))]
    if subs and not source.text((*path, "instruction")).endswith(calling(subs)):
        source.lose(
            (*path, "sub_agents"),
            f"{quoted(one)} calls them there when it likes. Here they all get the task, work ahead"
            " of it, and report to it: change what its prompt says of calling.",
        )
    if source.texts((*path, "handoffs")):
        source.lose(
            (*path, "handoffs"),
            f"{quoted(one)} chooses one of them there, who goes on with the conversation. Here they"
            " all work after it, and read what it reports.",
        )


def _output(
    source: ForeignFile, edges: Edges, first: str, ids: Mapping[str, str], order: list[str]
) -> str:
    """Choose who answers: who is asked, or who is handed the conversation last."""
    sinks = edges.sinks(ids[one] for one in order)
    output = ids[first] if ids[first] in sinks else sinks[-1]
    names = {ids[one]: one for one in order}
    for sink in sinks:
        if sink != output:
            edges.add(sink, output)
            source.lose(
                ("agents", names[sink]),
                f"a team has one output, and that is {output}: {sink} reports to it.",
            )
    return output


def _agent(source: ForeignFile, one: str, ids: Mapping[str, str], models: _Models) -> Agent:
    path = ("agents", one)
    source.lose_rest(path, AGENT_READ, AGENT_LOST)
    for index, one_set in enumerate(source.items((*path, "toolsets"))):
        kind = one_set.get("type") if is_mapping(one_set) else one_set
        source.lose((*path, "toolsets", index), f"the toolset {quoted(kind)}. {TOOLSETS}")
    chosen = models.chosen((*path, "model"))
    role, opening = _role(source, path)
    subs = [name for _, name in source.texts((*path, "sub_agents"))]
    instruction = source.whole_text((*path, "instruction"))
    if subs and instruction.endswith(added := f"\n\n{calling(subs)}"):
        instruction = instruction.removesuffix(added)
    prompt = "\n\n".join(part for part in (opening, instruction) if part)
    if not prompt:
        prompt = role or "Do your part of the task."
        source.lose(path, "it has no instruction, and needs a prompt. It was given one.")
    if as_prompt(prompt) != prompt:
        message = "one such word alone is the name of a file. It was given some words ahead of it."
        source.lose((*path, "instruction"), message)
    schema = _schema(source, (*path, "structured_output"))
    return Agent(
        id=ids[one],
        role=role,
        agent_type="LLM",
        model_id=chosen.alias,
        prompt=as_prompt(prompt),
        output_schema=schema,
        **chosen.settings,
    )


def _role(source: ForeignFile, path: Path) -> tuple[str, str]:
    """Give an agent's role, or where its description is too long for one, how its prompt begins."""
    described = source.whole_text((*path, "description"))
    if len(described) <= LONGEST_ROLE:
        return described, ""
    source.lose(
        (*path, "description"),
        f"a role has {LONGEST_ROLE} characters at most, and this has {len(described)}. It stands at"
        " the head of the prompt.",
    )
    return "", described.strip()


def _schema(source: ForeignFile, path: Path) -> Mapping[str, Any] | None:
    """Give the form of an agent's answer, where it is one that we can hold it to."""
    schema = source.mapping(path).get("schema")
    if not is_mapping(schema):
        return None
    if first := next(ill_fitting({"output_schema": schema}), None):
        place = first[0].removeprefix("output_schema").removeprefix(".")
        source.lose((*path, "schema"), f"It is left out: {place}: {first[1]}")
        return None
    return schema
