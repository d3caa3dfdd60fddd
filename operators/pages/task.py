"""The page of a task of an evolution: each candidate, its reason, and its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...pool.values.layout import EVOLUTIONS
from ...runtime.showing.conversation import calls_of
from ...runtime.showing.text import conversations
from ...runtime.values.usage import Usage
from ...runtime.view import Links, NoPage, Page
from ...runtime.view.run import run_page
from ...schema.values.terminal import counted
from ..command.showing import Shown, told_of_run
from ..command.viewing import logged, run_in
from ..evolution.folder import Manifest
from ..evolution.lines import candidates_of, lines_in
from .evolution import task_address
from .pool_source import PoolSource
from .templates import TEMPLATES


def task_page(source: PoolSource, name: str, number: int, links: Links) -> Page:
    """Return the page of a task of an evolution.

    Args:
        number: The task's number, from 0.

    Raises:
        NoPage: The evolution has not completed such a task.
        StorageError: A file is damaged.
    """
    folder = source.evolution(name)
    lines = [*lines_in(folder)]
    if number >= len(lines):
        raise NoPage(str(number))
    line = lines[number]
    shown = Shown.of(folder, number)
    log = logged(folder, number)
    events = log.events
    logged_runs = dict.fromkeys(event["run"] for event in events if "run" in event)
    calls = calls_of([event for event in events if "run" not in event])
    agents = [*dict.fromkeys(call.agent for call in calls)]
    task = next((event["task"] for event in events if event["type"] == "task_given"), {})

    def run(label: str) -> str:
        there = label in logged_runs
        return links.to("", f"{EVOLUTIONS}/{name}/run/{number}/{label}") if there else ""

    candidates = candidates_of(line)
    return TEMPLATES.page(
        f"Task {line['task']}",
        "task.html",
        links,
        line=line,
        name=name,
        back=links.to("", f"{EVOLUTIONS}/{name}"),
        before=links.to("", task_address(name, number - 1)) if number else "",
        after=links.to("", task_address(name, number + 1)) if number + 1 < len(lines) else "",
        damage=log.damage,
        query=_text(task.get("query")),
        reference=_text(task.get("answer")),
        facts=[
            ("Score", f"{line['score']:g}"),
            ("Scored by", line["scored_by"]),
            ("By the reference", "" if line["verdict"] is None else f"{line['verdict']:g}"),
            ("First team tried", f"{line['first']:g}" if line.get("first") is not None else ""),
            ("Niche", line["niche"] or ""),
            ("New teams", str(int(line.get("new", 0)) or "")),
            ("Operators", _spent(line["operators"])),
            ("Judging", _spent(line["judging"])),
        ],
        told=sorted(line.get("told", {}).items()),
        candidates=[
            {
                **_candidate(fields, source, links),
                "is_best": place == line["best"],
                "runs": [told_of_run(each) for each in runs],
                "run": run(f"candidate {fields['number']}"),
            }
            for place, (fields, runs) in enumerate(zip(candidates, shown.runs, strict=True))
        ],
        others=[
            {"what": what, "run": run(what), **told_of_run(each)}
            for what, each in shown.others.items()
        ],
        more_runs=[
            (what, run(what))
            for what in logged_runs
            if what not in shown.others and not what.startswith("candidate ")
        ],
        dropped=line["dropped"],
        asked="\n".join(conversations(calls, agents, full=True)).strip(),
        many=counted(len(calls), "question"),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _spent(value: Mapping[str, Any]) -> str:
    usage = Usage(**value)
    return (
        f"{counted(usage.calls, 'call')}, {usage.tokens:,} tokens, {usage.cost}"
        if usage.calls
        else ""
    )


def _candidate(candidate: Mapping[str, Any], source: PoolSource, links: Links) -> dict[str, Any]:
    usage = Usage(**candidate["usage"])
    team = candidate["team"] or ""
    return {
        "number": candidate["number"],
        "operator": candidate["operator"],
        "component": candidate["component"] or "",
        "made_of": [f"candidate {each}" for each in candidate["sources"]]
        or [*candidate["parents"]],
        "team": team,
        "team_page": links.to("", f"team/{team}") if team in source.pool.teams else "",
        "score": f"{candidate['score']:g}",
        "reward": f"{candidate['reward']:g}",
        "spent": f"{counted(usage.calls, 'call')}, {usage.tokens:,} tokens, {usage.cost}",
        "reason": candidate["reason"] or "",
        "edits": candidate["edits"],
    }


def run_of_task(source: PoolSource, name: str, number: int, label: str, links: Links) -> Page:
    """Return the page of a run of a task.

    Args:
        number: The task's number, from 0.
        label: The name of the run: `candidate 2`.

    Raises:
        NoPage: There is no such task.
        InputError: No such run was logged.
        StorageError: A file is damaged.
    """
    folder = source.evolution(name)
    lines: Sequence[Mapping[str, Any]] = [*lines_in(folder)]
    if number >= len(Manifest.read(folder).tasks):
        raise NoPage(str(number))
    line = lines[number] if number < len(lines) else {}
    return run_page(run_in(folder, number, label, logged(folder, number), line), links)
