"""Servers that people run themselves: Ollama, vLLM, llama.cpp; what is unknown is ignored."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .chat_form import openai_error, plain_bill, with_reasoning, with_reasoning_content
from .provider import Provider, Speech
from .said import Refusal
from .sees import Sees

if TYPE_CHECKING:
    from .said import Said

SERVED = Speech(usage=plain_bill, caches=False)
"""How all of them speak, but for what was thought."""

OLLAMA = Provider(
    name="Ollama",
    model="qwen3:8b",
    choice="ollama/qwen3:8b",
    variables={"OLLAMA_API_BASE": "{origin}"},
    speaks={
        "/v1/chat/completions": replace(
            SERVED,
            message=with_reasoning,
            whole_calls=True,
            sees=Sees(
                parts={},
                otherwise=Refusal(status=400, message="this model does not support image input"),
            ),
        )
    },
    needs_key=False,
    unknown_model=Refusal(
        status=404,
        message='model "{model}" not found, try pulling it first',
        kind="not_found_error",
    ),
    busy=Refusal(
        status=503,
        message="server busy, please try again.  maximum pending requests exceeded",
        kind="api_error",
    ),
    sources=(
        "https://github.com/ollama/ollama/blob/main/docs/openai.md",
        "https://github.com/ollama/ollama/blob/main/openai/openai.go",
        "https://github.com/ollama/ollama/blob/main/server/routes.go",
        "https://github.com/ollama/ollama/issues/17301",
    ),
)


def vllm_error(refusal: Refusal) -> dict[str, Any]:
    """Write it as vLLM, whose code is the status; the server's own guard says one word."""
    if refusal.status == 401:
        return {"error": refusal.message}
    error = openai_error(refusal)["error"]
    return {"error": error | {"code": refusal.status}}


VLLM = Provider(
    name="vLLM",
    model="Qwen/Qwen3-32B",
    choice="hosted_vllm/Qwen/Qwen3-32B",
    variables={"HOSTED_VLLM_API_BASE": "{origin}/v1", "HOSTED_VLLM_API_KEY": "{key}"},
    speaks={"/v1/chat/completions": replace(SERVED, message=with_reasoning)},
    envelope=vllm_error,
    needs_key=False,
    wrong_key=Refusal(status=401, message="Unauthorized"),
    unknown_model=Refusal(
        status=404,
        message="The model `{model}` does not exist.",
        kind="NotFoundError",
        param="model",
    ),
    overflow=Refusal(
        status=400,
        message=(
            "This model's maximum context length is {most} tokens. However, you requested 256"
            " output tokens and your prompt contains at least {size} input tokens, for a total of"
            " at least {size} tokens. Please reduce the length of the input prompt or the number"
            " of requested output tokens. (parameter=input_tokens, value={size})"
        ),
        kind="BadRequestError",
        param="input_tokens",
    ),
    sources=(
        "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html",
        "https://github.com/Mintplex-Labs/anything-llm/issues/6099",
        "https://github.com/vllm-project/vllm/issues/3485",
        "https://github.com/musistudio/claude-code-router/pull/1592",
    ),
)


def with_end_tag(message: dict[str, Any], answer: Said) -> dict[str, Any]:
    """Leave what was thought in the text, up to a tag whose beginning stands in the prompt."""
    if not answer.thinking:
        return message
    return message | {"content": f"{answer.thinking}\n</think>\n\n{answer.text}"}


VLLM_WITHOUT_PARSER = replace(
    VLLM,
    name="vLLM, no parser",
    speaks={
        path: replace(speech, message=with_end_tag)
        for path, speech in VLLM.speaks.items()
        if isinstance(speech, Speech)
    },
    sources=(
        "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html",
        "https://github.com/vllm-project/vllm/issues/22507",
    ),
)


def llama_error(refusal: Refusal) -> dict[str, Any]:
    """Write it as llama.cpp's server."""
    error = {"code": refusal.status, "message": refusal.message, "type": refusal.kind}
    return {"error": error}


LLAMA_CPP = Provider(
    name="llama.cpp",
    model="qwen3",
    choice="llamacpp/qwen3",
    variables={"LLAMACPP_API_BASE": "{origin}/v1", "LLAMACPP_API_KEY": "{key}"},
    speaks={"/v1/chat/completions": replace(SERVED, message=with_reasoning_content)},
    envelope=llama_error,
    needs_key=False,
    wrong_key=Refusal(status=401, message="Invalid API Key", kind="authentication_error"),
    overflow=Refusal(
        status=400,
        message="the request exceeds the available context size, try increasing it",
        kind="exceed_context_size_error",
    ),
    busy=Refusal(status=503, message="Loading model", kind="unavailable_error"),
    sources=(
        "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
        "https://github.com/ggml-org/llama.cpp/pull/16486",
    ),
)
