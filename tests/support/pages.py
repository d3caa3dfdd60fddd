"""Code blocks of the pages in docs/."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str, under: str = "") -> list[str]:
    """Return a page's blocks of a language: all, or those under a heading.

    Args:
        page: The page's name in docs/, such as `tools.md`.
        language: Such as `python`.
        under: The heading, with its marks, such as `## Declare a tool server`.
    """
    text = (DOCS / page).read_text(encoding="utf-8")
    if under:
        marks = under.partition(" ")[0]
        _, _, text = text.partition(f"\n{under}\n")
        assert text, f"{page} has no heading {under}"
        text = re.split(rf"^#{{2,{len(marks)}}} ", text, maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
