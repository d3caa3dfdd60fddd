"""Which packages of the host agents' commands find."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from coterie.runtime.jail import JailRequest
from coterie.runtime.jail.tiers import Bubblewrap, Landlock, Tier
from coterie.runtime.runners import programs
from coterie.runtime.runners.programs import host_packages, host_programs


def test_the_active_virtual_environment_is_readable_and_its_programs_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python" / "bin").mkdir(parents=True)
    (tmp_path / "python" / "lib").mkdir()
    environment = tmp_path / "environment"
    (environment / "bin").mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {tmp_path}/python/bin\n", "utf-8")
    monkeypatch.setenv("VIRTUAL_ENV", str(environment))
    granted = host_programs()
    assert granted.readable == (
        environment, tmp_path / "python" / "bin", tmp_path / "python" / "lib"
    )  # fmt: skip
    assert granted.environment["PATH"].startswith(
        f"{environment}/bin:{tmp_path}/python/bin:/usr/local/bin:"
    )


def test_without_an_active_one_it_is_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    expected = () if sys.prefix == sys.base_prefix else (Path(sys.prefix),)
    assert host_programs().readable == expected


def test_without_any_nothing_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.base_prefix)
    assert host_programs() == JailRequest()
    monkeypatch.setenv("VIRTUAL_ENV", "/nowhere")
    assert host_programs() == JailRequest()


@pytest.fixture(params=[Bubblewrap, Landlock])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Tier:
    result: Tier = request.param()
    monkeypatch.setattr(programs, "detect", lambda: SimpleNamespace(tier=result))
    return result


def test_a_package_comes_with_all_that_it_requires_and_nothing_else(tier: Tier) -> None:
    granted = host_packages(["pandas"])
    names = {path.name for path in granted.readable}
    if not tier.has_mounts:
        assert names == {"site-packages"}
        return
    assert {"pandas", "numpy", "dateutil", "six.py"} <= names
    assert not names & {"__pycache__", "bin", "pytest", "jsonschema", "smolagents"}
    assert Path(granted.environment["PYTHONPATH"], "pandas").is_dir()


def test_a_module_of_its_own_is_a_package_too(
    tier: Tier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lonely_module.py").write_text("x = 1\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    # It is beside where we were started, not installed.
    assert host_packages(["lonely_module"]) == JailRequest()
    monkeypatch.setattr("site.getsitepackages", lambda: [str(tmp_path)])
    assert host_packages(["lonely_module"]) == JailRequest(
        readable=(tmp_path / "lonely_module.py" if tier.has_mounts else tmp_path,),
        environment={"PYTHONPATH": str(tmp_path)},
    )


def test_who_imports_nothing_has_nothing() -> None:
    assert host_packages([]) == JailRequest()
