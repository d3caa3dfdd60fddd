"""Looking at folders in a browser: a local server, one offline file, and the pages of a run.

This package knows no kind of folder. Each kind registers its own `Site` in the entry-point group
`coterie.pages`: a function that takes a folder and returns a site, or None for another kind of
folder.
"""

from .links import Links, is_number, word
from .pages import Page, Templates
from .site import FolderSite, NoPage, Site, opened
from .tables import PageTable, TableCell, paged, verdict

__all__ = [
    "FolderSite",
    "Links",
    "NoPage",
    "Page",
    "PageTable",
    "Site",
    "TableCell",
    "Templates",
    "is_number",
    "opened",
    "paged",
    "verdict",
    "word",
]
