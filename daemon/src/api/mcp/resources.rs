//! The resource table as MCP resources.

use lore::protocol::ErrorBody;
use rmcp::ErrorData;
use rmcp::model::{
    ErrorCode, JsonObject, ListResourceTemplatesResult, ListResourcesResult, MetaObject,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};

use super::line_error::protocol_error;
use super::too_large::{AROUND_BYTES, escaped_bytes};
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

/// Converts the text of a resource, in parts if it is too large for a line of `bytes_max`.
///
/// # Errors
/// `NOT_FOUND` for a part that the text does not have.
pub fn contents(
    kind: &Kind,
    uri: String,
    text: String,
    bytes_max: usize,
) -> Result<ReadResourceResult, Refusal> {
    let (base, number) = part_of(&uri);
    if number.is_none() && escaped_bytes(&text) + AROUND_BYTES <= bytes_max {
        let contents = ResourceContents::text(text, uri).with_mime_type(kind.mime);
        return Ok(ReadResourceResult::new(vec![contents]));
    }
    let parts = Parts::of(&text, bytes_max / PART_DIVISOR);
    let (number, count) = (number.unwrap_or(1), parts.0.len());
    let part = number.checked_sub(1).and_then(|at| parts.0.get(at));
    let Some(part) = part else {
        let message = format!("resource {base} has {count} parts, not a part {number}");
        return Err(Refusal::new(Code::NotFound, message));
    };
    let this = format!("{base}{PART}{number}");
    let mut contents = vec![ResourceContents::text(*part, this).with_mime_type(kind.mime)];
    let about = [
        ("lore/part", json!(number)),
        ("lore/parts", json!(count)),
        ("lore/bytes", json!(text.len())),
    ];
    let mut meta: JsonObject = about
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect();
    if number < count {
        let next = format!("{base}{PART}{}", number + 1);
        let note = format!("Part {number} of {count}. The next part is the resource {next}.");
        contents.push(ResourceContents::text(note, &next).with_mime_type("text/plain"));
        meta.insert("lore/next".to_owned(), json!(next));
    }
    let mut result = ReadResourceResult::new(contents);
    result.meta = Some(MetaObject(meta));
    Ok(result)
}

/// Separates a URI from the number of a part of its text.
const PART: &str = "/@";
/// A part has this share of a line: every byte may need six in JSON.
const PART_DIVISOR: usize = 8;

/// Splits the number of a part from a URI.
#[must_use]
pub fn part_of(uri: &str) -> (&str, Option<usize>) {
    let split = uri.rsplit_once(PART);
    match split.and_then(|(base, number)| Some((base, number.parse().ok()?))) {
        Some((base, number)) => (base, Some(number)),
        None => (uri, None),
    }
}

/// A text in parts, cut between characters.
struct Parts<'t>(Vec<&'t str>);

impl<'t> Parts<'t> {
    fn of(text: &'t str, bytes_max: usize) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while rest.len() > bytes_max {
            let (part, after) = rest.split_at(rest.floor_char_boundary(bytes_max.max(4)));
            parts.push(part);
            rest = after;
        }
        parts.push(rest);
        Self(parts)
    }
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
