"""What looks like a key, what an environment keeps secret, and that no file holds either."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import Catalogue, ConfigError, load_task, load_team, parse_team
from coterie.schema.values.problems import FORMATS
from coterie.schema.values.secrets import looks_secret, scrubbed, secrets_of

from ...support.problems import problems_of

LETTERS = "abcdEFGH1234"
KEY = f"sk-proj-{LETTERS * 3}"
PRIVATE_KEY = (
    "\n".join(
        ["-----BEGIN RSA " + "PRIVATE KEY-----", *["aB1/" * 16] * 12, "cD2=", "-----END RSA "]
    )
    + "PRIVATE KEY-----"
)


@pytest.mark.parametrize(
    "key",
    [
        f"sk-{LETTERS * 4}",
        f"sk-proj-{LETTERS * 2}_{LETTERS}",
        f"sk-ant-api03-{LETTERS * 3}-{LETTERS}",
        f"gsk_{LETTERS * 4}",
        f"hf_{LETTERS * 3}",
        f"r8_{LETTERS * 3}",
        f"xai-{LETTERS * 4}",
        f"pplx-{LETTERS * 4}",
        "AKIA" + "ABCD1234EFGH5678",
        f"AIza{LETTERS * 3}",
        f"ghp_{LETTERS * 3}",
        f"github_pat_{LETTERS * 3}",
        f"xoxb-{LETTERS}",
        "-----BEGIN " + "RSA PRIVATE KEY-----",
        "-----BEGIN " + "PRIVATE KEY-----",
    ],
)
def test_the_forms_of_keys_are_found_anywhere(key: str) -> None:
    text = f"Use '{key}', please."
    assert looks_secret(text)
    assert scrubbed(text) == "Use '[secret]', please."


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-pipelines-are-made-of-estimators",
        "a task-oriented-dialogue-with-many-turns-and-2-agents",
        "hf_hub_download_file_with_progress_v2",
        "sk-short1",
        "OPENAI_API_KEY",
        "-----BEGIN CERTIFICATE-----",
        "default",
    ],
)
def test_words_are_no_keys(text: str) -> None:
    assert not looks_secret(text)
    assert scrubbed(text) == text


@pytest.mark.parametrize(
    "write",
    [
        str,
        json.dumps,
        lambda text: json.dumps(json.dumps(text)),
        lambda text: json.dumps(f"\n{text}"),
        lambda text: json.dumps(f"é{text}"),
        lambda text: f"token%3D{text}",
        quote,
    ],
)
def test_a_key_is_found_behind_an_escape(write: Callable[[str], str]) -> None:
    assert KEY not in scrubbed(f" {write(KEY)}")


@pytest.mark.parametrize("write", [str, json.dumps, lambda text: json.dumps(json.dumps(text))])
def test_a_private_key_is_taken_out_whole(write: Callable[[str], str]) -> None:
    clean = scrubbed(f"before {write(PRIVATE_KEY)} after")
    assert "aB1/" not in clean
    assert "cD2" not in clean
    assert clean.startswith("before ")
    assert clean.endswith(" after")
    cut_off = PRIVATE_KEY[:300]
    assert scrubbed(cut_off).count("aB1/") < 4 < cut_off.count("aB1/")


def test_words_behind_the_mark_of_a_private_key_stay() -> None:
    text = "-----BEGIN " + "PRIVATE KEY-----\nis the first line of such a file."
    assert scrubbed(text) == "[secret]\nis the first line of such a file."


def test_what_is_known_is_taken_out_longest_first() -> None:
    assert scrubbed("abc-123456, abc-123", ["abc-123", "abc-123456"]) == "[secret], [secret]"


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "CI_JOB_TOKENS", "CLIENT_SECRET",
        "PGPASSWORD", "MYSQL_PWD", "DB_PASS", "REDIS_PASSWD", "SSH_PASSPHRASE", "GITHUB_PAT",
        "GOOGLE_CREDENTIALS", "npm_config__authToken", "BASIC_AUTH", "TOKEN_2", "KEY",
    ],
)  # fmt: skip
def test_the_name_of_a_variable_says_that_it_is_secret(name: str) -> None:
    assert secrets_of({name: " x7-orange-ladder "}) == {"x7-orange-ladder"}


@pytest.mark.parametrize(
    "name",
    [
        "KEYBOARD", "TOKENIZERS_PARALLELISM", "AUTHOR", "COMPATIBLE", "SPATIAL", "PASSENGER",
        "AWS_ACCESS_KEY_ID", "SECRET_NAME", "AUTH_URL", "AUTH_TYPE", "KEY_FILE", "LANG",
    ],
)  # fmt: skip
def test_other_names_do_not(name: str) -> None:
    assert secrets_of({name: "x7-orange-ladder"}) == frozenset()


@pytest.mark.parametrize(
    "value",
    [
        "", "1", "true", "disabled", "Production", "POSTGRES", "16384", "1.5", "hunter2",
        "/home/somebody/key.pem", "/run/agent.123", "~/.ssh/id_rsa", "./secret.txt", "../x/y.txt",
        "C:\\Users\\x\\key.txt", "/Users/somebody/key", "https://example.com/login", "some-body-1",
    ],
)  # fmt: skip
def test_a_value_that_any_text_may_hold_is_no_secret(value: str) -> None:
    assert secrets_of({"MY_TOKEN": value, "USER": "some-body-1"}) == frozenset()


@pytest.mark.parametrize("value", ["/aB+cd/efGHij0123456789", "correct-horse-battery", "Tr0ub4dor"])
def test_a_value_that_looks_like_something_else_may_be_one(value: str) -> None:
    assert secrets_of({"MY_TOKEN": value}) == {value}


@pytest.mark.parametrize(
    ("value", "secrets"),
    [
        ("postgres://bob:p4ss-word@db.example.com/x", {"p4ss-word"}),
        ("postgres://bob:p%40ss-word@db/x", {"p%40ss-word", "p@ss-word"}),
        ("redis://:abc-1234@cache:6379", {"abc-1234"}),
        ("https://ghp0token0of0somebody@github.com/x", {"ghp0token0of0somebody"}),
        ("https://a:first-pw-1@x, https://b:second-pw-2@y", {"first-pw-1", "second-pw-2"}),
        ("https://git@github.com/x", set()),
        ("https://example.com/a:b@c", set()),
        ("postgres://postgres:postgres@localhost", set()),
    ],
)
def test_passwords_in_addresses_are_secret_whatever_the_name(value: str, secrets: set[str]) -> None:
    assert secrets_of({"DATABASE": value}) == secrets


@given(st.dictionaries(st.text(), st.text()))
def test_any_environment_can_be_read(environment: dict[str, str]) -> None:
    assert all(len(secret) >= 8 for secret in secrets_of(environment))


TEAM = """\
name: pair
agents:
  worker: {prompt: "Solve it."}
  judge: {prompt: "Decide it."}
