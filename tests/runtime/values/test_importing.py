"""The environment around imports of libraries that change it."""

import gc
import os

import pytest

from coterie.runtime.values.importing import quiet_environment, without_collecting


def test_variables_are_set_inside_and_as_before_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "1")
    monkeypatch.setenv("ALSO_MINE", "1")
    before = dict(os.environ)
    with quiet_environment(MINE="2", NEW="3"):
        assert (os.environ["MINE"], os.environ["NEW"]) == ("2", "3")
        assert os.environ["PYTHON_DOTENV_DISABLED"] == "1"
        os.environ["LEAKED"] = "x"
        del os.environ["ALSO_MINE"]
    assert dict(os.environ) == before


def test_it_is_as_before_also_after_an_error() -> None:
    before = dict(os.environ)
    with pytest.raises(LookupError), quiet_environment(NEW="1"):
        raise LookupError
    assert dict(os.environ) == before


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_afterwards_as_it_was_before(collects: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        with without_collecting():
            assert not gc.isenabled()
        assert gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()
