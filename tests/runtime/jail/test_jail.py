"""The jail around a work folder: whose it is, what it sees of the host and of other jails."""

import contextlib
import os
import stat
import subprocess
import tempfile
from ast import literal_eval
from pathlib import Path

import pytest

from coterie.runtime.jail import Jail, JailLimits, JailRequest, Jails, PythonWorker, Shell
from coterie.runtime.jail.detect import detect
from coterie.runtime.jail.layout import interpreter
from coterie.runtime.jail.tiers import Bubblewrap, Landlock, Tier, Unconfined
from coterie.schema import JailError

from ...jails import TIERS, USERS, printed, require

# What is done as a user, in one process: it prints a list for each part.
#
# - In folders that a jail has one of its own of: what stands there can be used.
# - Two jails; the second tries to end everything, and to read and write what is the first one's.
# - With as many threads as many a user's desktop, more than a jail may have processes.
# - With a limit that is lower than the jail's, which stays.
AS_USER = """
import os, resource, tempfile, threading, time
from pathlib import Path
from coterie.runtime.jail import Jail, JailLimits, JailRequest, PythonWorker, Shell

def in_folder(place):
    with tempfile.TemporaryDirectory(dir=place) as folder:
        work, readable = Path(folder, "inner", "work"), Path(folder, "other", "readable")
        for path in (work, readable):
            path.mkdir(parents=True)
        (readable / "file").write_text("read\\n")
        with Jail(work, JailRequest(readable=(readable,)), tier=tier) as jail:
            return Shell(jail).run(f"echo work >file && cat file {readable}/file").output.split()

ATTACK = '''
import os
gained = []
def attempt(what, *arguments):
    try:
        gained.append(what(*arguments))
    except OSError:
        pass
for folder in (work, private + '/tmp', private):
    attempt(os.listdir, folder)
    attempt(os.mkdir, folder + '/mine')
attempt(open, work + '/file')
def look():
    lines = [open(f'/proc/{process}/cmdline').read()
             for process in filter(str.isdigit, os.listdir('/proc'))]
    return sum('_worker.py' in line and '_enter.py' not in line for line in lines) > 1
attempt(look)
[one for one in gained if one]
'''
def neighbours():
    with (
        tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other,
        Jail(Path(one), tier=tier) as first, Jail(Path(other), tier=tier) as second,
    ):
        victim, attacker = PythonWorker(first), PythonWorker(second)
        failed = victim.execute("open('file', 'w').write('x'); here = 42").error
        attacker.send_variables({"work": one, "private": str(first._confinement.private)})
        gained = attacker.execute(ATTACK).output
        attacker.execute("import os; os.kill(-1, 9)")
        left = [victim.execute("here").output, Path(one, "file").read_text()]
        return [failed, gained, left, first._confinement.uid == second._confinement.uid]

def printed(line, **limits):
    with tempfile.TemporaryDirectory() as folder:
        with Jail(Path(folder), JailRequest(limits=JailLimits(**limits)), tier=tier) as jail:
            return Shell(jail).run(line).output.split()

for place in sys.argv[2:]:
    print(in_folder(place))
if tier.confines:
    print(neighbours())
threading.stack_size(1 << 16)
for _ in range(64):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
print(printed("(echo one; true) | cat; (echo two) | cat", processes=32))
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
print(printed("ulimit -n"))
"""


# What programs do with processes, locks and files that the filter refuses in part.
USUAL = """
set -m; true & wait %1; echo "job control: $?"
git init -q . && echo x > f && git add f && git commit -qm m && git gc -q && echo git
python3 - <<'END'
import asyncio, fcntl, mmap, os, sqlite3, subprocess, time
async def child():
    started = await asyncio.create_subprocess_exec("echo", "child", stdout=subprocess.PIPE)
    return (await started.communicate())[0]
print(asyncio.run(child()).decode().strip())
print(subprocess.run(["sh", "-c", "exit 3"], start_new_session=True).returncode)
with sqlite3.connect("database") as first:
    first.execute("pragma journal_mode=wal")
    first.execute("create table numbers (number)")
    first.execute("begin immediate")
    try:
        sqlite3.connect("database", timeout=0).execute("begin immediate")
    except sqlite3.OperationalError as error:
        print(error)
with open("file", "wb") as file:
    os.posix_fallocate(file.fileno(), 0, 100_000)
    fcntl.lockf(file, fcntl.LOCK_EX)
print(os.stat("file").st_size, len(os.sched_getaffinity(0)) > 0, os.getpgid(0) == os.getpgrp())
with open("/dev/zero", "rb") as zeros:
    print(zeros.read(3), mmap.mmap(-1, 9, mmap.MAP_PRIVATE)[0])
print(time.thread_time() >= 0, time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID) > 0)
END
"""
USUAL_OUTPUT = """\
job control: 0
git
child
3
database is locked
100000 True True
b'\\x00\\x00\\x00' 0
True True
"""


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name)
def test_usual_programs_run(tier: Tier) -> None:
    require(tier)
    # Not below a folder that only root may enter, where git would not work without mounts.
    with tempfile.TemporaryDirectory() as folder, Jail(Path(folder), tier=tier) as jail:
        output = Shell(jail).run(USUAL).output
    lines = [line for line in output.splitlines() if not line.startswith("[")]  # of job control
    assert lines == USUAL_OUTPUT.splitlines()


