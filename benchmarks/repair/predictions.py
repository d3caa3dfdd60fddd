"""Predictions: patches by instance, in the file formats of SWE-bench's harness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ...schema.values.codec import Form, stored, to_value
from ...schema.values.errors import InputError
from ...schema.values.files import write_atomically
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted
from .records import read_records

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ..evaluation.exporting import Answers


@stored()
class Prediction:
    """A submission for an instance.

    Attributes:
        model: The author, after whom the harness names its reports.
        patch: The repair as a git diff; empty: no submission, which the harness counts separately.
    """

    instance_id: str
    model: Annotated[str, Form(key="model_name_or_path")]
    patch: Annotated[str, Form(key="model_patch")]


def export_predictions(
    rows: Iterable[tuple[str, str | None]], path: Path, model_name: str
) -> list[Prediction]:
    """Write patches in the official harness's format.

    Args:
        rows: The id of an instance and its exact patch; None: there is none.
        path: Ends in `.json` (by instance, as code agents write `preds.json`) or `.jsonl`.
        model_name: The name of the harness's report.

    Returns:
        The written predictions, in the given order.

    Raises:
        InputError: An instance occurs twice, there is no model name, or the suffix is unknown.
        StorageError: The file cannot be written.
    """
    if not model_name:
        raise InputError("a predictions file needs a model name, which names the harness's report.")
    if path.suffix not in {".json", ".jsonl"}:
        raise InputError(f"{path}: the harness takes .json and .jsonl, not {path.suffix!r}.")
    fields: dict[str, Prediction] = {}
    for instance_id, patch in rows:
        if instance_id in fields:
            raise InputError(
                f"{instance_id!r} has more than one patch, and the harness would grade only the"
                " last. Write one file for each trial."
            )
        fields[instance_id] = Prediction(
            instance_id=instance_id, model=model_name, patch=patch or ""
        )
    values = {prediction.instance_id: to_value(prediction) for prediction in fields.values()}
    if path.suffix == ".json":
        text = dumps(values, indent=2) + "\n"
    else:
        text = "".join(dumps(value) + "\n" for value in values.values())
    write_atomically(path, text)
    return list(fields.values())


def write_predictions(answers: Answers) -> str:
    """Write the patches of an evaluation; see `export_predictions`."""
    rows = [(sample.task, sample.answer) for sample in answers.samples]
    export_predictions(rows, answers.target, answers.name)
    return f"{counted(len(rows), 'prediction')} in {answers.target}"


def read_predictions(path: Path) -> list[Prediction]:
    """Read predictions: `.jsonl`, or `.json` with a list or with objects by instance.

    Raises:
        InputError: The file is not in that format, or has an instance twice.
    """
    fields: dict[str, Prediction] = {}
    for record in read_records(path):
        prediction = Prediction(
            instance_id=record.text("instance_id"),
            model=record.text("model_name_or_path"),
            patch=record.text("model_patch", ""),
        )
        if prediction.instance_id in fields:
            raise InputError(
                f"{record.place}: {prediction.instance_id!r} occurs twice. The harness would grade"
                " only the last; keep the one that you want."
            )
        fields[prediction.instance_id] = prediction
    return list(fields.values())
