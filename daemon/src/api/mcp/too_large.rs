//! Replies that do not fit into a line: what a caller requests instead.

use lore::protocol::ErrorBody;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, JsonRpcMessage, Resource, ServerJsonRpcMessage};
use serde::Deserialize;
use serde_json::json;

use super::content_form::ContentForm;
use super::id::id_in;
use super::line_error::protocol_error;
use super::results::ReplyShape;
use crate::api::resources::Resources;
use crate::error::{Code, Refusal};
use crate::hint::{Hint, arg, hint};
use crate::operation::Reply;

/// Bytes of a line around the content of a result: the envelope, the id and the metadata.
pub const AROUND_BYTES: usize = 4096;

/// Returns the form in which a reply fits into a line of `bytes_max`.
///
/// # Errors
/// `RESPONSE_TOO_LARGE` with the arguments to request instead.
pub fn fitting(
    shape: ReplyShape,
    reply: &Reply,
    form: ContentForm,
    bytes_max: usize,
) -> Result<ContentForm, Refusal> {
    let json = reply.json.get();
    let room = bytes_max.saturating_sub(AROUND_BYTES);
    let warnings = reply.unshown_warnings.iter();
    let text = escaped_bytes(reply.readable.as_deref().unwrap_or(json))
        + warnings.map(|one| escaped_bytes(one)).sum::<usize>();
    let whole = text + json.len();
    match form {
        ContentForm::Both | ContentForm::Schema if whole <= room => Ok(form),
        ContentForm::Both | ContentForm::Text if text <= room => Ok(ContentForm::Text),
        ContentForm::Both | ContentForm::Schema | ContentForm::Text => {
            let bytes = if form.is_structured() { whole } else { text };
            let message = format!(
                "the result of `{}` has {bytes} bytes; a line of MCP has at most {bytes_max}",
                shape.tool
            );
            let details = json!({"bytes": bytes, "maximum": bytes_max});
            Err(Refusal::new(Code::ResponseTooLarge, message)
                .hint(instead())
                .details(details))
        }
    }
}

/// Refuses a reply that is longer than the tool announces to its hosts, which would cut it.
///
/// # Errors
/// `RESPONSE_TOO_LARGE` with the arguments to request instead.
pub fn within_announced(shape: ReplyShape, reply: &Reply) -> Result<(), Refusal> {
    let json = reply.json.get();
    let Some(max) = shape.chars_max.filter(|max| json.len() as u64 > *max) else {
        return Ok(());
    };
    let chars = json.chars().count() as u64;
    if chars <= max {
        return Ok(());
    }
    let message =
        format!("the result has {chars} characters; hosts show at most {max} of this tool");
    Err(Refusal::new(Code::ResponseTooLarge, message)
        .hint(instead())
        .details(json!({"characters": chars, "maximum": max})))
}

/// Says which arguments return the content in parts. A sentence about an argument that the called operation does not
/// take is left out.
pub fn instead() -> Hint {
    hint![
        "A smaller ", arg("max_tokens"), " returns the most important part.";
        "Give only some ", arg("keys"), ".";
        "A smaller ", arg("limit"), " returns less.";
        "A smaller ", arg("max_results"), " returns less.";
        "A smaller ", arg("max_items"), " returns less.";
        "A smaller ", arg("max_chunks"), " returns less.";
        "A smaller ", arg("bytes_max"), " ends the page earlier.";
        arg("next"), " continues.";
        arg("offset"), " continues.";
        arg("after"), " continues.";
        arg("from"), " and ", arg("bytes_max"), " return a part.";
        "Give fewer ", arg("names"), " in a call: one alone if it is large.";
        "Give fewer ", arg("objects"), " in a call.";
        "Give fewer ", arg("parameters"), " in a call.";
        arg("section"), " returns one section."
    ]
}

