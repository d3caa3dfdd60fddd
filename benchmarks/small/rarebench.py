"""The benchmark `rarebench`: which rare disease does a patient with these findings have?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...schema.team.task import ScorerChoice, Task
from ...schema.values.errors import InputError
from ...schema.values.json_text import loads
from ...schema.values.problems import reason_of
from ...schema.values.values import is_list, is_mapping
from ..evaluation.benchmark import Benchmark, Source
from ..evaluation.measures import RANKED
from .differential import MRR

SETS = ("RAMEDIS", "MME", "HMS", "LIRICAL", "PUMCH_ADM")
PHENOTYPES = "mapping/phenotype_mapping.json"
DISEASES = "mapping/disease_mapping.json"
HOW_TO_GET = (
    f"Name a folder with --data that has {PHENOTYPES} and {DISEASES}, as"
    " github.com/chenxz1111/RareBench has them, and, beside `mapping` or in `data`, one or more of"
    f" {', '.join(f'{word}.jsonl' for word in SETS)} of the published data.zip."
)
ASK = (
    "A patient has a rare disease. Findings: {findings}.\n\nName the ten likeliest diseases, the"
    " likeliest first, one on a numbered line, each by its usual name."
)
_FIRST = re.compile(r"[^\W_a-z]")
"""The beginning of a name: not in lower case, like the text after a slash in `hair/tooth type`."""


def rarebench_tasks(source: Source) -> list[Task]:
    """Return a task for each case of the available data sets.

    Raises:
        InputError: Files are missing, cannot be read, or do not have the published form.
    """
    if source.data is None:
        raise InputError(f"benchmark rarebench: its files are not part of coterie. {HOW_TO_GET}")
    paths = [path for word in SETS if (path := _data_set(source.data, word)) is not None]
    if not paths:
        raise InputError(f"benchmark rarebench: {str(source.data)!r} has no cases. {HOW_TO_GET}")
    findings, diseases = (_names(source.data / word) for word in (PHENOTYPES, DISEASES))
    return [task for path in paths for task in _tasks(path, findings, diseases)]


def _data_set(folder: Path, name: str) -> Path | None:
    for path in (folder / "data" / f"{name}.jsonl", folder / f"{name}.jsonl"):
        if path.is_file():
            return path
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"benchmark rarebench: {str(path)!r} cannot be read: {reason_of(error)}. {HOW_TO_GET}"
        ) from error


def _names(path: Path) -> Mapping[str, str]:
    value = _parsed(_read(path), str(path))
    if not is_mapping(value) or not all(isinstance(name, str) for name in value.values()):
        raise InputError(f"{path}: not an object of names by code. {HOW_TO_GET}")
    return value


def _tasks(path: Path, findings: Mapping[str, str], diseases: Mapping[str, str]) -> Iterator[Task]:
    for number, line in enumerate(_read(path).splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        case = _parsed(line, where)
        shown = [findings.get(code, code) for code in _codes(case, "Phenotype", where)]
        yield Task(
            id=f"{path.stem}-{number:04}",
            query=ASK.format(findings="; ".join(shown)),
            niche=path.stem,
            answer=_reference(_codes(case, "RareDisease", where), diseases),
            scorer=ScorerChoice(name="ranked"),
        )


def _parsed(text: str, where: str) -> Any:
    try:
        return loads(text)
    except ValueError as error:
        raise InputError(f"{where}: not JSON: {error}. {HOW_TO_GET}") from None


def _codes(case: Any, field: str, where: str) -> list[str]:
    codes = case.get(field) if is_mapping(case) else None
    if not is_list(codes) or not codes or not all(isinstance(code, str) and code for code in codes):
        raise InputError(f"{where}: {field} is not a list of codes. {HOW_TO_GET}")
    return codes


def _reference(codes: Sequence[str], diseases: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the right answers: any of the diseases, by any of its names.

    A code without a name is its own name, so that its case is neither lost nor ever right.
    """
    names = dict.fromkeys(diseases.get(code, code) for code in codes)
    return [{"name": name, "synonyms": _synonyms(name)} for name in names]


def _synonyms(name: str) -> list[str]:
    """Return the names joined by slashes: `Dent disease/Nephrolithiasis, X-linked`."""
    parts = [part.strip() for part in name.split("/")]
    joins = len(parts) > 1 and all(_FIRST.match(part) for part in parts)
    return list(dict.fromkeys(parts)) if joins else []


RAREBENCH = Benchmark(
    name="rarebench",
    title="RareBench, task 4: differential diagnosis (2024)",
    about=(
        "Findings by name (HPO); the answer is a ranked list of ten rare diseases, its figure the"
        " MRR. Any of a case's diseases counts, by any name that the published mapping gives"
        " it; the original has a language model compare names, so its figures are others. A niche"
        f" is a data set: {', '.join(SETS)}, as far as they are there."
    ),
    licence="Apache-2.0, as the data set's card says",
    citation="Chen et al., RareBench: Can LLMs Serve as Rare Diseases Specialists? KDD 2024",
    source=HOW_TO_GET,
    tasks=rarebench_tasks,
    headline=MRR,
    measures=RANKED,
)
