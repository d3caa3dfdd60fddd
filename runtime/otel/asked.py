"""Traces that a command exports, and their destination."""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.values.errors import InputError
from ...schema.values.extras import how_to_get
from ...schema.values.terminal import speakable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from .telemetry import Telemetry

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The conventions' variable for the content of messages."""
CAPTURED = frozenset({"true", "span_only", "span_and_event"})
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
PROTOCOL = "http/protobuf"
EXPORTER = "OTEL_TRACES_EXPORTER"
ADDRESSES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
USUAL_ADDRESS = "http://localhost:4318"
NEEDED = ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http")

COLLECTOR = "otlp"


@contextmanager
def exporting(target: str) -> Generator[Telemetry]:
    """Export traces during the block.

    Failures to send are reported once, on standard error, when the block ends.

    Raises:
        InputError: The extra is not installed, the file cannot be written, or a variable requests
            something unknown. Nothing was spent.
    """
    if not _is_installed():
        raise InputError(
            f"--otel needs the OpenTelemetry SDK, which is not installed. Run: {how_to_get('otel')}"
        )
    from .telemetry import Telemetry

    telemetry = Telemetry(_exporter(target), content=_captures(os.environ))
    try:
        yield telemetry
    finally:
        if text := telemetry.close():
            click.echo(speakable(f"note: {text}"), err=True)


def _exporter(target: str) -> Any:
    """Return the exporter that sends or writes spans."""
    is_url = target.startswith(("http://", "https://"))
    if target != COLLECTOR and not is_url:
        from .file import FileExporter

        return FileExporter(Path(target))
    if (wanted := os.environ.get(EXPORTER, "otlp")) != "otlp":
        raise InputError(
            f"{EXPORTER}={wanted!r}: --otel {target} supports only otlp. Unset it, or use --otel"
            " FILE."
        )
    for name in PROTOCOLS:
        if (protocol := os.environ.get(name, PROTOCOL)) != PROTOCOL:
            raise InputError(
                f"{name}={protocol!r}: --otel supports only {PROTOCOL}. Unset it, and set"
                f" {ADDRESSES[1]} to the collector's address for it, usually on port 4318."
            )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=f"{target.rstrip('/')}/v1/traces" if is_url else None)


def ready() -> str:
    """Return whether traces can be exported, and where to."""
    if not _is_installed():
        return f"not installed: {how_to_get('otel')}"
    address = next((os.environ[word] for word in ADDRESSES if os.environ.get(word)), USUAL_ADDRESS)
    content = ", with content" if _captures(os.environ) else ""
    return f"ready: --otel otlp sends to {_without_login(address)}{content}"


def _without_login(address: str) -> str:
    """Remove a user name and a password from an address."""
    scheme, mark, rest = address.partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{mark}{place.rpartition('@')[2]}{slash}{path}" if mark else address


def _captures(environment: Mapping[str, str]) -> bool:
    return environment.get(CAPTURE, "").strip().lower() in CAPTURED


def _is_installed() -> bool:
    try:
        return all(find_spec(name) is not None for name in NEEDED)
    except ModuleNotFoundError:  # of a package above it
        return False
