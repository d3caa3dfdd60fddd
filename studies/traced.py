"""Measures what traces cost: CPU time of a model call without them, with them, and with content.

    python -m studies.traced

The same evaluation is made again and again; its models answer at once. Spans are made, queued and
encoded as for a collector, which is not there: what the network takes is another machine's time.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coterie.runtime.otel.many import TurnSpans
from coterie.runtime.scrubbing.scrubber import Scrubber
from coterie.schema.command import Command
from coterie.schema.host.models import DEFAULT_ALIAS, Model

from .throughput import measured, some_tasks, team_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.sdk.trace import ReadableSpan

    from coterie.schema.team.task import Task

WAYS = {"without": None, "traces": False, "with content": True}


def _cpu(tasks: Sequence[Task], content: bool | None) -> float:
    """Return the CPU seconds of one evaluation, the thread that encodes spans included."""
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    from coterie.runtime.otel.telemetry import Telemetry

    class Encodes(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            encode_spans(spans).SerializeToString()
            return SpanExportResult.SUCCESS

    models = {DEFAULT_ALIAS: Model(alias=DEFAULT_ALIAS, model="none")}
    telemetry = None if content is None else Telemetry(Encodes(), content=content)
    turns = TurnSpans(telemetry, models, Scrubber())
    parts = None if telemetry is None else turns
    with tempfile.TemporaryDirectory() as folder, turns:
        fields = asyncio.run(measured(Path(folder), tasks, replaying=False, parts=parts))
    if telemetry is not None and (lost := telemetry.close()):
        raise RuntimeError(lost)
    return fields["cpu"]


@click.command(cls=Command)
@click.option("--tasks", "count", type=click.IntRange(min=4), default=300, show_default=True)
@click.option("--times", type=click.IntRange(min=1), default=3, show_default=True)
def main(count: int, times: int) -> None:
    """Measure the CPU time of a model call of an evaluation, without traces and with them."""
    tasks, calls = some_tasks(None, count), count * team_plan().calls_at_most
    _cpu(tasks[:4], content=True)  # imports, and what is made once
    click.echo(f"{'':14}ms of CPU per call, median of {times}")
    for name, content in WAYS.items():
        each = statistics.median(_cpu(tasks, content) for _ in range(times)) / calls
        click.echo(f"{name:14}{1000 * each:.2f}")


if __name__ == "__main__":
    main()
