"""Keys and addresses of the environment: what cannot be sent is refused in one line, unseen."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.runtime.gateway.endpoint import configured, endpoint_of
from coterie.runtime.gateway.http.refusals import refusal
from coterie.runtime.gateway.providers import PROVIDERS
from coterie.schema import InputError, Model
from coterie.schema.loading.host import resolve_models

KEY = "sk-Abcdefghijklmnopqrstuvwx0123"
PLACES = st.sampled_from(["127.0.0.1:8000", "api.example.org", "[::1]:80", "h:1"])
PATHS = st.sampled_from(["", "/", "/v1", "/v1/", "/openai/v1", "/v1/chat/completions"])
ODD_KEYS = st.one_of(
    st.builds(
        "{}{}".format, st.just(KEY), st.sampled_from(["\r", "\n", "\r\n", " ", "\t", "\x0b"])
    ),
    st.builds("{1}{0}".format, st.just(KEY), st.sampled_from(["\n", "\ufeff", " ", "\u00a0"])),
    st.sampled_from(["Bearer {}", "bearer  {}", "$KEY{}", "${{{}}}", "export A_KEY={}"]).map(
        lambda form: form.format(KEY)
    ),
    st.sampled_from(["OPENAI_API_KEY={}", "HF_TOKEN={}", "{} # mine", "{}\u00a0"]).map(
        lambda form: form.format(KEY)
    ),
    st.builds("{1}{0}{1}".format, st.just(KEY), st.sampled_from(["'", '"', "`"])),
    st.builds(
        lambda odd, at: KEY[:at] + odd + KEY[at:],
        st.characters(exclude_characters=[chr(code) for code in range(32, 127)]),
        st.integers(1, len(KEY) - 1),
    ),
)


KEYS = st.sampled_from(
    [(name, variable) for name, it in PROVIDERS.items() if it.wire for variable in it.key_in]
)
ADDRESSES = st.sampled_from(
    [(name, variable) for name, it in PROVIDERS.items() if it.wire for variable in it.address_in]
)


def refused(provider: str, environment: Mapping[str, str]) -> str:
    with pytest.raises(InputError) as failed:
        endpoint_of(Model(alias="default", model=f"{provider}/m"), environment)
    return str(failed.value)


@settings(max_examples=10 * settings().max_examples)
@given(KEYS, ODD_KEYS)
def test_an_unsendable_key_is_refused_in_one_line_unseen(read: tuple[str, str], key: str) -> None:
    provider, variable = read
    line = refused(provider, {variable: key})
    assert line.startswith(f"the environment variable {variable} ")
    assert "\n" not in line
    assert KEY[:9] not in line
    assert KEY[-9:] not in line


@settings(max_examples=10 * settings().max_examples)
@given(ADDRESSES, PLACES, PATHS, st.data())
def test_an_address_is_refused_where_models_yaml_refuses_it(
    read: tuple[str, str], place: str, path: str, data: st.DataObject
) -> None:
    provider, variable = read
    keys = dict.fromkeys(PROVIDERS[provider].key_in, KEY)
    address = f"http://{place}{path}"
    odd = data.draw(
        st.sampled_from(
            [
                f"{address}?api-version=1", f"http://user:pw@{place}{path}", f"{place}{path}",
                f'"{address}"', f"'{address}'", f"{address}#here", f"ftp://{place}{path}",
                f"http://{path}", f"//{place}{path}", f"http:/{place}{path}", f"{address} x",
                f"http://tokentokentoken@{place}{path}", f"http://h:99999{path}", f"http://[::1{path}",
                f"{address}\\x", f"http:///{place}", "   ",
            ]
        )
    )  # fmt: skip
    line = refused(provider, {**keys, variable: odd})
    assert line.startswith(f"the environment variable {variable}: ")
    assert line.endswith("Write http://HOST:PORT/v1, or https.")
    assert "\n" not in line
    assert "pw@" not in line
    assert "tokentoken" not in line
    given = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f" {address}\r\n"}
    endpoint = endpoint_of(Model(alias="default", model="openai/m"), given)
    served = path.removesuffix("/chat/completions").rstrip("/") or "/v1"
    assert endpoint.api_base == f"http://{place}{served}"


@given(
    st.sampled_from(["http://user:pw@h/v1", "http://h/v1?x=1", "http://h/v1#x", "http://h:0/v1"])
)
def test_an_address_that_is_typed_is_checked_alike(address: str) -> None:
    models = resolve_models([f"org/m@latest@{address}"], environment={})
    assert models["default"].model == "org/m@latest"
    with pytest.raises(InputError, match="or https") as failed:
        endpoint_of(models["default"], {})
    assert "pw@" not in str(failed.value)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("replicate/m", "REPLICATE_API_KEY"),
        ("bedrock/m", "AWS_SECRET_ACCESS_KEY"),
        ("azure/m", "AZURE_AD_TOKEN"),
        ("anthropic/m", "ANTHROPIC_AUTH_TOKEN"),
    ],
)
def test_keys_that_litellm_sends_are_checked_too(model: str, name: str) -> None:
    given = {"AWS_ACCESS_KEY_ID": "a", name: f"{KEY}\r"}
    with pytest.raises(InputError, match=f"the environment variable {name} begins or ends"):
        endpoint_of(Model(alias="default", model=model), given)


def test_a_header_is_one_line_of_ascii() -> None:
    model = Model(alias="a", model="openai/m", header_env={"X-Gate": "GATE"})
    endpoint = endpoint_of(model, {"OPENAI_API_KEY": KEY})
    with pytest.raises(InputError, match="GATE, which holds the header X-Gate") as failed:
        configured(endpoint, model, {"GATE": "hidden\r"})
    assert "hidden" not in str(failed.value)


@given(PLACES, st.sampled_from(["", "/api", "/openai"]), st.sampled_from([404, 405]))
def test_an_address_is_advised_to_have_a_version(place: str, path: str, status: int) -> None:
    calls = "/chat/completions"
    without = str(refusal(f"http://{place}{path}{calls}", status, {}, b"not found"))
    assert without.endswith("try adding it.")
    assert "/v1" not in str(refusal(f"http://{place}{path}/v2{calls}", status, {}, b"not found"))
    assert "add /v1" not in str(refusal(f"http://{place}{path}{calls}", 400, {}, b"no"))
