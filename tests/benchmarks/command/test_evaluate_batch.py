"""`mas-bench run --batch`: the same figures at half the price, whatever happens meanwhile."""

import os
import re
import signal
from pathlib import Path

import pytest

from coterie.benchmarks.command import main
from coterie.benchmarks.evaluation.results import read_results
from coterie.runtime.batch import batch_client
from coterie.runtime.doubles.endpoints import Endpoints
from coterie.runtime.doubles.script import choose_from
from studies.doubles.batches import BatchingServer

from ...support.commands import invoked
from ...support.processes import Child
from .conftest import Cli, adds
from .test_evaluate import TASKS, samples_of

MODELS = """\
models:
  default: {{
    model: m, api_base: "{origin}/v1", batch_price: 0.5,
    usd_per_mtok_input: 2, usd_per_mtok_output: 8
  }}
"""
FOR_EVER = 10**9


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in {"LINGER": 0.0, "FIRST_WAIT": 0.01, "LONGEST_WAIT": 0.01}.items():
        monkeypatch.setattr(batch_client, name, seconds)


def serving(looks: int = 2) -> BatchingServer:
    return BatchingServer(Endpoints(choose_from(adds), key=None, latency=0.0), looks=looks)


def words(server: BatchingServer, *more: str) -> tuple[str, ...]:
    Path("models.yaml").write_text(MODELS.format(origin=server.origin))
    chosen = ("--team", "pair.yaml", "--data", "data", "--trials", "1", "--models", "models.yaml")
    return ("run", "bbeh-mini", *chosen, *more)


def test_a_batch_comes_to_the_same_at_half_the_price(cli: Cli) -> None:
    with serving() as server:
        alone = cli.bench(*words(server, "--quiet"))
        assert (alone.code, server.batches) == (0, ()), alone.err
        batched = cli.bench(*words(server, "--batch")).ended(0)
        assert len(server.billed) == 2 * TASKS
    clean, folder = cli.results
    assert samples_of_without_cost(folder) == samples_of_without_cost(clean)
    full, half = (read_results(path)["usage"]["usd"] for path in (clean, folder))
    assert half == pytest.approx(full / 2)
    assert f"{TASKS} of {TASKS} answered" in batched.err
    assert cli.bench("replay", str(folder)).code == 0


def samples_of_without_cost(folder: Path) -> list[tuple[str, float | None, str | None]]:
    return [(sample.task, sample.score, sample.answer) for sample in samples_of(folder)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_batch_that_is_left_is_collected(number: signal.Signals, cli: Cli) -> None:
    with serving(looks=FOR_EVER) as server:
        path = cli.folder / "said"
        path.touch()
        run = words(server, "--quiet", "--batch")
        child = Child(lambda: path.write_text(invoked(main, run, "mas-bench").err))
        server.wait_for(lambda calls: any(_is_look(call.path) for call in calls))
        os.kill(child.id, number)
        child.wait()
        (folder,) = cli.results
        how = f"Resume: mas-bench resume {folder.relative_to(cli.folder)} --models models.yaml"
        is_told = number == signal.SIGINT
        assert (f"interrupted. {how} --batch" in path.read_text()) == is_told
        resume = ("resume", str(folder), "--models", "models.yaml", "--quiet")
        alone = cli.bench(*resume)
        assert (alone.code, len(cli.results)) == (2, 1)
        assert "may still be in a batch. Add --batch" in alone.err
        server.hurry()
        cli.bench(*resume, "--batch").ended(0)
        assert len(server.billed) == len(set(server.billed)) == 2 * TASKS
    report = read_results(folder)
    assert (report["usage"]["calls"], report["usage"]["uncertain_calls"]) == (2 * TASKS, 0)


def _is_look(path: str) -> bool:
    return path.startswith("/v1/batches/")


def test_a_provider_without_batches_is_refused_before_anything_is_spent(cli: Cli) -> None:
    result = cli.run("--batch").ended(2, calls=0)
    assert "--batch: model 'm' (alias 'default') has no supported batch API." in result.err


def test_a_dry_run_names_the_price_of_batches(cli: Cli) -> None:
    prices = "{model: openai/m, usd_per_mtok_input: 2, usd_per_mtok_output: 8}"
    Path("models.yaml").write_text(f"models: {{default: {prices}}}")
    run = ("run", "arithmetic", "--team", "solo.yaml", "--limit", "1", "--trials", "1", "--dry-run")
    alone, batched = (
        cli.bench(*run, "--models", "models.yaml", *more).out for more in ((), ("--batch",))
    )
    full, half = (float(re.findall(r"to \$([\d.]+)", out)[0]) for out in (alone, batched))
    assert half == pytest.approx(full / 2, rel=0.01)
