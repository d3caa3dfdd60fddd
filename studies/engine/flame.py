"""Where the engine's processor time goes: a flame graph of recorded debates.

The stack is looked at by a signal, as often as the kernel's clock lets one come: mostly every 4 ms
of processor time. The picture says how often it was. What runs in C is its caller's; threads other
than the event loop's are not seen.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import zlib
from collections import Counter, defaultdict
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from coterie.schema.values.files import write_atomically

from .workloads import workload

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from types import FrameType

EVERY = 0.001
"""Seconds of processor time between looks, at least: the kernel's clock is coarser."""
DEBATES = 200
WIDTH, ROW = 1_200, 17
"""The picture's width and a row's height in pixels."""
NARROWEST = 1.0
"""Pixels of what is drawn at all."""
LETTER = 6.6
"""Pixels that a letter takes."""
COLORS = ("#f2a65a", "#eec170", "#f58549", "#e8b58a")

Stack = tuple[str, ...]
"""Functions from the outermost to the innermost."""


def draw(api_base: str, file: Path) -> int:
    """Run debates on the simulator, and draw where the time went; give how often it was looked at.

    Raises:
        StorageError: The file cannot be written.
    """
    stacks, seconds = asyncio.run(_debates(api_base))
    write_atomically(file, picture(stacks, seconds))
    return stacks.total()


@contextmanager
def sampled() -> Generator[Counter[Stack]]:
    """Count stacks of the main thread, by the processor time that the process uses in them."""
    stacks: Counter[Stack] = Counter()

    def look(_signal: int, frame: FrameType | None) -> None:
        stacks[_stack(frame)] += 1

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        yield stacks
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def picture(stacks: Counter[Stack], seconds: float) -> str:
    """Draw stacks of so much processor time as SVG: callers below, as wide as their share."""
    total = stacks.total() or 1
    depth = max(map(len, stacks), default=0)
    height = ROW * (depth + 2)
    boxes = "".join(_boxes(stacks, 0, 0.0, pixels=WIDTH / total, height=height))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' font-family="monospace" font-size="11">\n<text x="4" y="12">{total:,} looks, one every'
        f" {seconds / total * 1000:.1f} ms of CPU; point at a box for its share</text>\n"
        f"{boxes}</svg>\n"
    )


async def _debates(api_base: str) -> tuple[Counter[Stack], float]:
    """Run recorded debates of a model that takes no time; the first ones are not looked at.

    Returns:
        The stacks, and the seconds of processor time in which they were looked at.
    """
    subjects = Path(__file__).parent / "subjects"
    sys.path[:0] = [str(subjects), str(subjects.parent)]
    with TemporaryDirectory(prefix="coterie-runs-") as runs:
        os.environ["MAS_BENCH_RUNS"] = runs
        import coterie_engine  # pyright: ignore[reportMissingImports] - a program of its own

        engine: Any = coterie_engine
        team = engine.build(workload("debate", 0.0), api_base)
        for number in range(5):
            await engine.run(team, f"warm-{number}")
        before = time.process_time()
        with sampled() as stacks:
            for number in range(DEBATES):
                await engine.run(team, f"flame-{number}")
        seconds = time.process_time() - before
        await team["gateway"].__aexit__(None, None, None)
    return stacks, seconds


def _stack(frame: FrameType | None) -> Stack:
    texts: list[str] = []
    while frame is not None:
        code = frame.f_code
        texts.append(f"{_module(code.co_filename)}:{code.co_qualname}")
        frame = frame.f_back
    return tuple(reversed(texts))


def _module(file: str) -> str:
    parts = Path(file).with_suffix("").parts
    return ".".join(parts[-2:]).removesuffix(".__init__")


def _boxes(
    stacks: Counter[Stack], level: int, x: float, *, pixels: float, height: int
) -> Iterator[str]:
    """Draw what is called at a level of stacks that are alike below it, and all that it called."""
    called: defaultdict[str, Counter[Stack]] = defaultdict(Counter)
    for stack, count in stacks.items():
        if len(stack) > level:
            called[stack[level]][stack] = count
    for name, through in sorted(called.items()):
        width = through.total() * pixels
        if width >= NARROWEST:
            yield _box(name, x, width, height - ROW * (level + 1), width / WIDTH)
            yield from _boxes(through, level + 1, x, pixels=pixels, height=height)
        x += width


def _box(name: str, x: float, width: float, y: int, share: float) -> str:
    words = escape(name)
    room = int(width / LETTER)
    text = escape(name.rpartition(":")[2][:room]) if room > 2 else ""
    color = COLORS[zlib.crc32(name.partition(":")[0].encode()) % len(COLORS)]
    return (
        f"<g><title>{words}: {share:.1%}</title>"
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 1}" fill="{color}"/>'
        f'<text x="{x + 2:.1f}" y="{y + 12}">{text}</text></g>\n'
    )
