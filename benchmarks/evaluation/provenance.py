"""Provenance: what figures were made of and on, so that somebody else can make them again."""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...runtime.local.weights import SMOLLM2
from ...runtime.record.journal import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema.host.models import Model
    from ...schema.team.task import Task

__all__ = ["digest_of", "endpoint", "host", "versions"]

PACKAGES = ("coterie", "gguf", "litellm", "mini-swe-agent", "smolagents", "xllamacpp")


def versions() -> dict[str, str]:
    """Name what is installed of what decides how teams run."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def host() -> dict[str, Any]:
    """Say what an evaluation is made on."""
    return {
        "cpus": os.cpu_count(),
        "platform": platform.platform(),
        "python": platform.python_version(),
    }


def endpoint(model: Model) -> dict[str, str]:
    """Say what stands behind an alias: the model, its address, and the SHA-256 of its file."""
    told = {"model": model.model, "api_base": model.api_base, "sha256": _checksum(model)}
    return {name: item for name, item in told.items() if item}


def _checksum(model: Model) -> str | None:
    """Give the checksum of an embedded model's file; the default one's is pinned."""
    if not model.is_embedded:
        return None
    _, _, named = model.model.partition(":")
    if not named:
        return SMOLLM2.sha256
    try:
        with Path(named).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:  # it will not be served either, which is said where it is
        return None


def digest_of(tasks: Sequence[Task]) -> str:
    """Give the checksum of tasks: what is asked, with what files, and how answers are scored."""
    briefs = {task.id: dict(task.briefs) for task in tasks if task.briefs}
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
        [(task.scorer.name, dict(task.scorer.options)) for task in tasks],
        *([briefs] if briefs else ()),
    )