topology: {reports_to: {worker: [judge]}}
"""


def with_field(line: str) -> str:
    return TEAM.replace('{prompt: "Decide it."}', f'{{prompt: "Decide it.", {line}}}')


@pytest.mark.parametrize(
    "text",
    [
        TEAM.replace("pair", f"pair_{KEY}"),
        TEAM.replace("Solve it.", f"Solve it with {KEY}."),
        TEAM.replace("Solve it.", f"Solve it with\\n{KEY}"),
        TEAM.replace("worker", f'"{KEY}"'),
        TEAM + f"description: {KEY}\n",
        TEAM + f"constitution: |\n  Be brief.\n  {KEY}\n",
        TEAM + f"successful_tasks: [{{q: 'What is it?', notes: 'Use {KEY}.'}}]\n",
        TEAM + f"successful_tasks: [{{q: '{KEY}'}}]\n",
        TEAM + f"execution: {{on_error: {KEY}}}\n",
        TEAM + f"metadata: {{by: {{whom: [{KEY}]}}}}\n",
        TEAM + f"{KEY}: true\n",
        with_field(f"role: {KEY}"),
        with_field(f"model_id: {KEY}"),
        with_field(f"tools: [{KEY}]"),
        with_field(f"max_tokens: {KEY}"),
        with_field(f"api_key: {KEY}"),
        with_field(f"output_schema: {{type: string, description: 'like {KEY}'}}"),
        with_field(f"output_schema: {{enum: [a, {KEY}]}}"),
        with_field(f"output_schema: {{type: object, properties: {{{KEY}: {{type: string}}}}}}"),
        with_field(f'role: "{PRIVATE_KEY[:31]}"'),
    ],
)
def test_a_team_that_holds_a_key_is_refused_without_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(text)
    with pytest.raises(ConfigError) as refusal:
        load_team(tmp_path / "team.yaml", Catalogue.of_host())
    assert "this looks like a secret key" in str(refusal.value)
    for shown in (
        str(refusal.value),
        *(write(refusal.value.problems) for write in FORMATS.values()),
    ):
        assert KEY[8:] not in shown
        assert "BEGIN" not in shown


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"# {KEY}\n{TEAM}", "1:3"),
        (f"{TEAM}# the key: {KEY}", f"{TEAM.count(chr(10)) + 1}:12"),
        (f"name: a # {KEY}\n", "1:11"),
        (f"name: # {KEY}\n  a\n", "1:9"),
        (f"description: | # {KEY}\n  words\n", "1:18"),
        (f"description: >\n  words\n # {KEY}\nname: a\n", "3:4"),
        (f"name: a\nagents: [ # é {KEY}\n]\n", "2:15"),
        ("# " + PRIVATE_KEY.replace("\n", "\n# ") + "\nname: a\n", "1:3"),
    ],
)
def test_a_key_in_a_comment_is_refused_at_its_place(text: str, place: str) -> None:
    texts = problems_of(parse_team, text.encode(), "team.yaml", Catalogue.of_host())
    places = [name.split(" error:")[0] for name in texts if "secret key" in name]
    assert places == [f"team.yaml:{place}:"]
    assert KEY[8:] not in "".join(texts)


@pytest.mark.parametrize("value", [f"{KEY}", f"'{KEY}'", f"|\n  {KEY}\n", f">-\n  a\n  {KEY}\n"])
def test_a_key_in_a_value_is_reported_once(value: str) -> None:
    content = f"description: {value}".encode()
    texts = problems_of(parse_team, content, "team.yaml", Catalogue.of_host())
    assert sum("secret key" in text for text in texts) == 1


def test_so_is_a_team_whose_prompt_file_holds_one(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "solve_it.md").write_text(f"Solve it with {KEY}.")
    (tmp_path / "team.yaml").write_text(TEAM.replace('"Solve it."', "solve_it"))
    with pytest.raises(ConfigError, match="this looks like a secret key") as refusal:
        load_team(tmp_path / "team.yaml", Catalogue.of_host())
    assert KEY[8:] not in str(refusal.value)


@pytest.mark.parametrize(
    "field",
    [
        {"query": f"Use {KEY}."},
        {"context": f"The key is {KEY}."},
        {"niche": KEY},
        {"answer": KEY},
        {"files": {"notes.txt": KEY}},
        {"scorer": {"name": "contains", "text": KEY}},
    ],
    ids=lambda field: next(iter(field)),
)
def test_so_is_a_task_whose_own_text_has_one(field: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "task.json").write_text(json.dumps({"id": "t", "query": "q", **field}))
    with pytest.raises(ConfigError, match="this looks like a secret key") as refusal:
        load_task(tmp_path / "task.json", Catalogue.of_host())
    assert KEY[8:] not in str(refusal.value)


def test_the_files_beside_a_task_are_material_and_may_hold_anything(tmp_path: Path) -> None:
    (tmp_path / "fixture.py").write_text(f"KEY = '{KEY}'")
    (tmp_path / "task.json").write_text('{"id": "t", "query": "q", "files": ["fixture.py"]}')
    task = load_task(tmp_path / "task.json", Catalogue.of_host())
    assert task.files["fixture.py"] == f"KEY = '{KEY}'"
