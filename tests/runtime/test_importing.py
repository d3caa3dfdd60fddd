"""The environment around imports of libraries that change it."""

from __future__ import annotations

import os

import pytest

from coterie.runtime.importing import quiet_environment


def test_variables_are_set_inside_and_everything_is_as_before_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
