"""All pages of a site as one file that opens offline."""

from __future__ import annotations

from pathlib import Path

from ...schema.host.conforming import expected
from ...schema.values.errors import InputError
from ..record.events import checked
from .links import Links
from .pages import FOLDER, Page, Templates, document
from .site import Site


def make_page(site: Site, links: Links, source: Path) -> Page:
    """Make a page."""
    page = checked(str(source), lambda: site.page(links.here, links))
    return expected(page, Page, f"page of {type(site).__module__}.{type(site).__name__}")


def report(site: Site, source: Path) -> str:
    """Write all pages of the table of contents as one document.

    Raises:
        InputError: A file is damaged, or of another version.
    """
    contents = site.contents
    if not contents:
        raise InputError(f"{source}: {type(site).__module__} returned no pages. Correct it.")
    all_links = [Links(here=content, contents=[*contents]) for content in contents]
    return document(site, [(all_link, make_page(site, all_link, source)) for all_link in all_links])


def problem(title: str, why: str, links: Links) -> Page:
    """Make a page that says why the requested one cannot be shown."""
    return Templates(folder=FOLDER).page(
        title,
        "problem.html",
        links,
        title=title,
        why=why,
    )
