"""Providers' words for why an answer ended and why a request failed, each with its source.

A source documents the word, or is where it was observed. A test reads each line. To teach the
gateway a provider's word, add a line with its source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .errors import Kind

_ANTHROPIC = "platform.claude.com/docs/build-with-claude/handling-stop-reasons"
_BEDROCK = "docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html"
_COHERE = "docs.cohere.com/reference/chat"
_DEEPSEEK = "api-docs.deepseek.com/api/create-chat-completion"
_GEMINI = "ai.google.dev/api/generate-content#FinishReason"
_MISTRAL = "docs.mistral.ai/api"
_OPENAI = "developers.openai.com/api/reference/resources/chat"
_OPENAI_RESPONSES = "developers.openai.com/api/reference/resources/responses"
_OPENROUTER = "openrouter.ai/docs/api-reference/overview"
_QIANFAN = "cloud.baidu.com/doc/qianfan-api/s/3m7of64lb"
_TGI = "huggingface.github.io/text-generation-inference"
_TOGETHER = "docs.together.ai/reference/chat-completions-1"
_VLLM = "github.com/vllm-project/vllm/issues/57082"
_WATSONX = "ibm.github.io/watsonx-ai-node-sdk/interfaces/0_1_x.WatsonXAI.TextGenResult-1.html"
_ZAI = "docs.z.ai/api-reference/llm/chat-completion"


FINISH_WORDS: Mapping[str, Mapping[str, str]] = {
    "stop": {
        "stop": _OPENAI,
        "completed": _OPENAI_RESPONSES,
        "end_turn": _ANTHROPIC,
        "stop_sequence": _ANTHROPIC,
        "complete": _COHERE,
        "eos": _TOGETHER,
        "normal": _QIANFAN,
        "eos_token": _TGI,
    },
    "tool_calls": {
        "tool_calls": _OPENAI,
        "function_call": _OPENAI,
        "tool_use": _ANTHROPIC,
        "tool_call": _COHERE,
    },
    "length": {
        "length": _OPENAI,
        "max_output_tokens": _OPENAI_RESPONSES,
        "max_tokens": _ANTHROPIC,
        "model_context_window_exceeded": _ANTHROPIC,
        "model_length": _MISTRAL,
        "error_limit": _COHERE,
        "token_limit": _WATSONX,
    },
    "content_filter": {
        "content_filter": _OPENAI,
        "refusal": _ANTHROPIC,
    },
    "filtered": {
        "content_filtered": _BEDROCK,
        "guardrail_intervened": _BEDROCK,
        "sensitive": _ZAI,
        "error_toxic": _COHERE,
        "safety": _GEMINI,
        "recitation": _GEMINI,
        "language": _GEMINI,
        "blocklist": _GEMINI,
        "prohibited_content": _GEMINI,
        "spii": _GEMINI,
    },
    "failed": {
        "pause_turn": _ANTHROPIC,
        "error": _OPENROUTER,
        "network_error": _ZAI,
        "insufficient_system_resource": _DEEPSEEK,
        "timeout": _COHERE,
        "user_cancel": _COHERE,
        "malformed_model_output": _BEDROCK,
        "malformed_tool_use": _BEDROCK,
        "malformed_function_call": _GEMINI,
        "other": _GEMINI,
        "abort": _VLLM,
        "not_finished": _WATSONX,
        "cancelled": _WATSONX,
        "time_limit": _WATSONX,
        "failed": _OPENAI_RESPONSES,
        "incomplete": _OPENAI_RESPONSES,
        "in_progress": _OPENAI_RESPONSES,
        "queued": _OPENAI_RESPONSES,
    },
    "unsaid": {
        "": "github.com/sgl-project/sglang/issues/3912",
        "null": "github.com/PowerShell/AIShell/issues/350",
        "finish_reason_unspecified": _GEMINI,
    },
}
"""All known finish words, in lower case and with underscores, by their meaning. Any other word is a
failure, reported by its name.

