"""The reference pages of `docs/`, generated from the schemas: `mas dev explain --markdown team`."""

from __future__ import annotations

import json
import re
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
    """The texts of a page that the schema does not have: before its example, and after it."""

    path: str
    title: str
    before: str
    after: str = ""


_TEAM = ReferencePage(
    path="docs/reference/team.md",
    title="The team file",
    before="It is YAML, and it only names things. The host that runs the team says what a model is"
    " ([models.yaml](models.md)), what a tool is ([tools.yaml](tools.md)), and whether a team may"
    " use it. `mas-validate team.yaml` reports all problems at once, `mas dev graph team.yaml`"
    " draws the team, `mas dev fmt team.yaml` brings the file into this form:",
    after="The first line is for editors. With `mas dev explain --schema team > team.schema.json`"
    " beside the file, which `mas init` writes, they complete its fields and mark mistakes as you"
    " type. [Build a team](../teams.md) shows what the fields are for.\n\n"
    "YAML's anchors, aliases and merge keys (`&a`, `*a`, `<<`) are refused: a screenful of them"
    " can stand for gigabytes, and an edit of one agent would silently change another.",
)
_TASK = ReferencePage(
    path="docs/reference/task.md",
    title="The task file",
    before="It is JSON, or YAML if the file's name ends with `.yaml`. `mas-run team.yaml task.json`"
    " gives it to a team. [Scorers](../measure.md#scorers) explains `scorer`.",
)
_MODELS = ReferencePage(
    path="docs/reference/models.md",
    title="The models file",
    before="It is YAML and is called `models.yaml`, in the working directory or in the user's own"
    " configuration. `MAS_HOME` names another folder, `--models FILE` another file."
    " [Choose a model](../models.md) explains how models are chosen, priced and asked.",
)
_TOOLS = ReferencePage(
    path="docs/reference/tools.md",
    title="The tools file",
    before="It is YAML and is called `tools.yaml`, in the working directory or in the user's own"
    " configuration. `MAS_HOME` names another folder, `--tools FILE` another file."
    " [Give agents tools](../tools.md) shows its use.",
    after="An agent that may ask this server for the time has `tools: [clock.now]` in its"
    " [team file](team.md).",
)
_POLICY = ReferencePage(
    path="docs/reference/policy.md",
    title="The policy file",
    before="It is YAML, is called `policy.yaml`, and is written by people alone. It binds"
    " everything that makes new teams: a team that asks for more is refused and counted.",
    after="Anything outside the lists is not granted; a missing number means no limit.",
)
_EVOLUTION = ReferencePage(
    path="docs/reference/recipe.md",
    title="The recipe file",
    before="It is YAML, under any name, and `mas-evolve` reads it.",
    after="Paths of teams and of the policy are relative to the recipe's folder. `mas dev explain"
    " settings.NAME` explains one setting in full.",
)
_ARENA = ReferencePage(
    path="docs/reference/arena.md",
    title="The arena file",
    before="It is YAML, under any name, and `mas-bench arena` reads it.",
    after="A method may have all fields of a [recipe](recipe.md), except for `seed`, `meta_model`"
    " and `judge_model`. Paths are relative to the file's folder.",
)
PAGES: Mapping[str, ReferencePage] = MappingProxyType(
    {
        "team": _TEAM,
        "task": _TASK,
        "models": _MODELS,
        "tools": _TOOLS,
        "policy": _POLICY,
        "evolution": _EVOLUTION,
        "arena": _ARENA,
    }
)
"""The pages, by kind of file."""


def reference(document: str) -> str:
    """Return the reference page of a kind of file, as Markdown.

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
    """Yield the lines of a table of the direct inner fields, if any has a name."""
    if named := _named(field):
        if field.path:
            yield f"## `{field.name}`"
            if field.is_any or _first(field) != field.meaning:
                yield field.meaning
        else:
            yield "## The whole file"
        for of in dict.fromkeys(child.of for child in named):
            if of != field.of:
                yield f"Of {_listed(of)}:"
            yield _table([child for child in named if child.of == of])


def _named(field: Field) -> list[Field]:
    """Return the fields of a section of its own, if the field has one."""
    return [child for child in field.children if not child.is_any and not field.told_elsewhere]


def _table(fields: Sequence[Field]) -> str:
    rows = (f"| `{field.key}` | {_value(field)} | {_meaning(field)} |" for field in fields)
    return "\n".join(["| field | value; default | meaning |", "|---|---|---|", *rows])


def _listed(names: Sequence[str]) -> str:
    """List names in a sentence: `a`, `b` and `c`."""
    *first, last = [f"`{name}`" for name in names]
    return f"{', '.join(first)} and {last}" if first else last


def _value(field: Field) -> str:
    """Describe the values of a field, and its default."""
    default = "" if field.schema.get("default") in ([], {}) else field.default
    if default and "default" in field.schema:
        default = f"`{default}`"
    return "; ".join(filter(None, (kind(field), "required" if field.required else default)))


def _first(field: Field) -> str:
    """Return the first sentence of a field's meaning."""
    return re.split(r"(?<=[.]) (?=[A-Z])", field.meaning, maxsplit=1)[0]


def _meaning(field: Field) -> str:
    """Return the cell with a field's meaning: a link, if its own section has the rest."""
    text = _first(field) if _named(field) else field.meaning
    text = text.replace("<", r"\<")
    if shown := _example(field):
        text += f" Example: `{shown}`"
    if _named(field):
        text += f" [Fields](#{re.sub(r'[^a-z_-]', '', field.name.lower())})"
    return text.replace("|", r"\|")


def _example(field: Field) -> str:
    """Return an example on one line, for values whose form is not clear from their type."""
    value = next(iter(field.schema.get("examples", ())), None)
    is_form = isinstance(value, list | dict) or re.search("[:/]", str(value))
    if not is_form or value == field.schema.get("default"):
        return ""
    shown = example(field)
    return f"{field.key}: {json.dumps(value)}" if "\n" in shown else shown


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False)
