//! Kinds of the conversation: messages and tool executions.

use lore::protocol::RawObject;

use super::entity::{Mention, PossibleMention};
use super::mirror::{Mirror, object};
use super::session::texts;
use super::{LinePayload, Parts, SessionImportBuilder};
use crate::error::Refusal;
use crate::events::body;
use crate::log::{LoggedEvent, codec};
use crate::messages::operations::{self, TOOL_BYTES_MAX, TOOLS_MAX};
use crate::messages::{
    self, MessageEvent, MessageMeta, MessageRecorded, ToolCallMeta, ToolRecorded,
};
use crate::store::Error;
use crate::transfer::session::check::{Checker, id, rules};
use crate::transfer::session::export::{ExportSource, object};
use crate::transfer::session::hex;
use crate::transfer::session::markdown::{Section, escaped, word};
use crate::trust;

object! {
    /// A message.
    Message {
        /// Its id, unique in the session: letters, digits, `-` and `_`.
        message: String,
        /// The sender.
        sender: messages::Sender,
        /// Type of the message.
        #[serde(rename = "type")]
        kind: messages::Kind,
        /// The complete text.
        content: String,
        /// Tools that were used to write it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<ToolUse>,
        /// The id of the context pack used to write it; the pack itself is not exported.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pack: Option<String>,
        /// Ranges of the content that quote context packs, in bytes: start and end.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        quoted: Vec<(u32, u32)>,
        /// Number of o200k tokens without quotations; absent: counted on import.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32")]
        tokens: Option<u32>,
        /// Version of the rules that recognised the mentions, hexadecimal.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        rules: String,
        /// Mentioned entities, each once, in order; absent: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mentions: Vec<Mention>,
        /// Entities that the message may refer to; absent: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        possible: Vec<PossibleMention>,
        /// Everyday words that the message marks as code; absent: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        marked: Vec<String>,
        /// What it is, if it was recorded to be remembered in its project. The positions of its evidence are not exported.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "messages::RememberedKind")]
        remembered: Option<messages::RememberedKind>,
    }
}

object! {
    /// A tool that a message used.
    ToolUse {
        /// Its name.
        name: String,
        /// Its final status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "messages::Status")]
        status: Option<messages::Status>,
        /// Its result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        result: Option<String>,
    }
}

impl Message {
    /// Exports the event.
    pub fn export(
        from: &ExportSource<'_>,
        event: &LoggedEvent,
        meta: MessageMeta,
    ) -> Result<Self, Error> {
        let body: MessageRecorded = body(event)?;
        let tools = body.tools.into_iter().map(|tool| {
            Ok(ToolUse {
                name: tool.name,
                status: tool.status,
                result: from.read(tool.result)?,
            })
        });
        Ok(Self {
            message: meta.id,
            sender: meta.sender,
            kind: meta.kind,
            content: body.content.read(from.blobs)?,
            tools: tools.collect::<Result<_, Error>>()?,
            pack: body.pack,
            quoted: body.quoted,
            tokens: Some(meta.tokens),
            rules: hex::digits(&meta.rules),
            mentions: meta.mentions.mirror(),
            possible: meta.possible.mirror(),
            marked: meta.marked,
            remembered: meta.remembered,
        })
    }
}

impl LinePayload for Message {
    fn check(&self, earlier: &mut Checker) -> Result<(), String> {
        id("message", &self.message)?;
        if self.tools.len() > TOOLS_MAX {
            let count = self.tools.len();
            return Err(format!(
                "`tools` has {count} items; a message names at most {TOOLS_MAX}"
            ));
        }
        self.tools.iter().try_for_each(|tool| named(&tool.name))?;
        texts([("pack", self.pack.as_ref())])?;
        let bytes = self.content.len() as u64;
        let is_within = |span: &(u32, u32)| span.0 <= span.1 && u64::from(span.1) <= bytes;
        if let Some(span) = self.quoted.iter().find(|span| !is_within(span)) {
            return Err(format!(
                "`quoted` has {span:?}; `content` has {bytes} bytes, and a start must come before its end"
            ));
        }
        rules(&self.rules)?;
        earlier.mentions(&self.mentions)?;
        earlier.possible(&self.possible, &self.marked)?;
        if earlier.messages.insert(self.message.clone()) {
            return Ok(());
        }
        Err(format!(
            "the message `{}` is on an earlier line; each id occurs once",
            self.message
        ))
    }

