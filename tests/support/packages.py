"""A package client that has nothing but what a test gives it."""

import sys
from pathlib import Path

import pytest

CLIENT = """#!{python}
import shutil, sys
from pathlib import Path

package = Path({packages!r}, sys.argv[-1])
if not package.exists():
    sys.exit("error: no route to the package index")
shutil.copytree(package, sys.argv[sys.argv.index("--target") + 1], dirs_exist_ok=True)
"""


def packages_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a client in the place of `uv`; return the folder of its packages, as `NAME==1.0`."""
    packages, client = folder / "packages", folder / "uv"
    packages.mkdir()
    client.write_text(CLIENT.format(python=sys.executable, packages=str(packages)))
    client.chmod(0o755)
    monkeypatch.setenv("UV", str(client))
    monkeypatch.setitem(sys.modules, "pip", None)
    return packages