* `stop` and `tool_calls`: the answer is complete.
* `length`: it is cut at the limit.
* `content_filter`, or `filtered` if the word itself says more: it is incomplete.
* `failed`: there is no answer.
* `unsaid`: the word means nothing."""

_OPENAI_CODES = "developers.openai.com/api/docs/guides/error-codes"
_OPENCODE = "github.com/anomalyco/opencode/pull/45834"
_PI = "github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"

REFUSAL_WORDS: Mapping[Kind | Literal["unpaid"], Mapping[str, str]] = {
    "unpaid": {
        "insufficient_quota": _OPENAI_CODES,
        "insufficient balance": "api-docs.deepseek.com/quick_start/error_codes",
        "insufficient credits": "openrouter.ai/docs/api-reference/errors",
        "credit balance is too low": "platform.claude.com/docs/en/api/errors",
        "余额不足": "docs.bigmodel.cn/cn/api/api-code",  # z.ai's code 1113
    },
    "overflow": {
        # OpenAI, who followed it, and MiniMax
        "context_length": _OPENAI_CODES,
        "context length": "github.com/lmstudio-ai/examples/issues/29",
        "maximum context": "github.com/refly-ai/refly/issues/1177",
        "exceeds the context window": "github.com/openai/codex/issues/20866",
        "exceed the configured limit": "github.com/archi-physics/archi/issues/497",
        "reduce the length of": "github.com/THUDM/LongBench/issues/104",
        "context window": "github.com/MiniMax-AI/MiniMax-M2/issues/119",
        # Anthropic, also through Bedrock
        "prompt is too long": "github.com/strands-agents/harness-sdk/issues/1912",
        "exceed context": "github.com/continuedev/continue/issues/6080",
        "request_too_large": "platform.claude.com/docs/en/api/errors",
        # Amazon Bedrock
        "input is too long": "github.com/aws-samples/bedrock-chat/issues/95",
        "expected maxlength": "github.com/ryanadoty/Amazon-Bedrock-Amazon-RDS-POC/issues/9",
        "too many input tokens": _PI,
        # Alibaba's DashScope
        "range of input length": _OPENCODE,
        # Moonshot
        "exceeded model token limit": _PI,
        "max length exceeded": "github.com/MoonshotAI/MoonshotAI-Cookbook/issues/18",
        # z.ai
        "exceeds max length": "github.com/zeroclaw-labs/zeroclaw/issues/4124",
        # Cohere, and in general
        "too many tokens": "github.com/cohere-ai/sandbox-topically/issues/4",
        "token limit exceeded": _PI,
        # llama.cpp, Ollama, GitHub Copilot
        "exceed_context": "github.com/ggml-org/llama.cpp/pull/15870",
        "available context size": "github.com/ggml-org/llama.cpp/pull/15870",
        "prompt too long": _PI,
        "exceeds the limit of": _PI,
        # xAI, Gemini, Together, and whoever serves with SGLang
        "maximum prompt length": "github.com/chenyme/grok2api/issues/693",
        "exceeds the maximum number of tokens": "github.com/google-gemini/gemini-cli/issues/9775",
        "`max_new_tokens` must be": "github.com/BerriAI/litellm/issues/4934",
        "maximum allowed input length": "github.com/mario-andreschak/FLUJO/issues/291",
        "maximum allowed length": "github.com/sgl-project/sglang/issues/4048",
        # vLLM, text-generation-inference, SiliconFlow, and a server of MLX
        "maximum model length": "github.com/xorbitsai/inference/issues/3785",
        "`inputs` must have less than": (
            "github.com/huggingface/text-generation-inference/issues/695"
        ),
        "less than max_seq_len": "github.com/langgenius/dify/issues/19394",
        "prompt_too_long": "github.com/jjang-ai/vmlx/issues/254",
    },
    "denied": {
        # xAI, Gemini
        "incorrect api key": "github.com/continuedev/continue/issues/10778",
        "invalid api key": "github.com/continuedev/continue/issues/10778",
        "invalid_api_key": _OPENAI_CODES,
        "api key not valid": "github.com/continuedev/continue/issues/10290",
        "no auth credentials": "openrouter.ai/docs/api-reference/errors",
    },
    "unknown": {
        # DeepSeek, Mistral, OpenRouter, Together
        "model not exist": "github.com/ruixingshi/deepseek-thinker-mcp/issues/3",
        "invalid model": "docs.mistral.ai/api",
        "not a valid model id": "github.com/maxnowack/anthropic-proxy/issues/4",
        "model_not_available": "github.com/HeyPuter/puter/issues/3168",
    },
}
"""Parts of messages in lower case, by the kind of failure; `unpaid` is `denied` for lack of money.

The first part that a message contains decides, if its status does not; see `errors.kind_of`."""
