"""Looking at folders in a browser: a local server, one offline file, and the pages of a run.

The kit knows no kind of folder. Each brings its own `Site` through the entry-point group
`coterie.pages`: a function of a folder that gives one, or None where the folder is of another kind.
"""

from .links import Links, is_number, word
from .pages import Page, Templates
from .site import NoPage, Site, opened
from .tables import PageTable, TableCell, paged, verdict

__all__ = [
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
