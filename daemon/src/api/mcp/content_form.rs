//! Decides which content a tool's result carries: its text alone, or the structured content as well.
//!
//! This is the only place that knows hosts by name. A tool with an output schema must return structured content, and
//! programs read it. Hosts for models show their model the text alone, or the whole result, in which the structured
//! content only repeats the text.

use rmcp::model::ProtocolVersion;
use serde::Deserialize;

/// The setting `mcp.content`: which content results carry where no output schema was listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentSetting {
    /// What the client needs, by its name and its protocol version.
    #[default]
    ByClient,
    /// The text alone.
    Text,
    /// The text and the structured content.
    Both,
}

/// The content of one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentForm {
    /// The text alone.
    Text,
    /// Both; the text alone if both together are too large.
    Both,
    /// Both, because the output schema of the tool was listed.
    Schema,
}

/// Hosts whose models read the text, by the beginning of the name in `clientInfo`. Claude Code, Gemini CLI, Qwen Code,
/// opencode and Copilot show the text alone. Cline and the code mode of Codex show the whole result.
const TEXT_HOSTS: [&str; 7] = [
    "@cline/",
    "claude-code",
    "codex-mcp-client",
    "copilot-cli",
    "gemini-cli-mcp-client",
    "opencode",
    "qwen-cli-mcp-client",
];

/// The first revision of MCP whose results have structured content.
const STRUCTURED_SINCE: &str = "2025-06-18";

impl ContentForm {
    /// Returns the form for a client. `has_schemas` says whether the tools were listed with output schemas.
    #[must_use]
    pub fn of(
        setting: ContentSetting,
        has_schemas: bool,
        client: Option<&str>,
        version: Option<&ProtocolVersion>,
    ) -> Self {
        if has_schemas {
            return Self::Schema;
        }
        let reads_text = match setting {
            ContentSetting::Text => true,
            ContentSetting::Both => false,
            ContentSetting::ByClient => {
                let is_old = version.is_some_and(|version| version.as_str() < STRUCTURED_SINCE);
                let is_host = |name: &str| TEXT_HOSTS.iter().any(|begin| name.starts_with(begin));
                is_old || client.is_some_and(is_host)
            }
        };
        if reads_text { Self::Text } else { Self::Both }
    }

    /// Returns whether the result has structured content.
    #[must_use]
    pub fn is_structured(self) -> bool {
        self != Self::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts for models get the text, programs get both, and a listed schema is always honoured.
    #[test]
    fn clients_get_what_they_need() {
        let new = Some(ProtocolVersion::V_2025_11_25);
        let form = |setting, has_schemas, client| {
            ContentForm::of(setting, has_schemas, Some(client), new.as_ref())
        };
        let auto = ContentSetting::ByClient;
        for host in [
            "claude-code",
            "codex-mcp-client",
            "gemini-cli-mcp-client",
            "qwen-cli-mcp-client-lore",
            "opencode",
            "copilot-cli",
            "@cline/core",
        ] {
            assert_eq!(form(auto, false, host), ContentForm::Text, "{host}");
            assert_eq!(form(auto, true, host), ContentForm::Schema, "{host}");
            let both = form(ContentSetting::Both, false, host);
            assert_eq!(both, ContentForm::Both, "{host}");
        }
        assert_eq!(form(auto, false, "python-sdk"), ContentForm::Both);
        assert_eq!(
            form(ContentSetting::Text, false, "python-sdk"),
            ContentForm::Text
        );
        assert_eq!(
            form(ContentSetting::Text, true, "python-sdk"),
            ContentForm::Schema
        );
        let old = ProtocolVersion::V_2024_11_05;
        let of_old = ContentForm::of(auto, false, None, Some(&old));
        assert_eq!(of_old, ContentForm::Text);
        assert_eq!(ContentForm::of(auto, false, None, None), ContentForm::Both);
    }
}
