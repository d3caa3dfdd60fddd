"""`python -m coterie.benchmarks.repair`: prepares tasks for `mas-run`, and grades predictions."""

import json
from pathlib import Path

from coterie.benchmarks.repair.__main__ import main
from coterie.benchmarks.repair.predictions import export_predictions
from coterie.schema import Catalogue, load_task

from ...repairs import git, needs_jail, offline, small_repository
from ...support.commands import printed, ran, refused

NAME = "inflection_passerby"


def test_a_prepared_repair_is_a_task_file(tmp_path: Path) -> None:
    _, repository = offline(NAME)
    git(tmp_path, "clone", "--quiet", str(repository), NAME)
    out = printed(ran(main, "prepare", NAME, tmp_path))
    task = load_task(out.strip(), Catalogue.of_host())
    assert task.repo == tmp_path / NAME
    assert task.scorer.name == "repair"
    assert task.answer["instance_id"] == NAME


@needs_jail
def test_predictions_are_graded_and_counted(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "repositories").mkdir(parents=True)
    instance = small_repository(data / "repositories" / "small__doubling")
    names = ("a", "b", "c", "d")
    rows = [instance.reference() | {"instance_id": name, "patch": instance.patch} for name in names]
    (data / "instances.json").write_text(json.dumps(rows), encoding="utf-8")
    preds = tmp_path / "preds.json"
    export_predictions([("a", instance.patch), ("b", "wrong"), ("c", None)], preds, "me")
    done = ran(main, "grade", str(preds), "--data", str(data))
    assert done.output.splitlines() == [
        "a: resolved: FULL: all tests pass as they should",
        "b: unresolved: the patch does not apply",
        "c: empty patch: the patch is empty",
        "4 instances: 1 resolved, 1 unresolved, 1 empty patch, 1 no prediction",
    ]
    gold = ran(main, "grade", "gold", "--data", str(data))
    assert gold.output.splitlines()[-1].startswith("4 instances: 4 resolved, 0 unresolved")


@needs_jail
def test_a_prediction_for_nothing_that_is_there(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "instances.json").write_text("[]", encoding="utf-8")
    export_predictions([("x", "y")], tmp_path / "p.jsonl", "me")
    done = ran(main, "grade", tmp_path / "p.jsonl", "--data", data)
    assert "no instance 'x'" in refused(done)
