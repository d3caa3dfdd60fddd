"""OpenAI."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .provider import Limit, Provider, Speech
from .responses_form import ResponsesForm, encrypted, items_follow
from .rules import closed_schemas, tool_messages_follow, with_tools
from .said import Refusal, names
from .sees import Sees

if TYPE_CHECKING:
    from .said import Bill


def responses_bill(bill: Bill) -> dict[str, Any]:
    """Write it as OpenAI's responses."""
    return {
        "input_tokens": bill.prompt,
        "input_tokens_details": {"cached_tokens": bill.cached},
        "output_tokens": bill.completion,
        "output_tokens_details": {"reasoning_tokens": bill.thinking},
        "total_tokens": bill.total,
    }


RESPONSES_PARAMETERS = names(
    """
    background conversation include input instructions max_output_tokens max_tool_calls metadata
    model parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention
    reasoning safety_identifier service_tier store stream stream_options temperature text
    tool_choice tools top_logprobs top_p truncation user
    """
)
"""Of responses: https://platform.openai.com/docs/api-reference/responses/create."""

UNKNOWN = Refusal(
    status=400,
    message="Unknown parameter: '{parameter}'.",
    code="unknown_parameter",
    param="{parameter}",
)
UNSUPPORTED = Refusal(
    status=400,
    message="Unsupported parameter: '{parameter}' is not supported with this model.",
    code="unsupported_parameter",
    param="{parameter}",
)
NO_PART = Refusal(
    status=400,
    message="Invalid content type. {type} is only supported by certain models.",
    param="messages.[{index}].content.[0].type",
)
"""github.com/vllm-project/vllm/issues/11629, github.com/zou-group/textgrad/issues/210."""
NO_MODEL = Refusal(
    status=404,
    message="The model `{model}` does not exist or you do not have access to it.",
    code="model_not_found",
)

OPENAI_CHAT = Speech(
    unknown=UNKNOWN,
    limits=(
        Limit(
            parameter="max_tokens",
            refusal=Refusal(
                status=400,
                message=(
                    "Unsupported parameter: '{parameter}' is not supported with this model. Use"
                    " 'max_completion_tokens' instead."
                ),
                code="unsupported_parameter",
                param="{parameter}",
            ),
        ),
        Limit(
            parameter="temperature",
            allowed=(1,),
            refusal=Refusal(
                status=400,
                message=(
                    "Unsupported value: '{parameter}' does not support {value} with this model."
                    " Only the default (1) value is supported."
                ),
                code="unsupported_value",
                param="{parameter}",
            ),
        ),
        Limit(parameter="stop", refusal=UNSUPPORTED),
    ),
    rules=(
        with_tools(
            Refusal(
                status=400,
                message=(
                    "Function tools with reasoning_effort are not supported for gpt-5.6-terra in"
                    " /v1/chat/completions. To use function tools, use /v1/responses or set"
                    " reasoning_effort to 'none'."
                ),
                param="reasoning_effort",
            ),
            reasoning_effort="none",
        ),
        closed_schemas,
        tool_messages_follow,
    ),
    refuses="field",
    sees=Sees(parts={"image_url": "image", "file": "pdf"}, otherwise=NO_PART),
    asked_to_think=lambda body: body.get("reasoning_effort") != "none",
)

OPENAI_RESPONSES_SPEECH = Speech(
    form=ResponsesForm(),
    accepts=RESPONSES_PARAMETERS,
    unknown=UNKNOWN,
    limits=(Limit(parameter="temperature", refusal=UNSUPPORTED, allowed=(1,)),),
    rules=(closed_schemas, items_follow),
    refuses="field",
    sees=Sees(parts={"input_image": "image", "input_file": "pdf"}, otherwise=NO_PART),
    asked_to_think=lambda body: (body.get("reasoning") or {}).get("effort") != "none",
    usage=responses_bill,
)

