"""Names under which files of agents are kept: no tool acts upon them, and no two are alike."""

from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.engine.artifacts import inert_names

PARTS = st.sampled_from(
    ["a", "HEAD", "head", "HEAD.kept", "head.kept_", ".git", ".GIT ", "Head.KEPT", ".git\\a", "b"]
)
PATHS = st.lists(st.lists(PARTS, min_size=1, max_size=3).map("/".join), unique=True)


@given(paths=PATHS)
def test_no_two_files_get_one_name_and_folders_stay_together(paths: list[str]) -> None:
    names = inert_names(paths)
    assert [*names] == paths
    assert len({*names.values()}) == len(paths)
    folders = {path.rpartition("/")[0]: name.rpartition("/")[0] for path, name in names.items()}
    assert len({*folders.values()}) == len(folders)
    kept = {part for name in names.values() for part in name.split("/")}
    assert not kept & {"HEAD", "head", ".git", ".GIT ", ".git\\a"}


def test_a_name_that_is_taken_already_is_not_given_twice() -> None:
    assert inert_names(["HEAD", "HEAD.kept"]) == {"HEAD": "HEAD.kept_", "HEAD.kept": "HEAD.kept"}
    assert inert_names(["a/.git/x", "b.py"]) == {"a/.git/x": "a/.git.kept/x", "b.py": "b.py"}
