"""Papers: a recipe for each row of their tables, beside the published figure.

The folder of a paper has `paper.yaml` (its models, data sets and methods) and a file for each of
its tables. A row becomes an ordinary recipe with its teams and models.yaml, which a person can
read, edit and run by hand.
"""

from __future__ import annotations

from .addresses import runs_at
from .expansion import expansion_of
from .listing import listing
from .streams import PaperStream, stream_of
from .tables import PaperRun, load_paper, paper_names

__all__ = [
    "PaperRun",
    "PaperStream",
    "expansion_of",
    "listing",
    "load_paper",
    "paper_names",
    "runs_at",
    "stream_of",
]
