//! The resources, and the small files that tools and prompts return.

use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, Resource, ResourceContents, ResourceTemplate,
};

/// A PNG of one red pixel, in Base64.
pub const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A WAV file without samples, in Base64.
pub const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";
/// The URI template, around its variable.
const TEMPLATE: (&str, &str) = ("test://template/", "/data");

/// Lists the resources.
pub fn list() -> ListResourcesResult {
    let all = [
        (TEXT, "static-text", "text/plain"),
        (BINARY, "static-binary", "image/png"),
        (WATCHED, "watched-resource", "text/plain"),
    ];
    let resources = all.map(|(uri, name, mime)| {
        Resource::new(uri, name)
            .with_description("A fixture.")
            .with_mime_type(mime)
    });
    ListResourcesResult::with_all_items(resources.to_vec())
}

/// Lists the URI template.
pub fn templates() -> ListResourceTemplatesResult {
    let template = format!("{}{{id}}{}", TEMPLATE.0, TEMPLATE.1);
    let template = ResourceTemplate::new(template, "template")
        .with_description("A fixture with a variable.")
        .with_mime_type("application/json");
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// Reads a resource, if it exists.
pub fn read(uri: &str) -> Option<ResourceContents> {
    let text = |text: &str| ResourceContents::text(text, uri);
    match uri {
        TEXT => Some(text("This is the content of the static text resource.")),
        WATCHED => Some(text("This resource can be watched.")),
        BINARY => Some(ResourceContents::blob(PNG, uri).with_mime_type("image/png")),
        _ => {
            let id = uri.strip_prefix(TEMPLATE.0)?.strip_suffix(TEMPLATE.1)?;
            let data = serde_json::json!({
                "id": id, "templateTest": true, "data": format!("Data for ID: {id}"),
            });
            Some(text(&data.to_string()).with_mime_type("application/json"))
        }
    }
}
