"""The options of all commands that run teams: their limits, where code runs, what they print."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import with_options
from ...schema.values.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..otel.telemetry import Telemetry
    from ..runs.services import Setting
    from ..values.caps import Caps


def caps_option(name: str, text: str) -> Callable[[Any], Any]:
    """Return an option for caps. If it is given several times, all its caps hold."""

    def joined(_context: click.Context, _parameter: click.Parameter, texts: Any) -> Any:
        return ",".join(texts) if texts else None

    return click.option(name, metavar="CAPS", multiple=True, callback=joined, help=text)


def _check_cluster(_context: click.Context, _parameter: click.Parameter, text: Any) -> Any:
    """Refuse an invalid address at once."""
    if text is not None:
        from ..cluster.on import On

        try:
            On.parse(text)
        except InputError as error:
            raise click.UsageError(str(error)) from error
    return text


on_option = click.option(
    "--on",
    metavar="CLUSTER",
    callback=_check_cluster,
    help="Where code that agents write runs. ray: a new Ray cluster on this machine; ray:auto,"
    " ray:HOST:PORT or ray://HOST:PORT: a running one.",
)
"""Chooses the cluster; its value is the text, which `On.parse` reads."""
otel_option = click.option(
    "--otel",
    metavar="otlp|URL|FILE",
    help="Export OpenTelemetry traces: otlp to the collector of OTEL_EXPORTER_OTLP_ENDPOINT, URL to"
    " that collector; or append them to FILE as lines of OTLP JSON.",
)
"""Requests traces; `exporting` reads it."""
cache_option = click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep models' answers in this folder, and reuse them for equal requests.",
)
unbudgeted_options = with_options(
    click.option(
        "--allow-unpriced", is_flag=True, help="With usd=: also call models without a known price."
    ),
    cache_option,
    click.option("--quiet", is_flag=True, help="Print no progress."),
    click.option(
        "--unsafe-local",
        is_flag=True,
        help="Use no jail: agents' code runs with your rights. Use it only in a disposable VM.",
    ),
    on_option,
)
"""The options of a command that runs teams and takes its caps from a file."""
spending_options = with_options(
    caps_option(
        "--budget",
        "The limits of everything together, any of: usd=2,tokens=500000,calls=100,seconds=900.",
    ),
    unbudgeted_options,
)
"""The options of a command that runs teams."""

allow_zeros = click.option(
    "--allow-zeros",
    is_flag=True,
    help="Continue even if the first scores are all 0 while answers contain the reference answers.",
)

batch_option = click.option(
    "--batch",
    is_flag=True,
    help="Make model calls through the batch APIs of OpenAI and Anthropic: half the price, answers"
    " within a day.",
)
ONE_BY_ONE, IN_BATCHES = 8, 2_000
"""Runs at the same time: if each call is answered at once, and if calls wait for a batch."""


def at_once(runs: int | None, *, batch: bool) -> int:
    """Return how many runs work at the same time."""
    return runs or (IN_BATCHES if batch else ONE_BY_ONE)


def exporting(options: Mapping[str, Any]) -> AbstractContextManager[Telemetry | None]:
    """Export traces during a block if `--otel` requests it; otherwise yield None.

    Raises:
        InputError: See `otel.asked.exporting`.
    """
    if (target := options.get("otel")) is None:
        return nullcontext()
    from ..otel import asked

    return asked.exporting(target)


def caps_of(options: Mapping[str, Any], name: str = "budget") -> Caps | None:
    """Return the caps of an option; None without it.

    Raises:
        InputError: See `Caps.parse`.
    """
    from ..values.caps import Caps

    return None if (text := options.get(name)) is None else Caps.parse(text)


def setting_of(options: Mapping[str, Any], earlier: Setting | None = None) -> Setting:
    """Return the setting from a command's options, and from the record where it has no option."""
    from ..runs.services import Setting

    names = ("seed", "cache", "pool", "embedder")
    values: dict[str, Any] = {name: options.get(name) for name in names}
    for name in ("budget", "agent_budget"):
        values[name] = caps_of(options, name)
    values["allow_unpriced"] = options.get("allow_unpriced") or None
    chosen = {name: value for name, value in values.items() if value is not None}
    # Only who starts this process can let agents out of the jail, not a folder.
    here = {name: options[name] for name in ("unsafe_local", "on", "batch") if name in options}
    return replace(earlier or Setting(), **chosen, **here)
