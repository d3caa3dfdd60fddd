"""The host's choice of a jail: proven, told, or refused."""

import json
from pathlib import Path

import pytest

from coterie.runtime.jail import Jails, Shell
from coterie.runtime.jail.detect import JailReport, TierAttempt, detect
from coterie.runtime.runs.services import Setting, open_services
from coterie.schema import Catalogue, InputError


def test_what_confines_a_run_is_told_as_json() -> None:
    report = json.loads(json.dumps(Jails().describe()))
    tier = detect().tier
    assert report["tier"] == (tier and tier.name)
    assert report["confines"] is (tier is not None)
    assert bool(report["version"]) is (tier is not None)
    assert [attempt["failure"] for attempt in report["attempts"]][-1] is None or tier is None


def test_what_does_not_confine_is_told_too() -> None:
    report = Jails(unsafe=True).describe()
    assert (report["tier"], report["confines"], report["own_user"]) == (
        "unsafe-local",
        False,
        False,
    )


def test_a_host_without_a_jail_refuses_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    none = JailReport(
        tier=None, attempts=(TierAttempt(tier="bubblewrap", failure="not installed"),)
    )
    monkeypatch.setattr("coterie.runtime.jail.detect.detect", lambda: none)
    with pytest.raises(InputError, match="bubblewrap: not installed") as caught:
        Jails().check()
    assert "apt install bubblewrap" in str(caught.value)
    assert "--unsafe-local" in str(caught.value)
    assert Jails().describe()["tier"] is None
    Jails(unsafe=True).check()


def test_the_jails_of_a_run_share_its_disk(tmp_path: Path) -> None:
    run = Jails(unsafe=True, disk=1 << 20)
    for name in "123":
        (tmp_path / name).mkdir()
    write = "head -c 900000 /dev/zero > file"
    with run.open(tmp_path / "1") as first:
        assert Shell(first).run(write).stopped is None
    with run.open(tmp_path / "2") as second:
        stopped = Shell(second).run(f"{write}; sleep 60").stopped
        assert stopped == "the files of all jails grew by more than 1048576 bytes"
    # Who writes nothing does not pay for the others.
    with run.open(tmp_path / "3") as third:
        assert Shell(third).run("sleep 0.5; echo fine").output == "fine\n"


class Warm:
    """What counts how often it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_what_lasts_is_made_once_and_ends_with_its_jails() -> None:
    own, others = Jails(), Jails()
    first = own.lasting("warm", Warm)
    assert own.lasting("warm", Warm) is first
    assert others.lasting("warm", Warm) is not first
    own.close()
    own.close()
    assert first.closed == 1
    second = own.lasting("warm", Warm)
    assert second is not first
    del own
    assert (first.closed, second.closed) == (1, 1)


async def test_what_lasts_ends_with_the_runs_that_share_it() -> None:
    async with open_services(Catalogue.of_host(), Setting()) as services:
        warm = services.jails.lasting("warm", Warm)
        assert warm.closed == 0
    assert warm.closed == 1
