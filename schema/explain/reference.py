"""The reference pages of `docs/`, made from the schemas: `mas dev explain --markdown team`."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..host.fields import Field, root, walk
from ..team.writing import DEFAULT_SCHEMA
from .explanation import example, kind

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
    " that runs it. `mas-validate team.yaml` reports all problems of a file at once, `mas dev graph"
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
    "An agent always works, and once, unless it says otherwise. `when` is a condition on what an"
    " earlier agent answered: `when: {agent: triage, field: kind, is: bug}`. An agent whose"
    " condition does not hold is skipped. It costs nothing, and its readers learn that it was"
    " not needed. `reads` has conditions on single reports: `reads: {critic: {field: score,"
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
    " `inputs` in [models.yaml](models.md) says. `docs/runs.md` has the limits.",
)
_MODELS = ReferencePage(
    path="docs/models.md",
    title="The models file",
    before="It is YAML and is called `models.yaml`, in the working directory or in the user's own"
    " configuration; `MAS_HOME` names another folder, `--models FILE` another file. You may do"
    " without it: `--model PROVIDER/NAME` or `MAS_MODEL` sets `default`, which is otherwise the"
    " embedded model. `--model NAME@URL` sends the key in `MAS_API_KEY`, if it is set.",
    after="A price that is not given is taken from the list that litellm ships. Without a price"
    " there either, a run is shown as unpriced, and a cap on USD is refused.\n\n"
    "Failures that may pass are tried again: the statuses 408, 409, 425, 429 and 5xx, a broken"
    " connection, silence, an answer that is empty or did not end well. A retry waits as long as"
    " the endpoint asks, at most a minute, and a random time more. After a 429, half as many"
    " calls are in flight, and one more after each round of answers, up to `concurrency`. After"
    " five failures in a row a model pauses for 30 seconds.\n\n"
    "When the retries are used up, the model pauses, or the prompt is too long for it, its"
    " `fallback` answers. A bad request has no fallback; nor has a key that is refused or a model"
    " that is unknown, unless `fallback_on_refusal` says so. An answer that broke off counts with"
    " the most that it may have cost. An endpoint that sends only signs of life, as some do while"
    " a model thinks, may take ten times `timeout`.\n\n"
    "`HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` name the proxy, and `NO_PROXY` the hosts that need"
    " none: names, endings of names, networks such as `10.0.0.0/8`. This machine never needs one."
    " `.netrc` is not read. `SSL_CERT_FILE` names the certificates to trust.\n\n"
    "`mas doctor --ping` asks each model that has an endpoint for a few tokens, and shows who"
    " answered, how soon and at what cost, or why not (exit code 1).\n\n"
    "## Which API is spoken\n\n"
    "Most endpoints have OpenAI's chat completions, also Google's for `gemini/NAME`."
    " `anthropic/NAME` uses Anthropic's Messages API. A model of `openai/`, `azure/` or `xai/` uses"
    " the Responses API if litellm's list says that it answers only there; any other model does so"
    " once its endpoint refuses a request for this reason. `api: anthropic` or `api: responses`"
    " chooses for any other `api_base`.\n\n"
    "The Responses API takes neither `seed` nor `stop`, the Messages API no `seed`. Nothing is"
    " stored at the provider. A schema is sent as the output format, or to an older Anthropic"
    " model as a tool. Signed and encrypted thinking goes back within a loop of tool calls.\n\n"
    "Prompts for Anthropic are marked for its cache: tools and instructions, and the whole"
    " conversation of an agent that works step by step. Caching costs a quarter more, reading a"
    " tenth, within five minutes. `stored_tokens` and `cached_tokens` of a call's usage have the"
    " amounts.",
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
