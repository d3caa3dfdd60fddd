import pytest

from coterie.schema import InputError
from coterie.schema.host.fields import DOCUMENTS, find, root, walk


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("agents.max_tokens", "agents.<id>.max_tokens"),
        ("agents.w2.max_tokens", "agents.<id>.max_tokens"),
        ("agents.<id>.max_tokens", "agents.<id>.max_tokens"),
        ("agents.w2", "agents.<id>"),
        ("agents.w2.tools[0]", "agents.<id>.tools[]"),
        ("agents.tools[]", "agents.<id>.tools[]"),
        ("agents.timeout", "agents.<id>.timeout"),
        ("agents.timeout.timeout", "agents.<id>.timeout"),
        ("agents.role.prompt", "agents.<id>.prompt"),
        ("execution", "execution"),
        ("topology.reports_to.w1[0]", "topology.reports_to.<id>[]"),
        ("successful_tasks[3].q", "successful_tasks[].q"),
        ("successful_tasks.q", "successful_tasks[].q"),
        ("team", "team"),
        ("team.agents", "agents"),
        ("task", "task"),
        ("task.scorer.name", "task.scorer.name"),
        ("query", "task.query"),
        ("task.files.notes.txt", "task.files.<path>"),
        ("task.files[2]", "task.files[]"),
        ("models", "models"),
        ("models.key_env", "models.<alias>.key_env"),
        ("models.gpt-4.1.key_env", "models.<alias>.key_env"),
        ("models.models.gpt.key_env", "models.<alias>.key_env"),
        ("tools", "tools"),
        ("servers.clock.env[1]", "servers.<id>.env[]"),
        ("agents.a.output_schema.properties.x.items.enum", None),
    ],
)
def test_a_path_finds_its_field(path: str, name: str | None) -> None:
    expected = name or "agents.<id>.output_schema.properties.<name>.items.enum"
    assert find(path).name == expected


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("agents.maxtokens", "no field 'maxtokens' in agents. Did you mean 'max_tokens'?"),
        ("agents.w2.promt", "no field 'promt' in agents.<id>. Did you mean 'prompt'?"),
        ("models.apibase", "no field 'apibase' in models. Did you mean 'api_base'?"),
        ("task.querry", "no field 'querry' in task. Did you mean 'query'?"),
        ("agents.w2.model", "'model' is not a field of agents.<id>. Write model_id."),
        ("agents.system_prompt", "'system_prompt' is not a field of agents.<id>. Write prompt."),
        ("task.question", "'question' is not a field of task. Write query."),
        (
            "max_steps",
            "no field 'max_steps' at the top of a file. Did you mean 'agents.max_steps' or",
        ),
        (
            "max_tokens",
            "'max_tokens' is not a field of team. Write it under an agent, or under defaults for",
        ),
        (
            "temprature",
            "no field 'temprature' at the top of a file. Did you mean 'agents.temperature'?",
        ),
        ("execution.timeout.x", "no field 'x' in execution.timeout. It has no fields."),
        ("topology.xyz", "no field 'xyz' in topology. Fields there: reports_to, output."),
        ("execution[0]", "no field '[0]' in execution. Fields there: parallel_workers,"),
        ("xyz", "no field 'xyz' in team. Fields there: name, description,"),
    ],
)
def test_a_wrong_path_says_what_may_be_meant(path: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        find(path)
    assert str(caught.value).startswith(message)


def test_a_name_that_stands_in_several_places_names_them_all() -> None:
    with pytest.raises(InputError, match=r"'agents\.notes' or 'successful_tasks\.notes'"):
        find("notes")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_field_that_people_write_has_a_description(document: str) -> None:
    fields = [field for field in walk(root(document)) if not field.is_any]
    assert [field.name for field in fields if not field.meaning] == []


def test_walking_ends_where_a_definition_holds_itself() -> None:
    names = [field.name for field in walk(root("team"))]
    assert "agents.<id>.output_schema.anyOf[]" in names
    assert not [name for name in names if name.count("anyOf") > 1]


@pytest.mark.parametrize(
    ("path", "default"),
    [
        ("agents.max_tokens", "4096"),
        ("agents.model_id", "default"),
        ("execution.parallel_workers", "true"),
        ("topology.output", "the last agent in Kahn order"),
        ("agents.role", ""),
    ],
)
def test_defaults_are_values_or_words(path: str, default: str) -> None:
    field = find(path)
    assert field.default == default
    assert "Default" not in field.meaning
