//! The server description and call results in rmcp's types.

use lore::protocol::{Code, ErrorBody, nearest, printable, tools as said};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorCode, Implementation, InitializeResult, MetaObject,
    ProtocolVersion, Resource, ResourcesCapability, ServerCapabilities, Tool,
};
use serde_json::{Value, json};

use super::content_form::ContentForm;
use super::raw_call::{Content, RawMcpCall};
use crate::api::tool_selection::ToolSelection;
use crate::operation::{Operation, Reply};

/// Describes the server, with the newest revision that has an `initialize`.
#[must_use]
pub fn about(has_resources: bool, tells_changes: bool, tools: &ToolSelection) -> InitializeResult {
    let server =
        Implementation::new(said::SERVER_NAME, said::SERVER_VERSION).with_title(said::SERVER_TITLE);
    let mut capabilities = ServerCapabilities::builder()
        .enable_completions()
        .enable_prompts()
        .enable_tools()
        .build();
    let mut of_resources = ResourcesCapability::default();
    of_resources.subscribe = tells_changes.then_some(true);
    of_resources.list_changed = tells_changes.then_some(true);
    capabilities.resources = has_resources.then_some(of_resources);
    InitializeResult::new(capabilities)
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
        .with_server_info(server)
        .with_instructions(tools.instructions())
}

/// What the result of a tool depends on, besides the reply.
#[derive(Clone, Copy, Debug)]
pub struct ReplyShape {
    /// Name of the tool.
    pub tool: &'static str,
    /// Property name that wraps a reply in structured content, when it is not an object.
    pub wrapped_as: Option<&'static str>,
    /// Maximum number of characters that the tool announces to its hosts.
    pub chars_max: Option<u64>,
}

impl From<&Operation> for ReplyShape {
    fn from(operation: &Operation) -> Self {
        Self {
            tool: operation.name,
            wrapped_as: operation.wrapped_as,
            chars_max: operation.result_chars_max,
        }
    }
}

/// Builds the result of a call; its content stays in the raw call.
#[must_use]
pub fn replied(
    shape: ReplyShape,
    reply: Reply,
    form: ContentForm,
    raw_call: &RawMcpCall,
) -> CallToolResult {
    raw_call.leave(Content {
        json: reply.json,
        wrapped_as: shape.wrapped_as,
        readable: reply.readable,
        warnings: reply.unshown_warnings,
        is_structured: form.is_structured(),
        memory: reply.memory,
    });
    let mut result = CallToolResult::success(Vec::new());
    if let Some(Ok(Value::Object(meta))) = reply.meta.map(serde_json::to_value) {
        result.meta = Some(MetaObject(meta));
    }
    result
}

/// Maximum size of an unknown tool's name in its error, in bytes.
const NAME_BYTES_MAX: usize = 40;

/// Builds the short error for an unknown tool: a model that guesses a name reads it.
#[must_use]
pub fn unknown_tool(name: &str, listed: &[Tool]) -> ErrorData {
    let mut shown: String = printable(name)
        .filter(|letter| !"\"\\".contains(*letter))
        .collect();
    shown.truncate(shown.floor_char_boundary(NAME_BYTES_MAX));
    let names = listed.iter().map(|tool| tool.name.as_ref());
    let message = match nearest(&shown, names) {
        Some(near) => format!("unknown tool `{shown}`; did you mean `{near}`?"),
        None => format!("unknown tool `{shown}`; `tools/list` names all"),
    };
    let code = Code::UnknownOperation;
    let data = json!({"code": code, "status": code.status(), "retryable": code.retryable()});
    ErrorData::new(ErrorCode::INVALID_PARAMS, message, Some(data))
}

/// Builds the result of a refused call: an error that a model can read, with the resource that holds the content.
#[must_use]
pub fn refused(body: &ErrorBody, form: ContentForm, more: Option<Resource>) -> CallToolResult {
    let mut text = format!("{}: {}", body.code, body.message);
    if let Some(hint) = &body.hint {
        text.push_str("\nHint: ");
        text.push_str(hint);
    }
    let mut content = vec![ContentBlock::text(text)];
    content.extend(more.map(ContentBlock::resource_link));
    let mut result = CallToolResult::error(content);
    if form.is_structured() {
        result.structured_content = serde_json::to_value(body).ok();
    }
    result
}