/// Returns the resource with the content of a reply, if there is one. Its text can be read in parts.
#[must_use]
pub fn resource_of(operation: &str, reply: &Reply, resources: Resources) -> Option<Resource> {
    #[derive(Deserialize)]
    struct Ids {
        #[serde(rename = "checkpointId")]
        checkpoint: Option<String>,
    }
    if operation != "workflow_checkpoint_load" {
        return None;
    }
    let ids: Ids = serde_json::from_str(reply.json.get()).ok()?;
    let kind = resources
        .kinds()
        .iter()
        .find(|kind| kind.name == "checkpoint")?;
    let id = ids.checkpoint?;
    let resource = Resource::new(kind.address(&id), id)
        .with_title(kind.title)
        .with_description("The whole content; a large text is read in parts.")
        .with_mime_type(kind.mime);
    Some(resource)
}

/// Replaces a message that is too large for a line, with its id.
#[must_use]
pub fn replacement(
    message: &ServerJsonRpcMessage,
    bytes: usize,
    bytes_max: usize,
) -> ServerJsonRpcMessage {
    let id = match message {
        JsonRpcMessage::Response(response) => Some(response.id.clone()),
        JsonRpcMessage::Error(error) => error.id.clone(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    };
    ServerJsonRpcMessage::error(error(bytes, bytes_max), id)
}

/// Replaces the JSON of a response that is too large for a line, with its id.
#[must_use]
pub fn replacement_json(response: &[u8], bytes_max: usize) -> Vec<u8> {
    let error = error(response.len(), bytes_max);
    let message = ServerJsonRpcMessage::error(error, id_in(response));
    serde_json::to_vec(&message).unwrap_or_default()
}

/// The error for a response that is too large for a line.
fn error(bytes: usize, bytes_max: usize) -> ErrorData {
    let message = format!("the response has {bytes} bytes; a line of MCP has at most {bytes_max}");
    let body = ErrorBody::new(Code::ResponseTooLarge, message)
        .hint("Call a tool that returns the content in pages.");
    protocol_error(ErrorCode::INTERNAL_ERROR, &body)
}

/// Returns the length of a text as a JSON string.
#[must_use]
pub fn escaped_bytes(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..=0x1f => 6,
        _ => 1,
    };
    2 + text.bytes().map(escaped).sum::<usize>()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::api::hints::for_tools;
    use crate::api::operations::TABLE;
    use crate::api::tool_selection::ToolSelection;
    use crate::operation::Access;

    /// Reads whose replies cannot exceed a line: they hold one small thing, have a budget of their own, or are bounded by
    /// what was registered.
    const BOUNDED: [&str; 22] = [
        "backup_blob",
        "diagnose",
        "diff_context",
        "diff_session",
        "export_trace",
        "get_document_contexts",
        "get_entity",
        "get_index_summary",
        "get_session",
        "get_template",
        "get_work_item_list",
        "get_work_item_summary",
        "list_contexts",
        "list_extractors",
        "list_shares",
        "list_sources",
        "list_templates",
        "open_page",
        "status",
        "verify_log",
        "who",
        "why",
    ];

    /// Every read that can exceed a line names the arguments that return less.
    #[test]
    fn reads_say_what_to_request_instead() {
        let tools = ToolSelection::default();
        let mut without = Vec::new();
        for operation in TABLE.values().filter(|one| one.access == Access::Read) {
            let refusal = Refusal::new(Code::ResponseTooLarge, "").hint(instead());
            let hint = for_tools(&refusal, &tools, Some(operation.name)).hint;
            if hint.is_none() && !operation.name.starts_with("test_") {
                without.push(operation.name);
            }
        }
        assert_eq!(without, BOUNDED);
    }

    /// The length is exact.
    #[test]
    fn escapes_are_counted() {
        for text in [
            "",
            "a\"b\\c\n\r\t\u{8}\u{c}\u{0}\u{1f}\u{7f}é/",
            "{\"a\":[1]}",
        ] {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(escaped_bytes(text), json.len(), "{json}");
        }
    }
}
