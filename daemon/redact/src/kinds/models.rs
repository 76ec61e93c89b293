//! Keys of model services.

use super::{FormStart, Kind, SecretForm, form, prefixed};

pub(super) const KINDS: &[Kind] = &[
    form(
        "anthropic-key",
        "an API, admin or OAuth key of Anthropic",
        &prefixed(&["sk-ant-"], "sk-ant-[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{40,}"),
    ),
    form(
        "openai-key",
        "an API key of OpenAI, of a user",
        &SecretForm {
            begin: FormStart::Here,
            ..prefixed(
                &["sk-"],
                "sk-(?:[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48})",
            )
        },
    ),
    form(
        "openai-project-key",
        "an API key of OpenAI, of a project",
        &prefixed(&["sk-proj-"], "sk-proj-[A-Za-z0-9_-]{40,}"),
    ),
    form(
        "openai-service-key",
        "an API key of OpenAI, of a service account or for administration",
        &prefixed(
            &["sk-svcacct-", "sk-admin-", "sk-none-"],
            "sk-(?:svcacct|admin|None)-[A-Za-z0-9_-]{40,}",
        ),
    ),
    form(
        "huggingface-token",
        "a token of Hugging Face",
        &prefixed(&["hf_", "api_org_"], "(?:hf|api_org)_[A-Za-z0-9]{34,}"),
    ),
    form(
        "groq-key",
        "an API key of Groq",
        &prefixed(&["gsk_"], "gsk_[A-Za-z0-9]{48,}"),
    ),
    form(
        "xai-key",
        "an API key of xAI",
        &prefixed(&["xai-"], "xai-[A-Za-z0-9]{70,}"),
    ),
    form(
        "perplexity-key",
        "an API key of Perplexity",
        &prefixed(&["pplx-"], "pplx-[A-Za-z0-9]{40,}"),
    ),
    form(
        "replicate-token",
        "a token of Replicate",
        &prefixed(&["r8_"], "r8_[A-Za-z0-9]{37}"),
    ),
    form(
        "openrouter-key",
        "an API key of OpenRouter",
        &prefixed(&["sk-or-v1-"], "sk-or-v1-[0-9a-f]{64}"),
    ),
    form(
        "nvidia-key",
        "an API key of NVIDIA",
        &prefixed(&["nvapi-"], "nvapi-[A-Za-z0-9_-]{60,}"),
    ),
    form(
        "langsmith-key",
        "an API key of LangSmith",
        &prefixed(
            &["lsv2_pt_", "lsv2_sk_"],
            "lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
        ),
    ),
    form(
        "pinecone-key",
        "an API key of Pinecone",
        &prefixed(&["pcsk_"], "pcsk_[A-Za-z0-9]{5,10}_[A-Za-z0-9]{50,}"),
    ),
    form(
        "elevenlabs-key",
        "an API key of ElevenLabs",
        &prefixed(&["sk_"], "sk_[0-9a-f]{48}"),
    ),
    form(
        "tavily-key",
        "an API key of Tavily",
        &prefixed(&["tvly-"], "tvly-(?:dev-|prod-)?[A-Za-z0-9-]{32,}"),
    ),
];
