"""What a jail is measured to hold."""

from pathlib import Path

import pytest

from coterie.runtime.jail import JailLimits, JailRequest
from coterie.runtime.jail.layout import Confinement
from coterie.runtime.jail.watch import JailWatch

STATUS = "Name:\tpython\nVmSize:\t  900 kB\nVmRSS:\t  40 kB\nVmSwap:\t  70 kB\n"
ROLLUP = "Rss:  40 kB\nPss:  30 kB\nPss_Dirty:  30 kB\nSwap:  80 kB\nSwapPss:  70 kB\n"


@pytest.mark.parametrize(
    ("kilobytes", "is_passed"),
    [(99, True), (100, False), (105, False)],
    ids=["less than it holds", "what it holds", "what the quick count makes too much"],
)
def test_memory_that_is_swapped_out_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kilobytes: int, is_passed: bool
) -> None:
    def read(path: str) -> str:
        return {"/proc/1234/status": STATUS, "/proc/1234/smaps_rollup": ROLLUP}.get(path, "")

    watch = JailWatch(
        Confinement(
            work=tmp_path,
            request=JailRequest(limits=JailLimits(resident=kilobytes << 10)),
            private=tmp_path,
            environment={},
            uid=None,
        )
    )
    monkeypatch.setattr("coterie.runtime.jail.watch._read", read)
    excess = watch.excess([1234]) or ""
    assert ("held more than" in excess) == is_passed
