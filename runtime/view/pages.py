"""Pages as HTML: their templates, and the document around them, in which no foreign script runs."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...schema.values.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jinja2
    from markupsafe import Markup

    from .links import Links
    from .site import Site

FOLDER = Path(__file__).with_name("pages")
LONGEST = 50_000
"""Characters of one text that a page shows; it says how many are left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page without the document around it.

    Attributes:
        body: Its HTML, rendered by `Templates.render`.
    """

    title: str
    body: Markup


@dataclass(frozen=True, kw_only=True)
class Templates:
    """The templates of a folder, beside the shared ones (`kit.html`).

    Every value is text unless it is `Markup`: it is escaped, and invisible characters, such as
    those that reverse the direction of writing, are shown by their code points.
    """

    folder: Path

    @cached_property
    def _environment(self) -> jinja2.Environment:
        import jinja2

        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader([self.folder, FOLDER]),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_text,
        )
        environment.filters["shortened"] = shortened
        return environment

    def page(self, title: str, name: str, links: Links, /, **values: Any) -> Page:
        """Render a template as a page; see `render`."""
        return Page(title=title, body=self.render(name, links, **values))

    def render(self, name: str, links: Links, /, **values: Any) -> Markup:
        """Render a template.

        Raises:
            jinja2.TemplateError: The template is wrong, or lacks a value.
        """
        from markupsafe import Markup

        template = self._environment.get_template(name)
        return Markup(template.render(links=links, **values))  # noqa: S704 - autoescaped


def shortened(text: str) -> str:
    """Leave out the middle of a text that is too long for a page, and say how long it is."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    gap = f"{len(text) - 2 * half:,} characters left out; mas-view --text --full has them"
    return f"{text[:half]}\n\n[… {gap} …]\n\n{text[-half:]}"


def _text(value: Any) -> Any:
    return visible(value) if type(value) is str else value


def document(site: Site, pages: Sequence[tuple[Links, Page]], *, live: str = "") -> str:
    """Write a self-contained document: one page of a server, or all pages in one file.

    Args:
        live: The address that reports changes; empty if none does.
    """
    links, first = pages[0]
    return Templates(folder=FOLDER).render(
        "document.html",
        links,
        site=site,
        pages=pages,
        first=first,
        live=live,
        policy=policy(),
        style=_part("style.css"),
        script=_part("script.js"),
    )


@cache
def policy() -> str:
    """Return the document's content policy: only its own script and style, and its own server."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash('script.js')}'",
            f"style-src '{_hash('style.css')}'",
            "img-src data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


@cache
def _part(name: str) -> Markup:
    from markupsafe import Markup

    return Markup((FOLDER / name).read_text(encoding="utf-8"))  # noqa: S704 - a file of ours


def _hash(name: str) -> str:
    digest = hashlib.sha256(_part(name).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
