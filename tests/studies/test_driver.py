"""A driver as a queue: against what theory knows, against the engine, and as a command."""

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.driver import __main__ as command
from studies.driver.__main__ import main
from studies.driver.costs import DOCUMENTED, Costs, measured
from studies.driver.reality import Point, compared
from studies.driver.simulation import Load, Service, saturation, simulate

from ..support.commands import CommandResult, invoked

SERVICE = Service(call=0.001)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_waits_as_long_as_theory_has_it(share: float) -> None:
    """Many sources with long pauses are a Poisson stream: M/D/1 (Pollaczek and Khinchine)."""
    load = Load(in_flight=2_000, latency=2_000 * SERVICE.call / share, spread=1.0)
    outcome = simulate(SERVICE, load, calls=150_000)
    arrivals = outcome.rate * SERVICE.call
    expected = arrivals * SERVICE.call / (2 * (1 - arrivals))
    assert outcome.utilisation == pytest.approx(share, rel=0.03)
    assert fmean(outcome.delays) == pytest.approx(expected, rel=0.1)


@settings(max_examples=12)
@given(
    st.integers(1, 300),
    st.floats(0.01, 2),
    st.tuples(st.floats(0, 1.5), st.floats(0, 0.5), st.integers(1, 20), st.integers(0, 99)),
)
def test_what_is_in_flight_is_rate_times_time(
    in_flight: int, latency: float, shape: tuple[float, float, int, int]
) -> None:
    """Little's law, over all that a call goes through; and no rate beyond what is possible."""
    spread, code, calls, seed = shape
    service = Service(call=0.001, run=0.004, jail=0.002)
    load = Load(
        in_flight=in_flight,
        latency=latency,
        spread=spread,
        calls_per_run=calls,
        code=code,
        code_seconds=0.01,
        workers=300,
    )
    outcome = simulate(service, load, calls=8_000, seed=seed)
    most, _ = saturation(service, load)
    assert outcome.rate <= most * 1.1
    assert outcome.utilisation <= 1 + 1e-9
    work = service.call + service.run / calls + code * service.jail
    assert outcome.utilisation == pytest.approx(outcome.rate * work, rel=0.15)
    waited = fmean(outcome.delays) * (1 + code)
    around = outcome.rate * (latency + code * load.code_seconds + work + waited)
    assert around == pytest.approx(in_flight, rel=0.2)


def test_is_exact_where_nothing_is_by_chance() -> None:
    alone = simulate(SERVICE, Load(in_flight=1, latency=0.1, spread=0), calls=1_000)
    assert alone.rate == pytest.approx(1 / 0.101)
    assert alone.delays[-1] == 0
    full = simulate(SERVICE, Load(in_flight=500, latency=0.1, spread=0), calls=5_000)
    assert full.rate == pytest.approx(1_000)
    assert full.delays[0] == pytest.approx(0.4, rel=0.01)
    at_once = simulate(SERVICE, Load(in_flight=3, latency=0), calls=1_000)
    assert at_once.rate == pytest.approx(1_000)
    dear = replace(SERVICE, run=0.009)
    assert simulate(dear, Load(in_flight=500, latency=0.1), calls=20_000).rate == pytest.approx(
        1 / 0.0019, rel=0.01
    )


def test_workers_bound_what_is_executed() -> None:
    load = Load(in_flight=200, latency=1, code=0.5, code_seconds=5, workers=100)
    outcome = simulate(Service(call=0.001, jail=0.01), load, calls=20_000)
    assert outcome.busy_workers == pytest.approx(100, rel=0.01)
    assert outcome.rate == pytest.approx(
        saturation(Service(call=0.001, jail=0.01), load)[0], rel=0.03
    )
    assert outcome.rate == pytest.approx(40, rel=0.03)


def test_the_same_seed_is_the_same_and_another_is_not() -> None:
    load = Load(in_flight=50, latency=1)
    first, again, other = (simulate(SERVICE, load, calls=2_000, seed=n) for n in (1, 1, 2))
    assert first == again
    assert first.rate != other.rate


