"""Spans of a finished run, from its folder."""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...schema.values.errors import InputError
from ...schema.values.secrets import secrets_of
from ..record.trace import Event
from ..runs.record import MANIFEST, read_setting
from ..scrubbing.scrubber import Scrubber
from ..showing.recorded import Recorded

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .telemetry import Telemetry

APART = frozenset({"v", "n", "t", "type", "agent"})


def export(telemetry: Telemetry, recorded: object, folder: Path) -> None:
    """Make spans of a recorded run.

    If the run was resumed, the time between its processes is left out.

    Args:
        folder: The run's folder, or that of the evaluation or evolution that contains it.

    Raises:
        InputError: The record is no run, or its manifest is damaged.
    """
    if not isinstance(recorded, Recorded):
        raise InputError(f"--otel: {folder} is not a single run. Name one of its runs.")
    is_own = (folder / MANIFEST).exists() and (folder / "task.json").exists()
    models = read_setting(folder)[1] if is_own else {}
    began = datetime.fromisoformat(recorded.started).timestamp() if recorded.started else None
    scrub = Scrubber(secrets_of(os.environ))
    spans = telemetry.listener(models, scrub, {"coterie.run": folder.name}, began=began)
    earlier = last = 0.0
    for event in recorded.events:
        seconds = float(event["t"])
        if seconds < last:  # another process began to count anew
            earlier += last
        last = seconds
        spans(_event(event, earlier + seconds))
    spans.end()


def _event(event: Mapping[str, Any], seconds: float) -> Event:
    fields = {name: item for name, item in event.items() if name not in APART}
    return Event(type=event["type"], seconds=seconds, agent=event.get("agent"), fields=fields)
