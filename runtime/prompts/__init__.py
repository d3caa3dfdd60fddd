"""The texts that agents read, one Markdown file each, and how their placeholders are filled in."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "render"]

FOLDER = Path(__file__).parent


def render(name: str, *, folder: Path = FOLDER, **values: Any) -> str:
    """Render one of our prompt files. A value is text and is never read as a template.

    Raises:
        jinja2.UndefinedError: A placeholder of the file has no value.
    """
    return _template(name, folder)(values).strip()


@functools.cache
def _template(name: str, folder: Path) -> Callable[[dict[str, Any]], str]:
    """Compile a prompt file and return the function that renders it.

    `Template.render` takes three times as long: it copies its values twice, and prepares to show a
    traceback.
    """
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True
    )
    text = (folder / f"{name}.md").read_text(encoding="utf-8")
    template = environment.from_string(text.split("\n---\n", 1)[1])
    filled = template.root_render_func

    def fill(values: dict[str, Any]) -> str:
        return "".join(filled(template.new_context(values, shared=True)))

    return fill