OWN = ("/tmp", "/dev/shm")  # noqa: S108 - what a jail has its own of


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("tier", [*TIERS, Unconfined()], ids=lambda tier: tier.name)
def test_a_jail_of_any_user_has_its_places_walls_and_limits(tier: Tier, user: str) -> None:
    require(tier, user)
    folders = [folder for folder in OWN if tier.confines and os.access(folder, os.W_OK)]
    is_root = user == USERS[0] and os.geteuid() == 0
    jails = [[None, [], [42, "x"], not is_root]] if tier.confines else []
    assert [*map(literal_eval, printed(user, AS_USER, tier, *folders).splitlines())] == [
        *(["work", "read"] for _ in folders),
        *jails,
        ["one", "two"],
        ["100"],
    ]


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name)
def test_files_of_the_jail_are_the_hosts_after_it(tmp_path: Path, tier: Tier) -> None:
    require(tier)
    with Jail(tmp_path, tier=tier) as jail:
        done = Shell(jail).run(
            "mkdir -p closed/inner && echo x > closed/inner/file && echo y > program"
            " && chmod 6777 program && chmod 000 closed/inner/file closed/inner closed; :"
        )
        assert done.output == ""
    owned = {path.lstat().st_uid for path in tmp_path.rglob("*")}
    assert owned == {os.geteuid()}
    assert not (tmp_path / "program").stat().st_mode & (stat.S_ISUID | stat.S_ISGID)
    assert (tmp_path / "closed" / "inner" / "file").read_text() == "x\n"


def test_git_works_in_the_work_folder_and_for_the_host_after_it(jail: Jail) -> None:
    result = Shell(jail).run(
        "git init -q . && echo x > f && git add f && git commit -qm m && git log --oneline"
    )
    assert result.returncode == 0, result.output
    jail.close()
    status = subprocess.run(
        ["git", "status", "--short"], cwd=jail.work, capture_output=True, check=True
    )
    assert status.stdout == b""


def test_the_environment_is_the_given_one(monkeypatch: pytest.MonkeyPatch, jail: Jail) -> None:
    monkeypatch.setenv("MY_SECRET", "canary-123")
    with Jail(jail.work, JailRequest(environment={"GIVEN": "yes"}), tier=jail.tier) as other:
        shown = Shell(other).run("env").output
    assert "canary" not in shown
    assert "GIVEN=yes" in shown


@pytest.mark.parametrize("tier", [*TIERS, Unconfined()], ids=lambda tier: tier.name)
def test_nothing_of_the_host_is_left_open(tmp_path: Path, tier: Tier) -> None:
    require(tier)
    code = "import os\nfor n in range(999):\n try: os.fstat(n); print(n)\n except OSError: pass"
    with Jail(tmp_path, tier=tier) as jail:
        process = jail.start([str(interpreter()), "-I", "-S", "-c", code])
        assert process.stdout.read().split() == [b"0", b"1", b"2"]
        process.close()


def test_what_the_machine_lacks_memory_for_ends_first(jail: Jail) -> None:
    if not jail.tier.has_mounts:
        pytest.skip("/proc can't be read in this jail")
    assert Shell(jail).run("cat /proc/self/oom_score_adj /proc/1/oom_score_adj").output == (
        "1000\n" * 2
    )


def test_without_a_jail_the_same_things_work_unsafely(tmp_path: Path) -> None:
    with Jail(tmp_path, tier=Unconfined()) as jail:
        with contextlib.closing(PythonWorker(jail)) as worker:
            assert worker.execute("6 * 7").output == 42
        assert Shell(jail).run("echo hi").output == "hi\n"


def test_a_stopped_keeper_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with Jail(tmp_path, tier=Unconfined()) as jail:
        worker = PythonWorker(jail)
        assert (
            worker.execute("import os, signal; os.kill(os.getppid(), signal.SIGSTOP)").error is None
        )
        worker.close()


def test_a_work_folder_must_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(JailError, match="is not a folder"):
        Jails(unsafe=True).open(tmp_path / "missing")


@pytest.mark.parametrize("field", ["disk", "wall", "message"])
def test_bounds_are_positive(field: str) -> None:
    with pytest.raises(ValueError, match=f"Limits.{field} must be positive, not 0"):
        JailLimits(**{field: 0})


def test_a_folder_of_its_own_is_empty_and_goes_with_it(tmp_path: Path) -> None:
    require(tier := Bubblewrap())
    work = tmp_path / "work"
    work.mkdir()
    for _ in range(2):
        with Jail(work, JailRequest(own=(Path("/state"),)), tier=tier) as jail:
            done = Shell(jail).run("ls -A /state && echo kept > /state/one && cat /state/one")
            assert (done.output, done.returncode) == ("kept\n", 0)
    assert list(work.iterdir()) == []


def test_the_work_folder_has_another_path(tmp_path: Path) -> None:
    with with_places(tmp_path) as jail:
        done = Shell(jail).run("cd /repo && echo changed > file && pwd")
    assert done.output == "/repo\n"
    assert (tmp_path / "file").read_text("utf-8") == "changed\n"


def test_what_needs_places_runs_in_a_jail_or_not_at_all(tmp_path: Path) -> None:
    with with_places(tmp_path, unsafe=True) as jail:
        assert jail.tier.confines
    for tier in (Landlock(), Unconfined()):
        with pytest.raises(JailError, match="cannot mount folders"):
            Jail(tmp_path, JailRequest(own=(Path("/root"),)), tier=tier)


def with_places(work: Path, *, unsafe: bool = False) -> Jail:
    tier = detect().tier
    if tier is None or not tier.has_mounts:
        pytest.skip("this machine has no jail with mounts")
    jail = Jails(unsafe=unsafe).open(work, JailRequest(alias=Path("/repo")))
    assert isinstance(jail, Jail)
    return jail
