"""The help screens of all commands: options in groups, rarely used ones only with --help-all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

OTHERS = "Options"

GROUPS: Mapping[str, str] = {
    "Ask": "query context file repo resume continue replay verify team recipe adapt pool name test"
    " repeats beside trials data level count limit instances split evolve-share shuffle shard"
    " scorer rubric map no-host start-servers seed seeds island meet every no-wait race allow-seen",
    "Model": "model models meta-model embedder cache",
    "Limits": "budget max-usd max-usd-per-day agent-budget allow-unpriced allow-zeros workers"
    " test-workers concurrency yes",
    "Rights": "keys allow-origin tools allow-tool approve allow-import unsafe-local on policy",
    "Output": "output out in-place git runs results keep view dry-run json csv quiet format"
    " fail-under junit otel",
}
"""The groups of options in `--help`, in this order; unlisted options come after them."""

RARE = (
    "version allow-unpriced allow-zeros unsafe-local on island meet every no-wait race allow-seen"
    " evolve-share shuffle shard instances level count split embedder test-workers agent-budget"
    " context verify adapt yes scorer name repeats beside rubric map seed seeds policy recipe"
    " workers csv format otel results runs cache quiet repo allow-import allow-tool tools approve"
)
"""Options that a long command's first screen leaves out, the rarest first."""

_GROUP_OF = {option: group for group, options in GROUPS.items() for option in options.split()}


def write_options(
    options: Sequence[click.Option],
    ctx: click.Context,
    formatter: click.HelpFormatter,
    *,
    most: int,
) -> None:
    """Write at most so many options of a command, in their groups."""
    shown = _first(options, most) if len(options) > most else options
    rows: dict[str, list[tuple[str, str]]] = {group: [] for group in (*GROUPS, OTHERS)}
    for option in shown:
        rows[_group(option)] += filter(None, [option.get_help_record(ctx)])
    for group, records in rows.items():
        if records:
            with formatter.section(group):
                formatter.write_dl(records)


def _first(options: Sequence[click.Option], most: int) -> list[click.Option]:
    """Leave out rare options, then if necessary the last own ones, until the rest fits."""
    rank = {name: place for place, name in enumerate(RARE.split())}
    rare = sorted((o for o in options if _name(o) in rank), key=lambda o: rank[_name(o)])
    own = [o for o in options if _group(o) == OTHERS and not (o.required or o.is_eager)]
    left_out = [*rare, *reversed(own)][: len(options) - most]
    return [option for option in options if option not in left_out]


def _group(option: click.Parameter) -> str:
    return _GROUP_OF.get(_name(option), OTHERS)


def _name(option: click.Parameter) -> str:
    return max(option.opts, key=len).lstrip("-")