    fn import(self, to: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let tokens = self
            .tokens
            .unwrap_or_else(|| to.tokens(&self.content, &self.quoted));
        let results: Vec<&str> = self
            .tools
            .iter()
            .filter_map(|tool| tool.result.as_deref())
            .collect();
        let suspect = operations::suspect(&self.content, self.sender, &results);
        let mut blobs = Vec::new();
        let content = to.keep(self.content, &mut blobs)?;
        let mut tools = Vec::with_capacity(self.tools.len());
        for tool in self.tools {
            tools.push(messages::ToolUse {
                name: tool.name,
                status: tool.status,
                result: to.keep_some(tool.result, &mut blobs)?,
            });
        }
        let meta = MessageMeta {
            id: self.message,
            sender: self.sender,
            kind: self.kind,
            tokens,
            tools: u32::try_from(tools.len()).unwrap_or(u32::MAX),
            rules: hex::bytes(&self.rules).unwrap_or_default(),
            known_at: 0,
            mentions: self.mentions.mirror(),
            possible: self.possible.mirror(),
            marked: self.marked,
            remembered: self.remembered,
            suspect,
            blobs,
        };
        let recorded = MessageRecorded {
            content,
            tools,
            pack: self.pack,
            quoted: self.quoted,
            evidence: Vec::new(),
            replaces: Vec::new(),
        };
        let event = MessageEvent::Message(meta).into();
        Ok(Some((event, codec::encode(&recorded))))
    }

    fn render(&self, to: &mut Section<'_>) {
        let (sender, kind) = (word(&self.sender), word(&self.kind));
        to.heading(&format!("{sender}: {kind}"), "");
        to.fenced("", &self.content);
        for tool in &self.tools {
            let status = tool.status.as_ref().map(word).unwrap_or_default();
            to.push(format_args!("\nTool {} {status}\n\n", escaped(&tool.name)));
            if let Some(result) = &tool.result {
                to.fenced("", result);
            }
        }
    }
}

object! {
    /// A tool execution began or continued.
    Tool {
        /// Its id, the same on every line about it: letters, digits, `-` and `_`.
        execution: String,
        /// Current status.
        status: messages::Status,
        /// Name of the tool.
        tool: String,
        /// Parameters of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        parameters: Option<RawObject>,
        /// Result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        result: Option<String>,
        /// Error message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        error: Option<String>,
        /// Version of the rules that recognised the mentions in the result, hexadecimal.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        rules: String,
        /// Entities mentioned in the result, each once, in order; absent: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mentions: Vec<Mention>,
    }
}

impl Tool {
    /// Exports the event.
    pub fn export(
        from: &ExportSource<'_>,
        event: &LoggedEvent,
        meta: ToolCallMeta,
    ) -> Result<Self, Error> {
        let body: ToolRecorded = body(event)?;
        Ok(Self {
            execution: meta.id,
            status: meta.status,
            tool: body.tool,
            parameters: object(event, from.read(body.parameters)?)?,
            result: from.read(body.result)?,
            error: from.read(body.error)?,
            rules: hex::digits(&meta.rules),
            mentions: meta.mentions.mirror(),
        })
    }
}

impl LinePayload for Tool {
    fn check(&self, earlier: &mut Checker) -> Result<(), String> {
        id("execution", &self.execution)?;
        named(&self.tool)?;
        rules(&self.rules)?;
        earlier.mentions(&self.mentions)?;
        earlier.executions.insert(self.execution.clone());
        Ok(())
    }

    fn import(self, to: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let suspect = trust::of_step(self.result.as_deref(), self.error.as_deref());
        let mut blobs = Vec::new();
        let parameters = self.parameters.map(RawObject::into_string);
        let recorded = ToolRecorded {
            tool: self.tool,
            parameters: to.keep_some(parameters, &mut blobs)?,
            result: to.keep_some(self.result, &mut blobs)?,
            error: to.keep_some(self.error, &mut blobs)?,
        };
        let meta = ToolCallMeta {
            id: self.execution,
            status: self.status,
            rules: hex::bytes(&self.rules).unwrap_or_default(),
            mentions: self.mentions.mirror(),
            suspect,
            blobs,
        };
        let event = MessageEvent::ToolCall(meta).into();
        Ok(Some((event, codec::encode(&recorded))))
    }

    fn render(&self, to: &mut Section<'_>) {
        let heading = format!("Tool {}: {}", escaped(&self.tool), word(&self.status));
        to.heading(
            &heading,
            &format!(", execution {}", escaped(&self.execution)),
        );
        to.call(
            self.parameters.as_ref(),
            self.result.as_deref(),
            self.error.as_deref(),
        );
    }
}

/// Checks the name of a tool.
fn named(tool: &str) -> Result<(), String> {
    let is_name = !tool.trim().is_empty()
        && tool.len() <= TOOL_BYTES_MAX
        && !tool.chars().any(char::is_control);
    if is_name {
        return Ok(());
    }
    Err(format!(
        "the name of a tool has 1 to {TOOL_BYTES_MAX} bytes and no control characters"
    ))
}
