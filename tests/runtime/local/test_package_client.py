"""A whole package, fetched by either client and unpacked."""

import sys
from pathlib import Path

import pytest

from coterie.runtime.local import package_client
from coterie.schema.values.errors import InputError

FILES = {"tiny/a.txt": "a", "tiny/deep/b.txt": "b"}
CLIENT = f"""#!{sys.executable}
import sys
from pathlib import Path

for name, text in {FILES!r}.items():
    path = Path(sys.argv[sys.argv.index("--target") + 1], name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
"""


def fetched(folder: Path) -> dict[str, str]:
    folder.mkdir()
    root = package_client.fetch_package("tiny==1.0", folder, lambda _size: None)
    return {
        path.relative_to(root).as_posix(): path.read_text()
        for path in root.rglob("*")
        if path.is_file()
    }


def test_uv_delivers_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "uv").write_text(CLIENT)
    (tmp_path / "uv").chmod(0o755)
    monkeypatch.setenv("UV", str(tmp_path / "uv"))
    assert fetched(tmp_path / "fetched") == FILES


def test_pip_delivers_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "modules" / "pip"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(CLIENT)
    monkeypatch.delitem(sys.modules, "pip", raising=False)
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setattr(package_client, "find_uv", lambda: None)
    assert fetched(tmp_path / "fetched") == FILES


def test_where_none_can_both_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV", str(tmp_path / "missing"))
    monkeypatch.setitem(sys.modules, "pip", None)
    with pytest.raises(InputError, match=r"tiny==1\.0 could not be fetched:\n  uv: .*\n  pip: "):
        fetched(tmp_path / "fetched")
