"""The options that ask for traces, and where those go."""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.values.errors import InputError
from ...schema.values.extras import how_to_get
from ..values.terminal import speakable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from .telemetry import Telemetry

__all__ = ["exporting", "otel_options", "ready"]

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The conventions' variable for the content of messages."""
CAPTURED = frozenset({"true", "span_only", "span_and_event"})
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
PROTOCOL = "http/protobuf"
EXPORTER = "OTEL_TRACES_EXPORTER"
ADDRESSES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
USUAL_ADDRESS = "http://localhost:4318"
NEEDED = ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http")

_OPTIONS = (
    click.option(
        "--otel",
        is_flag=True,
        help="Send OpenTelemetry traces over OTLP/HTTP; OTEL_EXPORTER_OTLP_ENDPOINT says where.",
    ),
    click.option(
        "--otel-file",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Append the traces to this file instead, as lines of OTLP JSON.",
    ),
    click.option(
        "--otel-content",
        is_flag=True,
        help="Have in the traces what models and tools were told and said, without secrets.",
    ),
)


def otel_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that ask for traces; `exporting` reads them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@contextmanager
def exporting(options: Mapping[str, Any]) -> Generator[Telemetry | None]:
    """Export traces while the block lasts, where the options ask for it; else give None.

    What could not be sent is told once, on standard error, when the block is left.

    Args:
        options: What the user said.

    Raises:
        InputError: The extra is not installed, the file cannot be written, or a variable asks for
            what there is not. Nothing was spent.
    """
    file: Path | None = options.get("otel_file")
    if not (options.get("otel") or file is not None):
        if options.get("otel_content"):
            raise InputError("--otel-content says what is in traces. Write --otel as well.")
        yield None
        return
    if not _is_installed():
        raise InputError(
            f"--otel needs the OpenTelemetry SDK, which is not installed. Run: {how_to_get('otel')}"
        )
    from .telemetry import Telemetry

    with_content = bool(options.get("otel_content")) or _captures(os.environ)
    telemetry = Telemetry(_exporter(file), content=with_content)
    try:
        yield telemetry
    finally:
        if said := telemetry.close():
            click.echo(speakable(f"note: {said}"), err=True)


def _exporter(file: Path | None) -> Any:
    """Make what sends spans, or writes them.

    Raises:
        InputError: It cannot be made.
    """
    if file is not None:
        from .file import FileExporter

        return FileExporter(file)
    if (wanted := os.environ.get(EXPORTER, "otlp")) != "otlp":
        raise InputError(
            f"{EXPORTER}={wanted!r}: --otel exports by otlp. Unset it, or write --otel-file FILE."
        )
    for name in PROTOCOLS:
        if (protocol := os.environ.get(name, PROTOCOL)) != PROTOCOL:
            raise InputError(
                f"{name}={protocol!r}: --otel speaks {PROTOCOL}. Unset it, and give the collector's"
                f" address for that, usually port 4318, as {ADDRESSES[1]}."
            )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


def ready() -> str:
    """Say whether traces can be had, and where they would go."""
    if not _is_installed():
        return f"not installed: {how_to_get('otel')}"
    address = next((os.environ[one] for one in ADDRESSES if os.environ.get(one)), USUAL_ADDRESS)
    content = ", with content" if _captures(os.environ) else ""
    return f"ready: --otel sends to {_without_login(address)}{content}"


def _without_login(address: str) -> str:
    """Leave out of an address a name and a password."""
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
