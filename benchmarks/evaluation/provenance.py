"""Provenance: the inputs and the environment of figures, so that others can reproduce them."""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...runtime.record.journal import digest
from ...schema.host.models import Model
from ...schema.team.task import Task

PACKAGES = ("coterie", "gguf", "litellm", "mini-swe-agent", "smolagents", "xllamacpp")


def versions() -> dict[str, str]:
    """Return the installed versions of packages that decide how teams run."""
    fields: dict[str, str] = {}
    for name in PACKAGES:
        try:
            fields[name] = version(name)
        except PackageNotFoundError:
            continue
    return fields


def host() -> dict[str, Any]:
    """Return the machine that an evaluation runs on."""
    return {
        "cpus": os.cpu_count(),
        "platform": platform.platform(),
        "python": platform.python_version(),
    }


def endpoint(model: Model) -> dict[str, str]:
    """Return the model of an alias: its name, its address, and the SHA-256 of its file."""
    fields = {"model": model.model, "api_base": model.api_base}
    if model.is_embedded:
        from ...runtime.local.weights import weights_sha256

        fields["sha256"] = weights_sha256(model.model)
    return {name: item for name, item in fields.items() if item}


def digest_of(tasks: Sequence[Task]) -> str:
    """Return the checksum of tasks: their questions, their files, and their scoring."""
    state = functools.cache(_state_of)  # many tasks may be of one repository
    more = {task.id: extras for task in tasks if (extras := beside_the_question(task, state))}
    return digest(
        [
            (
                task.id,
                task.query,
                task.context,
                task.niche,
                dict(task.files),
                task.commit,
                task.answer,
            )
            for task in tasks
        ],
        [task.scorer.identity for task in tasks],
        *([more] if more else ()),
    )


def _state_of(repository: Path, commit: str) -> str:
    from ...runtime.repository.repository import state_of

    return state_of(repository, commit)


def beside_the_question(
    task: Task, state: Callable[[Path, str], str] = _state_of
) -> dict[str, Any]:
    """Return everything that agents get with a task besides its question.

    Args:
        state: Returns an identifier of a repository's content.
    """
    extras = {
        "briefs": dict(task.briefs),
        "fields": dict(task.fields),
        "attached": task.attached,
        "repo": task.repo and state(task.repo, task.commit),
        "history": task.history,
    }
    return {name: item for name, item in extras.items() if item}