OPENAI = Provider(
    name="OpenAI",
    model="gpt-5.6-terra",
    choice="openai/gpt-5.6-terra",
    variables={"OPENAI_BASE_URL": "{origin}/v1", "OPENAI_API_KEY": "{key}"},
    speaks={"/v1/chat/completions": OPENAI_CHAT, "/v1/responses": OPENAI_RESPONSES_SPEECH},
    shows_thinking=False,
    wrong_key=Refusal(
        status=401,
        message=(
            "Incorrect API key provided: sk-th***wn. You can find your API key at"
            " https://platform.openai.com/account/api-keys."
        ),
        code="invalid_api_key",
    ),
    unknown_model=NO_MODEL,
    overflow=Refusal(
        status=400,
        message=(
            "This model's maximum context length is {most} tokens. However, your messages resulted"
            " in {size} tokens. Please reduce the length of the messages."
        ),
        code="context_length_exceeded",
        param="messages",
    ),
    busy=Refusal(
        status=429,
        message="Rate limit reached for gpt-5.6-terra on requests per min (RPM): Limit 3, Used 3.",
        kind="requests",
        code="rate_limit_exceeded",
        headers={"retry-after": "1", "x-ratelimit-remaining-requests": "0"},
        wait=1,
    ),
    sources=(
        "https://github.com/GEMISIS/leviath/issues/333",
        "https://platform.openai.com/docs/guides/structured-outputs",
        "https://platform.openai.com/docs/guides/error-codes",
        "https://platform.openai.com/docs/guides/pdf-files?api-mode=chat",
        "https://github.com/vllm-project/vllm/issues/11629",
        "https://github.com/chathub-dev/chathub/issues/126",
    ),
)

OPENAI_RESPONSES = replace(
    OPENAI,
    name="OpenAI, responses",
    model="gpt-5-pro",
    choice="openai/gpt-5-pro",
    speaks={
        "/v1/responses": OPENAI_RESPONSES_SPEECH,
        "/v1/chat/completions": Refusal(
            status=404,
            message="This model is only supported in v1/responses and not in v1/chat/completions.",
            param="model",
        ),
    },
    overflow=Refusal(
        status=400,
        message=(
            "Your input exceeds the context window of this model. Please adjust your input and try"
            " again."
        ),
        code="context_length_exceeded",
        param="input",
    ),
    comes_back=encrypted,
    sources=(
        "https://platform.openai.com/docs/api-reference/responses",
        "https://platform.openai.com/docs/guides/reasoning",
        "https://github.com/maximhq/bifrost/issues/5410",
        "https://github.com/openai/codex/issues/20866",
        "https://github.com/continuedev/continue/issues/8933",
    ),
)

FILTERED = Refusal(
    status=400,
    message=(
        "The response was filtered due to the prompt triggering Azure OpenAI's content management"
        " policy. Please modify your prompt and retry. To learn more about our content filtering"
        " policies please read our documentation: https://go.microsoft.com/fwlink/?linkid=2198766"
    ),
    kind="",
    param="prompt",
    code="content_filter",
)
NO_DEPLOYMENT = Refusal(
    status=404,
    message=(
        "The API deployment for this resource does not exist. If you created the deployment within"
        " the last 5 minutes, please wait a moment and try again."
    ),
    code="DeploymentNotFound",
)

AZURE_CHAT = replace(OPENAI_CHAT, refuses=FILTERED, sees=Sees(parts={"image_url": "image"}))

AZURE = replace(
    OPENAI,
    name="Azure OpenAI",
    model="our-deployment",
    choice="azure/our-deployment",
    variables={"AZURE_API_BASE": "{origin}", "AZURE_API_KEY": "{key}"},
    speaks={
        "/openai/v1/chat/completions": AZURE_CHAT,
        "/openai/deployments/our-deployment/chat/completions": AZURE_CHAT,
        "/openai/v1/responses": replace(OPENAI_RESPONSES_SPEECH, refuses=FILTERED),
    },
    key_header=("api-key", "{key}"),
    elsewhere=NO_DEPLOYMENT,
    unknown_model=NO_DEPLOYMENT,
    wrong_key=Refusal(
        status=401,
        message=(
            "Access denied due to invalid subscription key or wrong API endpoint. Make sure to"
            " provide a valid key for an active subscription and use a correct regional API"
            " endpoint for your resource."
        ),
        code="401",
    ),
    sources=(
        "https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle",
        "https://github.com/chatboxai/chatbox/issues/646",
        "https://github.com/compl-ai/compl-ai/issues/20",
    ),
)
