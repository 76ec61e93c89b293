//! The resource table as MCP resources.

use lore::protocol::ErrorBody;
use rmcp::ErrorData;
use rmcp::model::{
    ErrorCode, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};

use super::message::protocol_error;
use crate::api::hints::for_tools;
use crate::api::resources::{ResourcePage, Resources};
use crate::api::tool_selection::ToolSelection;
use crate::error::{Code, Refusal};
use crate::resource::{Entry, Kind};

/// Lists every kind as a resource template.
#[must_use]
pub fn templates(resources: Resources) -> ListResourceTemplatesResult {
    let templates = resources.kinds().iter().map(|kind| {
        ResourceTemplate::new(kind.template, kind.name)
            .with_title(kind.title)
            .with_description(kind.description)
            .with_mime_type(kind.mime)
    });
    ListResourceTemplatesResult::with_all_items(templates.collect())
}

/// Converts a page of a list.
#[must_use]
pub fn page(listed: ResourcePage) -> ListResourcesResult {
    let entries = listed.entries.into_iter();
    let resources = entries.map(|(kind, entry)| resource(kind, entry));
    let mut result = ListResourcesResult::with_all_items(resources.collect());
    result.next_cursor = listed.next;
    result
}

fn resource(kind: &Kind, entry: Entry) -> Resource {
    let uri = kind.address(&entry.id);
    let mut resource = Resource::new(uri, entry.id).with_mime_type(kind.mime);
    resource.title = entry.title;
    resource.description = entry.description;
    resource.size = entry.bytes;
    resource
}

/// Converts the text of a resource.
#[must_use]
pub fn contents(kind: &Kind, uri: String, text: String) -> ReadResourceResult {
    let contents = ResourceContents::text(text, uri).with_mime_type(kind.mime);
    ReadResourceResult::new(vec![contents])
}

/// Converts the refusal of a resource to a JSON-RPC error, because no result can carry it.
/// rmcp uses the newest era's separate code for missing resources.
#[must_use]
pub fn refused(refusal: &Refusal, tools: &ToolSelection, uri: Option<&str>) -> ErrorData {
    let body: ErrorBody = for_tools(refusal, tools, None);
    let code = match refusal.code {
        Code::InvalidInput => ErrorCode::INVALID_PARAMS,
        code if code.status() == 404 => ErrorCode::RESOURCE_NOT_FOUND,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let mut error = protocol_error(code, &body);
    if let (Some(Value::Object(data)), Some(uri)) = (&mut error.data, uri) {
        data.insert("uri".to_owned(), json!(uri));
    }
    error
}
