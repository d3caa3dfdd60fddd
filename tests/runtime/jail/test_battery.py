"""The battery tells a jail from none."""

import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from coterie.runtime.jail import Jail
from coterie.runtime.jail.battery import run_battery
from coterie.runtime.jail.detect import detect
from coterie.runtime.jail.probes import PROBES
from coterie.runtime.jail.syscall_filter import numbers
from coterie.runtime.jail.tiers import Unconfined

# What every user gains where nothing but limits holds the code.
GAIN_WITHOUT_JAIL = {
    "read_secret",
    "read_through_link",
    "read_through_hard_link",
    "read_through_processes",
    "break_out_of_root",
    "leave_links_for_host",
    "share_memory",
    "write_shared_memory",
    "watch_file",
    "lock_files",
    "write_outside",
    "overwrite_secret",
    "read_every_environment",
    "see_processes",
    "ask_about_processes",
    "kill_process",
    "kill_in_other_ways",
    "slow_process",
    "limit_process",
    "connect_tcp",
    "connect_tcp6",
    "send_udp",
    "connect_abstract",
    "connect_path",
    "open_netlink",
    "open_any_family",
    "type_into_terminal",
    "call_personality",
    "hold_shared_memory",
    "allocate_beyond_end",
    "call_memfd_create",
    "call_shmget",
}


def test_names_are_unique_and_known() -> None:
    names = [probe.name for probe in PROBES]
    assert len(names) == len(set(names)) >= 40
    assert set(names) >= GAIN_WITHOUT_JAIL


def test_the_guide_counts_what_is_attacked_and_refused() -> None:
    guide = Path(__file__).parents[3].joinpath("docs", "security.md").read_text("utf-8")
    assert f"probes: {len(PROBES)} of {len(PROBES)} stopped" in guide
    assert f"architectures: {len(numbers('x86_64'))} system calls" in guide


def test_without_a_jail_attacks_gain_what_they_are_after(nightly: bool) -> None:
    probes = [probe for probe in PROBES if probe.name in GAIN_WITHOUT_JAIL]
    assert all(probe.harmless for probe in probes)
    results = run_battery(Unconfined(), probes=probes if nightly else probes[::3])
    assert [result for result in results if result.stopped] == []


@pytest.mark.parametrize("name", ["take_memory", "huge_file", "survive_timeout", "exit_host"])
def test_limits_and_a_clean_end_hold_without_a_jail(name: str) -> None:
    probes = [probe for probe in PROBES if probe.name == name]
    (result,) = run_battery(Unconfined(), probes=probes)
    assert result.stopped, result.detail


def test_who_runs_it_at_low_priority_is_not_told_of_an_attack() -> None:
    script = """if True:
        from coterie.runtime.jail.battery import run_battery
        from coterie.runtime.jail.probes import PROBES
        from coterie.runtime.jail.tiers import Unconfined
        probes = [probe for probe in PROBES if probe.name == "exit_host"]
        print([one.stopped for one in run_battery(Unconfined(), probes=probes)])
    """
    command = ["nice", "-n", "5", sys.executable, "-c", script]
    assert subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout == b"[True]\n"


@pytest.mark.nightly
def test_a_jail_with_folders_of_its_own_holds_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    tier = detect().tier
    if tier is None or not tier.has_mounts:
        pytest.skip("this machine has no jail with mounts")
    places = {"alias": Path("/repo"), "own": (Path("/root"),)}
    monkeypatch.setattr("coterie.runtime.jail.battery.Jail", partial(Jail, **places))
    filling = next(probe for probe in PROBES if probe.name == "fill_disk")
    filling = replace(filling, code=f"os.chdir('/root')\n{filling.code}")
    results = run_battery(tier, probes=[*PROBES, filling])
    assert [result for result in results if not result.stopped] == []
