"""Traces in a file: a line of OTLP JSON for each batch, which collectors can read."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from opentelemetry.sdk.trace import ReadableSpan

IDS = ("traceId", "spanId", "parentSpanId")


class FileExporter(SpanExporter):
    """Appends spans to a file.

    Raises:
        InputError: It cannot be written.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise InputError(f"--otel {path}: cannot be written: {error.strerror}.") from None

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write spans.

        Raises:
            OSError: They cannot be written.
        """
        fields = MessageToDict(encode_spans(spans), use_integers_for_enums=True)
        self._file.write(dumps(_in_hex(fields), ensure_ascii=False) + "\n")
        self._file.flush()
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Close the file."""
        self._file.close()


def _in_hex(fields: dict[str, Any]) -> dict[str, Any]:
    """Write ids in hexadecimal, as OTLP's JSON requires, in place of protobuf's base64."""
    for resource in fields.get("resourceSpans", ()):
        for scope in resource.get("scopeSpans", ()):
            for span in scope.get("spans", ()):
                for item in (span, *span.get("links", ())):
                    for name in IDS:
                        if name in item:
                            item[name] = base64.b64decode(item[name]).hex()
    return fields
