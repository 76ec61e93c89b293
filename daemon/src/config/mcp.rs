//! `[mcp]`: what MCP clients get.

use serde::Deserialize;

use super::sections::MIB;
use super::setting::{EffectTime, Setting, ValueType};
use super::{Config, Error, set};
use crate::api::ContentSetting;

/// Range of the maximum size of a line, in bytes.
const LINE_BYTES: (u64, u64) = (64 << 10, 16 * MIB);

/// The table.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpTable {
    line_bytes_max: Option<u64>,
    content: ContentSetting,
}

impl McpTable {
    /// Every key.
    pub const SETTINGS: &[Setting] = &[
        Setting {
            key: "mcp.line_bytes_max",
            description: "Maximum size of a line or an HTTP response that the daemon sends to an MCP client, in bytes. \
                Some clients end the connection over 10 MiB. A larger reply is refused with the arguments that return \
                it in parts.",
            takes: ValueType::Whole {
                least: LINE_BYTES.0,
                most: LINE_BYTES.1,
            },
            acts: EffectTime::NextConnection,
            default: |config| Some(config.limits.mcp_line_bytes_max.to_string()),
        },
        Setting {
            key: "mcp.content",
            description: "Content of a tool's result: `text`, or `both` the text and the same as structured content. \
                `by_client` sends the text alone to hosts whose models read it (Claude Code, Codex, Gemini CLI, Qwen \
                Code, opencode, Copilot, Cline) and to protocol versions before 2025-06-18. Tools that were listed \
                with an output schema (`full`) always return both.",
            takes: ValueType::OneOf(&["by_client", "text", "both"]),
            acts: EffectTime::NextConnection,
            default: |_| Some("\"by_client\"".to_owned()),
        },
    ];

    /// Applies the table.
    ///
    /// # Errors
    /// When the size is out of range.
    pub fn apply(&self, config: &mut Config) -> Result<(), Error> {
        let limits = &mut config.limits;
        let (least, most) = LINE_BYTES;
        set(
            &mut limits.mcp_line_bytes_max,
            "line_bytes_max",
            self.line_bytes_max,
            least,
            most,
        )?;
        limits.mcp_content = self.content;
        Ok(())
    }
}