def test_the_engine_is_measured_and_run_beside_the_simulation() -> None:
    """Whether a prediction holds is for a quiet machine to say; here, that both were made."""
    costs = measured(at_once=3, in_flight=8)
    assert 0 < costs.call < 0.1
    assert costs.recorded_call > 0
    assert costs.recorded_run > 0
    assert costs.call_bytes > 500
    assert costs.run_bytes > 500
    assert costs.base_bytes > 10e6
    [point] = compared(costs.service(recorded=False), [8], recorded=False, seconds=0.05)
    assert point.measured <= 8 / 0.05
    assert point.predicted <= 8 / 0.05
    assert point.measured > 0
    [kept] = compared(costs.service(recorded=True), [4], recorded=True, seconds=0.05)
    assert kept.measured > 0


def run(*words: str) -> CommandResult:
    return invoked(main, words, "driver")


def test_the_fixed_table_gives_the_same_words_each_time() -> None:
    result = run("--fixed")
    assert (result.code, result.out) == (0, run("--fixed").out)
    assert "One driver saturates at" in result.out
    assert f"| a call, ms of processor | {DOCUMENTED.call * 1e3:.2f} |" in result.out
    plan = run("--fixed", "--json", "--tasks", "1000", "--hours", "1", "--calls", "5").json["plan"]
    assert plan["calls"] == 5_000
    assert plan["shards"] == 1
    more = run("--fixed", "--json", "--hours", "1", "--unrecorded").json["plan"]
    assert more["shards"] >= more["calls_per_second"] / more["saturates_at"] > 1


def test_what_is_measured_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = replace(DOCUMENTED, recorded_call=0.1, recorded_run=0.0)
    monkeypatch.setattr(command, "measured", lambda: slow)
    result = run("--json", "--in-flight", "50", "--latency", "0.5")
    assert result.json["costs"]["recorded_call"] == 0.1
    [row] = result.json["loads"]
    assert row["calls_per_second"] == pytest.approx(10, rel=0.01)
    assert row["delay_p50_ms"] == pytest.approx(4_400, rel=0.05)
    points = [Point(in_flight=n, predicted=100, measured=n, processor=1) for n in (86, 84, 116)]
    monkeypatch.setattr(command, "compared", lambda *_, **__: points)
    text = run("--check").out
    assert "| 86 | 100 | 86 | -14% | 100% |" in text
    assert "1 of 3 predictions are within 15%." in text


@pytest.mark.parametrize(
    "words",
    [
        ("--latency", "-1"),
        ("--latency", "nan"),
        ("--spread", "-0.1"),
        ("--calls", "0"),
        ("--in-flight", "0"),
        ("--code", "1"),
        ("--code-seconds", "0"),
        ("--workers", "0"),
        ("--tasks", "0"),
        ("--hours", "inf"),
        ("--hours", "1e-320"),
        ("--latency", "1e308"),
        ("--spread", "1e200"),
        ("--tasks", "1" + 400 * "0"),
        ("--workers", "1" + 400 * "0"),
        ("--check",),
    ],
)
def test_what_is_no_load_is_refused(words: tuple[str, ...]) -> None:
    result = run("--fixed", *words).ended(2)
    assert words[0] in result.err


def test_the_largest_load_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it at once; only the plan follows from these numbers."""
    monkeypatch.setattr(command, "FEWEST", 10)
    most, largest = "1000000000", ("--tasks", "--calls", "--workers", "--code-seconds", "--latency")
    words = [word for name in largest for word in (name, most)]
    result = run("--fixed", "--in-flight", "1", *words, "--hours", "1e-6", "--spread", "100")
    assert (result.code, result.err) == (0, "")


def test_the_page_has_the_numbers_of_the_fixed_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "research" / "driver.md").read_text()
    for line in run("--fixed").out.splitlines():
        assert line in page
    assert isinstance(DOCUMENTED, Costs)
