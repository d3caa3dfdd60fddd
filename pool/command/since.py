"""`mas-pool report`: the changes of a pool since a git revision, for a pull request."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, on_one_line, speakable, speakable_json
from .arguments import open_pool, pool_folder
from .figures import made_by, score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ..expectation.expectation import Expectation
    from ..git.since import EvolutionSummary, Since
    from ..ledger.members import Member

MOST_EDITS = 12
MOST_ENTRIES = 40
LONGEST = 300
"""Maximum characters of a text in the report."""


@click.command("report", cls=Command)
@pool_folder
@click.option(
    "--since",
    "revision",
    required=True,
    metavar="REVISION",
    help="The git revision to compare with: a commit, a tag, or a branch such as main.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="For a terminal, a pull request, or programs.",
)
def report(folder: Path, revision: str, form: str) -> None:
    """Report how a pool has changed since a git revision.

    Shows new teams with their edits and reasons, the expected score of the best team then and now,
    the number and cost of evaluations and tasks, and the lessons.
    """
    from ..git.since import Since

    since = Since.of(open_pool(folder), revision)
    if form == "json":
        click.echo(speakable_json(dumps(_value(since), indent=2)))
        return
    lines = _markdown(since) if form == "markdown" else _text(since)
    click.echo("\n".join(map(speakable, lines)))


def _text(since: Since) -> Iterator[str]:
    yield f"{since.pool.folder} since {since.revision}:"
    if since.is_empty:
        yield "  nothing happened"
        return
    yield from (f"  {line}" for line in _summary(since))
    for member in since.added:
        yield f"  + {_newcomer(member)}"
        yield from (f"      {edit}" for edit in _edits(member))
    yield from (f"  + {agent.name}, an agent" for agent in since.agents)
    yield from (
        f"  - {member.name}: {_shortened(member.retired or '')}" for member in since.retired
    )
    yield from (f"  + {member.name} is back" for member in since.restored)
    yield from (
        f"  * {entry.kind}: {_shortened(entry.text)}" for entry in since.learnt[:MOST_ENTRIES]
    )
    yield from _more("  * ", len(since.learnt) - MOST_ENTRIES)


def _markdown(since: Since) -> Iterator[str]:
    """Yield the lines of the report as Markdown, with all text of models escaped."""
    yield f"### {_code(since.pool.folder.name)} since {_code(since.revision)}"
    yield ""
    if since.is_empty:
        yield "Nothing happened."
        return
    yield from (f"- {_escaped(line)}" for line in _summary(since))
    if since.added:
        yield from ("", "| new team | of | by | task | score |", "|---|---|---|---|---|")
        for member in since.added:
            parents = ", ".join(map(_code, member.lineage.parents)) or "-"
            cells = (
                _code(member.name),
                parents,
                made_by(member.lineage),
                _code(member.lineage.task or "-"),
            )
            yield f"| {' | '.join(cells)} | {score(member.statistics)} |"
        yield from _folded("Changes and reasons", _reasons(since))
    if since.retired:
        lines = [
            f"- {_code(member.name)}: {_escaped(member.retired or '')}" for member in since.retired
        ]
        yield from _folded(f"{len(since.retired)} retired", lines)
    if since.learnt:
        some = since.learnt[:MOST_ENTRIES]
        lines = [f"- {_escaped(entry.kind)}: {_escaped(entry.text)}" for entry in some]
        lines += _more("- ", len(since.learnt) - MOST_ENTRIES)
        yield from _folded(f"{len(since.learnt)} learnt", lines)


def _reasons(since: Since) -> list[str]:
    lines: list[str] = []
    for member in since.added:
        why = f": {_escaped(member.lineage.reason)}" if member.lineage.reason else ""
        lines += [
            f"- {_code(member.name)}{why}",
            *(f"  - {_code(edit)}" for edit in _edits(member)),
        ]
    return lines


def _folded(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield from ("", f"<details><summary>{title}</summary>", "", *lines, "", "</details>")


def _summary(since: Since) -> Iterator[str]:
    yield f"best: {_ahead(since.best)} -> {_ahead(since.best_now)}"
    new = [
        (since.added, "new team"),
        (since.agents, "new agent"),
        (since.retired, "retired"),
        (since.restored, "restored"),
    ]
    texts = [_count(len(result), what) for result, what in new if result]
    texts += [counted(since.trials, "evaluation")] if since.trials else []
    texts += [f"{since.dropped} dropped"] if since.dropped else []
    texts += [_count(len(since.learnt), "learnt")] if since.learnt else []
    if texts:
        yield ", ".join(texts)
    for name, stream in since.streams.items():
        yield f"{name}: {_stream(stream)}"


def _count(number: int, noun: str) -> str:
    return counted(number, noun) if noun.startswith("new") else f"{number} {noun}"


def _ahead(best: tuple[Member, Expectation] | None) -> str:
    if best is None:
        return "none"
    member, expected = best
    text = f", {score(member.statistics)}" if member.statistics.n else ""
    return f"{member.name} (expected {expected}{text})"


def _stream(stream: EvolutionSummary) -> str:
    usage, mean = stream.usage, stream.score / stream.tasks
    each = [
        f"{name} {counted(item.calls, 'call')}, {item.cost}"
        for name, item in (
            ("teams", stream.teams),
            ("operators", stream.operators),
            ("judge", stream.judging),
        )
        if item.calls
    ]
    return (
        f"{counted(stream.tasks, 'task')}, mean score {mean:.3f};"
        f" {counted(usage.calls, 'call')}, {counted(usage.tokens, 'token')}, {usage.cost}"
        f" ({'; '.join(each) or 'no calls'})"
    )


def _newcomer(member: Member) -> str:
    lineage = member.lineage
    of = f" of {', '.join(lineage.parents)}" if lineage.parents else ""
    on = f" on {lineage.task}" if lineage.task else ""
    why = f": {_shortened(lineage.reason)}" if lineage.reason else ""
    return f"{member.name} by {made_by(lineage)}{of}{on}, {score(member.statistics)}{why}"


def _edits(member: Member) -> list[str]:
    shown = [_shortened(edit) for edit in member.lineage.edits[:MOST_EDITS]]
    return [*shown, *_more("", len(member.lineage.edits) - MOST_EDITS)]


def _more(sign: str, number: int) -> list[str]:
    return [f"{sign}and {number} more"] if number > 0 else []


def _shortened(text: str) -> str:
    line = on_one_line(text)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _escaped(text: str) -> str:
    """Escape a text for Markdown, so that nothing in it is interpreted."""
    words = _shortened(text)
    for sign in "\\`*_{}[]()#+-.!|~>":
        words = words.replace(sign, f"\\{sign}")
    return words.replace("&", "&amp;").replace("<", "&lt;").replace("@", "&#64;")


def _code(text: str) -> str:
    """Return a text as Markdown code, so that nothing in it is interpreted."""
    words = _shortened(text).replace("|", "\\|")
    fence = "``" if "`" in words else "`"
    edge = " " if "`" in words else ""
    return f"{fence}{edge}{words.replace('``', '` `')}{edge}{fence}"


def _value(since: Since) -> dict[str, Any]:
    def ahead(best: tuple[Member, Expectation] | None) -> dict[str, Any] | None:
        return best and {"team": best[0].name, **asdict(best[1])}

    return {
        "since": since.revision,
        "best": ahead(since.best),
        "best_now": ahead(since.best_now),
        "born": [{"team": member.name, **asdict(member.lineage)} for member in since.added],
        "agents": [agent.name for agent in since.agents],
        "retired": {member.name: member.retired for member in since.retired},
        "restored": [member.name for member in since.restored],
        "dropped": since.dropped,
        "evaluations": since.trials,
        "learnt": [
            {"id": entry.id, "kind": entry.kind, "text": entry.text} for entry in since.learnt
        ],
        "evolutions": {
            name: {
                "tasks": stream.tasks,
                "score": stream.score / stream.tasks,
                "teams": stream.teams.value(),
                "operators": stream.operators.value(),
                "judging": stream.judging.value(),
            }
            for name, stream in since.streams.items()
        },
    }
