"""The reference pages of `docs/`, made from the schemas: `mas dev explain --markdown team`."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..host.fields import root, walk
from ..team.writing import DEFAULT_SCHEMA
from .explanation import example, kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..host.fields import Field

__all__ = ["PAGES", "reference"]


WIDTH = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferencePage:
    """What a page says beside what the schema says: ahead of its example, and after it."""

    path: str
    title: str
    before: str
    after: str = ""


_TEAM = ReferencePage(
    path="docs/team.md",
    title="The team file",
    before="It is YAML, and it only names things: what a model is ([models.yaml](models.md)), what"
    " a tool is ([tools.yaml](tools-file.md)), and whether a team may use it, is up to the host"
    " that runs it. `mas-validate team.yaml` reports every problem of a file at once, `mas dev"
    " graph"
    " team.yaml` draws it, `mas dev fmt team.yaml` brings it into this form:",
    after="The first line is for editors. With `mas dev explain --schema team > team.schema.json`"
    " beside the file, which `mas init` writes, they complete its fields and mark mistakes as you"
    " type.\n\n"
    "Fields that agents share are written once, under `defaults`; agents that teams share are in"
    " agent files that their agents `use`. So are similar agents: `count: 3` makes a group of"
    " three, and `like: solver` copies another agent, except for the fields beside it. A debate of"
    " three over two rounds is short this way"
    " (`seed:debate_in_rounds`). Runs, plans, pictures and operators see the team with its"
    " agents written out, and `mas dev fmt team.yaml --to-file FILE` writes it so. An edit"
    " that goes back into the file (`mas-evolve --in-place`) changes the group where most of"
    " its members changed, and adds an entry for a member that differs from the others.\n\n"
    "By default, an agent always works, and works once. `when` is a condition on an earlier"
    " agent's answer: `when: {agent: triage, field: kind, is: bug}`. An agent whose"
    " condition does not hold is skipped. It costs nothing, and its readers learn that it was not"
    " needed. `reads` has conditions on single reports: `reads: {critic: {field: score,"
    " at_most: 0.8}}`. `each` is a list on whose items the agent works one by one: `each: {agent:"
    " planner, field: parts}`. Its readers get the list of its answers. `seed:triage` routes a"
    " request to one of three specialists, and `seed:split_and_merge` has as many workers as there"
    " are parts. Loading checks all three, and plans and estimates count the most that can run."
    " Operators may change them, as `set_parameter`, in a team that has some.\n\n"
    "YAML's anchors, aliases and merge keys (`&a`, `*a`, `<<`), are"
    " refused, each with its place: a screenful of them can stand for gigabytes, and an edit of"
    " one agent would silently change another.",
)
_TASK = ReferencePage(
    path="docs/task.md",
    title="The task file",
    before="It is JSON, or YAML with the same fields where the file's name ends with `.yaml`."
    " `mas-run team.yaml task.json` gives it to a team.",
    after="Images and PDFs among the files are shown to every agent whose model takes them, as"
    " `inputs` in [models.yaml](models.md) says. `docs/runs.md` has the details.",
)
_MODELS = ReferencePage(
    path="docs/models.md",
    title="The models file",
    before="It is YAML and is called `models.yaml`. It is looked for in the working directory, then"
    " in the user's own configuration; `MAS_HOME` names another folder, `--models FILE` another"
    " file. It is optional: `--model PROVIDER/NAME` or `MAS_MODEL` defines `default`, and without"
    " either, `default` is the embedded model. `--model NAME@URL` sends the key in"
    " `MAS_API_KEY`, where that is set.",
    after="A price that is not given is taken from the list that litellm ships, and where that"
    " has none it is unknown, not free: the cost of a run is then shown as unpriced, and a cap on"
    " USD is refused.\n\n"
    "A call is tried again where its failure may pass: the statuses 408, 409, 425, 429 and 5xx, a"
    " connection that breaks, an endpoint that is silent too long, an answer that is none, or that"
    " did not end well. Only finish reasons that are known to be good end an answer: `length` and"
    " its like cut it off, and any other fails by its own name. An error with status 200 is that"
    " error. Each retry waits as long as the endpoint asks (`Retry-After`, `retry-after-ms`, or in"
    " the error), at most a minute, and a random time more;"
    " meanwhile other calls of the model wait too. After a 429, half as many are in flight, and"
    " one more after each round"
    " of answers, up to `concurrency`. A model that failed five times in a row is left alone for 30"
    " seconds; then one call finds out whether it is back.\n\n"
    "Where the retries are used up, the model is left alone, or the prompt is too long for it, its"
    " `fallback` answers. What is wrong with a request in itself goes to no other model; nor does a"
    " key that is refused, or a model that is unknown, unless `fallback_on_refusal` says so.\n\n"
    "A call that the endpoint reports as failed costs what the endpoint says, else what arrived"
    " of it. No endpoint reports the cost of an answer that broke off: it counts as `max_tokens`,"
    " plus the tokens of the prompt that the endpoint reported before. An endpoint that sends only"
    " signs of life, as some do while a model thinks, gets ten times `timeout`.\n\n"
    "`HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` name the proxy that requests go through, and"
    " `NO_PROXY` the hosts that need none: names, endings of names, networks such as `10.0.0.0/8`."
    " This machine itself is never asked through a proxy, and `.netrc` is not read."
    " `SSL_CERT_FILE` names the certificates to trust.\n\n"
    "`mas doctor --ping` asks each model that has an endpoint for a few tokens, and says as who,"
    " how soon and at what cost it answered, or why it did not. It ends with 1 where one"
    " did not.\n\n"
    "## Which API is spoken\n\n"
    "Most endpoints have OpenAI's chat completions. `anthropic/NAME` is asked by Anthropic's"
    " Messages API, and a model of `openai/`, `azure/` or `xai/` by the Responses API where it"
    " answers only there, which the list says that litellm ships. `gemini/NAME` is asked at"
    " Google's OpenAI-compatible address. `api` says otherwise: `api: anthropic`, with the"
    " `api_base` of whoever speaks Anthropic's API, or `api: responses`.\n\n"
    "The Responses API takes neither `seed` nor `stop`. Nothing is stored at the provider: what a"
    " model thought comes encrypted, and goes back with the tool calls that follow from it. The"
    " Messages API takes no `seed`. A model is held to a schema by its output format; where that"
    " cannot say the schema, or the model is older, by a tool that it answers by. Signed thinking"
    " goes back within a loop of tool calls, in its order.\n\n"
    "Where an endpoint refuses a request because the model, or the model with tools, answers by the"
    " Responses API, it is asked there from then on. The trace says so once, in"
    " `parameter_adapted`.\n\n"
    "What of a prompt stays the same is marked for Anthropic's cache: tools and instructions, and"
    " where an agent works step by step, all until now. What the cache keeps for five minutes costs"
    " a quarter more, and a tenth when it is read again; a prompt that is too short for it costs"
    " what it always does. `stored_tokens` and `cached_tokens` of a call's usage say how much it"
    " was, and a price of the list counts it so.",
)
_TOOLS = ReferencePage(
    path="docs/tools-file.md",
    title="The tools file",
    before="It is YAML and is called `tools.yaml`. It is looked for in the working directory, then"
    " in the user's own configuration; `MAS_HOME` names another folder, `--tools FILE` another"
    " file.",
    after="An agent that may ask this server for the time has `tools: [clock.now]` in its"
    " [team file](team.md).",
)
_POLICY = ReferencePage(
    path="docs/policy.md",
    title="The policy file",
    before="It is YAML, is called `policy.yaml`, and is written by people alone. It binds"
    " everything that makes new teams: a team that asks for more is refused and counted.",
    after="Anything outside the lists is not granted; a missing number means no limit.",
)
_EVOLUTION = ReferencePage(
    path="docs/recipe.md",
    title="The recipe file",
    before="It is YAML, under any name, and `mas-evolve` reads it.",
    after="Paths of teams and of the policy are relative to the recipe's folder.",
)
PAGES: Mapping[str, ReferencePage] = MappingProxyType(
    {
        "team": _TEAM,
        "task": _TASK,
        "models": _MODELS,
        "tools": _TOOLS,
        "policy": _POLICY,
        "evolution": _EVOLUTION,
    }
)
"""The pages, by the kinds of files that they are about."""


def reference(document: str) -> str:
    """Write the reference page of a kind of file, as Markdown.

    Args:
        document: One of `fields.DOCUMENTS`.
    """
    page, file = PAGES[document], root(document)
    fence = "json" if document == "task" else "yaml"
    first = f"# yaml-language-server: $schema={DEFAULT_SCHEMA}\n" if document == "team" else ""
    parts = [
        f"# {page.title}",
        _wrapped(f"{file.meaning} {page.before}"),
        f"```{fence}\n{first}{example(file)}\n```",
        *map(_wrapped, page.after.split("\n\n")),
        *(part for field in walk(file) for part in _section(field)),
        f"*This page is written from the schema: `mas dev explain --markdown {document}`.*",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _section(field: Field) -> Iterator[str]:
    """Write a table of the fields right inside, where there are any with a name."""
    named = [child for child in field.children if not child.is_any]
    if named and not field.told_elsewhere:
        if field.path:
            yield f"## `{field.name}`"
            yield field.meaning
        else:
            yield "## The whole file"
        for of in dict.fromkeys(child.of for child in named):
            if of != field.of:
                yield f"Of {_listed(of)}:"
            yield _table([child for child in named if child.of == of])


def _table(fields: Sequence[Field]) -> str:
    rows = (
        f"| `{field.key}` | {kind(field)} | {_default(field)} | {_meaning(field)} |"
        for field in fields
    )
    head = ("| field | value | default | meaning |", "| --- | --- | --- | --- |")
    return "\n".join([*head, *rows])


def _listed(names: Sequence[str]) -> str:
    """Write names in a sentence: `a`, `b` and `c`."""
    *first, last = [f"`{name}`" for name in names]
    return f"{', '.join(first)} and {last}" if first else last


def _default(field: Field) -> str:
    if field.required:
        return "required"
    return f"`{field.default}`" if "default" in field.schema else field.default


def _meaning(field: Field) -> str:
    text = field.meaning.replace("<", r"\<")
    shown = example(field)
    if "\n" in shown:
        shown = f"{field.key}: {json.dumps(field.schema['examples'][0])}"
    if shown:
        text += f" Example: `{shown}`"
    return text.replace("|", r"\|")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False)
