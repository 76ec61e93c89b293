//! Values from request metadata: the tools to list, and the key of a repeated write.

use lore::protocol::{Code, ErrorBody, TOOLS_META};
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, RequestId, RequestMetaObject};

use super::line_error::protocol_error;
use crate::api::tool_selection::ToolSelection;
use crate::log::Hash;
use crate::operation::KEY_BYTES_MAX;

/// Returns the tools that a request's `_meta` selects, if any.
pub fn named_tools(meta: &RequestMetaObject) -> Result<Option<ToolSelection>, ErrorData> {
    let Some(named) = meta.get(TOOLS_META) else {
        return Ok(None);
    };
    let refused = |body: ErrorBody| protocol_error(ErrorCode::INVALID_PARAMS, &body);
    let Some(list) = named.as_str() else {
        let message = format!("`{TOOLS_META}` of `_meta` is a text");
        return Err(refused(ErrorBody::new(Code::InvalidInput, message)));
    };
    ToolSelection::read(Some(list)).map(Some).map_err(refused)
}

/// Derives the key of a write without a key. It stays the same when the bridge repeats the line.
pub fn key_of(bridge: &str, id: &RequestId) -> String {
    let id = id.clone().into_json_value();
    let key = format!("bridge:{bridge}:{id}");
    if key.len() <= KEY_BYTES_MAX {
        key
    } else {
        format!("bridge:{}", Hash::of(key.as_bytes()))
    }
}
