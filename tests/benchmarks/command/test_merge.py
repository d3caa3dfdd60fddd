"""`mas-bench run --shard` and `merge`: parts make what would have been made at once."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.evaluation.results import read_results, read_samples
from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import Request
from coterie.schema.values.codec import to_value

from .conftest import Cli, adds, cli_in

OF = 4
OF_ITS_MAKING = (
    "command",
    "endpoints",
    "versions",
    "host",
    "shards",
    "workers",
    "wall_seconds",
    "paid",
)
TIMES = ("seconds", "latency", "calls")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory, full_set: Path) -> Path:
    """Four shards, each with a journal, scorers' logs and samples of its own."""
    folder = tmp_path_factory.mktemp("shards")
    with pytest.MonkeyPatch.context() as patched:
        cli = cli_in(folder, patched, full_set)
        for which in range(1, OF + 1):
            where = f"parts/part{which}"
            cli.run("--shard", f"{which}/{OF}", "--trials", "2", "--results", where).ended(0)
    return folder / "parts"


@pytest.fixture
def shards(cli: Cli, parts: Path) -> list[Path]:
    """The test's own copies of the shards."""
    shutil.copytree(parts, cli.folder, dirs_exist_ok=True)
    return [next(Path(f"part{which}").iterdir()) for which in range(1, OF + 1)]


def figures(folder: Path) -> dict[str, Any]:
    apart = {*OF_ITS_MAKING, *TIMES}
    table = {name: result for name, result in read_results(folder).items() if name not in apart}
    return {
        **table,
        "samples.jsonl": [timeless(to_value(sample)) for sample in read_samples(folder)],
    }


def timeless(value: dict[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name != "seconds"}


def merged(cli: Cli, shards: list[Path], *words: str) -> tuple[Path, int]:
    result = cli.bench("merge", *map(str, shards), "--results", "whole", *words)
    assert result.err.startswith("whole"), result.err
    return Path(result.err.splitlines()[0]), result.code


def test_shards_have_every_task_once(shards: list[Path]) -> None:
    tasks = [
        sample.task for folder in shards for sample in read_samples(folder) if sample.trial == 1
    ]
    assert len(tasks) == len(set(tasks)) == 24
    assert {len(list(read_samples(folder))) for folder in shards} == {12}


def test_merged_shards_have_the_wholes_figures(cli: Cli, shards: list[Path], parts: Path) -> None:
    whole = cli.evaluated("--trials", "2", "--data", str(parts.parent / "data"))
    folder, code = merged(cli, shards[::-1])
    assert code == 0
    assert figures(folder) == figures(whole)
    cli.resumed(folder).ended(0, calls=0)
    assert cli.bench("replay", str(folder)).out.startswith("verified: 48 samples")


def test_what_no_shard_could_make_is_made_after_the_merge(cli: Cli) -> None:
    def mute(request: Request) -> Reply:
        refuses = "How much is 12" in message_text(request)
        return Reply.error(503) if refuses else adds(request)

    for which in (1, 2):
        cli.run("--shard", f"{which}/2", "--results", f"part{which}", replies=mute)
    shards = [next(Path(f"part{which}").iterdir()) for which in (1, 2)]
    folder, code = merged(cli, shards)
    assert code == 1
    cli.resumed(folder).ended(0, calls=1)
    assert read_results(folder)["samples"] == 24


def test_what_belongs_together_is_checked(cli: Cli, shards: list[Path]) -> None:
    def refused(*folders: Path) -> str:
        result = cli.bench("merge", *map(str, folders), "--results", "whole").ended(2)
        assert not Path("whole").exists()
        return result.err

    assert "shards are missing: 2/4, 4/4." in refused(shards[0], shards[2])
    twin = shutil.copytree(shards[0], "twin")
    assert f"{twin} and {shards[0]} are both shard 1/4" in refused(shards[0], Path(twin))
    cli.run("--shard", "1/4", "--results", "once")
    once = next(Path("once").iterdir())
    assert "trials is 2 and 1" in refused(once, *shards[1:])
    cli.run()
    assert "not a shard" in refused(cli.results[0], shards[1])


def test_tasks_that_changed_since_are_told(cli: Cli) -> None:
    mine = Path("mine.csv")
    mine.write_text("query,reference\nHow much is 1 + 1?,2\nHow much is 2 + 1?,3\n")
    words = ("run", "mine.csv", "--team", "solo.yaml", "--scorer", "number", "--quiet")
    for which in ("1/2", "2/2"):
        result = cli.bench(*words, "--shard", which, replies=adds).ended(0)
    mine.write_text(mine.read_text().replace("2 + 1?,3", "2 + 1?,4"))
    result = cli.bench("merge", *map(str, cli.results), "--results", "whole").ended(2)
    assert "made with other tasks than own has here" in result.err


@pytest.mark.parametrize("wrong", ["5/4", "0/4", "1", "a/b", "1/4/2", "-1/4", "1/99999999999"])
def test_a_shard_that_cannot_be_is_told(cli: Cli, wrong: str) -> None:
    result = cli.run("--shard", wrong, replies=None).ended(2)
    assert "is invalid. Write for instance 3/8, the third of eight" in result.err


def test_more_shards_than_tasks_are_told(cli: Cli) -> None:
    assert "there are only 24 tasks" in cli.run("--shard", "1/25", replies=None).ended(2).err


def test_a_shard_is_still_at_work(cli: Cli, shards: list[Path]) -> None:
    from coterie.runtime.record.journal import Journal

    with Journal.open(shards[1]):
        result = cli.bench("merge", *map(str, shards), "--results", "whole").ended(2)
    assert "another process is working" in result.err
    assert not [path for path in Path("whole").iterdir() if (path / "run.json").exists()]
