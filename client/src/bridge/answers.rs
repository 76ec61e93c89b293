//! Responses that the bridge produces itself: `initialize`, `server/discover` and `tools/list` while the daemon starts,
//! and errors when the daemon cannot be reached.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::protocol::tools::{
    HAS_RESOURCES, MCP_VERSION_INITIALIZE, MCP_VERSION_MODERN, MCP_VERSIONS, SERVER_NAME,
    SERVER_TITLE, SERVER_VERSION, instructions_for,
};
use crate::protocol::{TOOLS_META, Toolset};

/// JSON-RPC's code for a server error without a more specific code.
const SERVER_ERROR: i64 = -32000;

/// JSON-RPC's code for an invalid request.
const INVALID_REQUEST: i64 = -32600;

#[derive(Serialize)]
struct Response<'a, R> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: R,
}

#[derive(Serialize)]
struct Capabilities {
    completions: Empty,
    prompts: Empty,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Resources>,
    tools: Empty,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resources {
    subscribe: bool,
    list_changed: bool,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct ServerInfo {
    name: &'static str,
    title: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InitializeResult<'a> {
    protocol_version: &'a str,
    capabilities: Capabilities,
    server_info: ServerInfo,
    instructions: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiscoverResult {
    result_type: &'static str,
    supported_versions: [&'static str; MCP_VERSIONS.len()],
    capabilities: Capabilities,
    instructions: String,
    ttl_ms: u64,
    cache_scope: &'static str,
    #[serde(rename = "_meta")]
    meta: DiscoverMeta,
}

#[derive(Serialize)]
struct DiscoverMeta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server_info: ServerInfo,
}

const CAPABILITIES: Capabilities = Capabilities {
    completions: Empty {},
    prompts: Empty {},
    resources: if HAS_RESOURCES {
        Some(Resources {
            subscribe: true,
            list_changed: true,
        })
    } else {
        None
    },
    tools: Empty {},
};
const SERVER_INFO: ServerInfo = ServerInfo {
    name: SERVER_NAME,
    title: SERVER_TITLE,
    version: SERVER_VERSION,
};

/// Answers an `initialize` line, byte for byte as the daemon does; `None` when the line is invalid,
/// because the daemon reports that error. `tools` are those that the bridge asks for; the line may name others.
pub fn initialize(line: &[u8], tools: Option<&str>) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Request<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
        params: Params,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        protocol_version: String,
        // Required by the protocol: the daemon refuses requests without them.
        #[serde(rename = "capabilities")]
        _capabilities: serde::de::IgnoredAny,
        #[serde(rename = "clientInfo")]
        _client_info: serde::de::IgnoredAny,
        #[serde(default, rename = "_meta")]
        meta: serde_json::Map<String, serde_json::Value>,
    }
    let request: Request<'_> = serde_json::from_slice(line).ok()?;
    let wanted = request.params.protocol_version.as_str();
    let tools = match request.params.meta.get(TOOLS_META) {
        Some(named) => Some(named.as_str()?),
        None => tools,
    };
    let has_initialize = wanted != MCP_VERSION_MODERN && MCP_VERSIONS.contains(&wanted);
    let result = InitializeResult {
        protocol_version: if has_initialize {
            wanted
        } else {
            MCP_VERSION_INITIALIZE
        },
        capabilities: CAPABILITIES,
        server_info: SERVER_INFO,
        instructions: instructions_for(tools)?,
    };
    response(request.id, result)
}

/// Answers a `server/discover` line, byte for byte as the daemon does; `None` when the line is invalid,
/// because the daemon reports that error. `tools` are those that the bridge asks for.
pub fn discover(line: &[u8], tools: Option<&str>) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Request<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
        protocol_version: String,
        #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
        _capabilities: serde_json::Map<String, serde_json::Value>,
    }
    let request: Request<'_> = serde_json::from_slice(line).ok()?;
    let spoken = MCP_VERSIONS.contains(&request.params.meta.protocol_version.as_str());
    let result = DiscoverResult {
        result_type: "complete",
        supported_versions: MCP_VERSIONS,
        capabilities: CAPABILITIES,
        instructions: instructions_for(tools)?,
        ttl_ms: 0,
        cache_scope: "private",
        meta: DiscoverMeta {
            server_info: SERVER_INFO,
        },
    };
    spoken.then(|| response(request.id, result)).flatten()
}

/// The tools of the default selection, as the daemon lists them. A test of the daemon compares and renews them.
const CORE_TOOLS: &str = include_str!("core_tools.json");

/// Answers a `tools/list` line for the default selection, byte for byte as the daemon does; `None` for any other, which
/// only the daemon knows.
pub fn list_tools(line: &[u8], tools: Option<&str>) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Request<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
        #[serde(default)]
        params: Params,
    }
    #[derive(Default, Deserialize)]
    struct Params {
        #[serde(default)]
        cursor: Option<String>,
        #[serde(default, rename = "_meta")]
        meta: serde_json::Map<String, serde_json::Value>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct ListResult {
        #[serde(skip_serializing_if = "Option::is_none")]
        result_type: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        ttl_ms: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_scope: Option<&'static str>,
        tools: &'static RawValue,
    }
    let Request { id, params } = serde_json::from_slice(line).ok()?;
    let named = match params.meta.get(TOOLS_META) {
        Some(named) => Some(named.as_str()?),
        None => tools,
    };
    let sets = named.map_or(Ok(vec![Toolset::Core]), Toolset::list).ok()?;
    if params.cursor.is_some() || sets != [Toolset::Core] {
        return None;
    }
    let version = params.meta.get("io.modelcontextprotocol/protocolVersion");
    let is_modern = match version.map(serde_json::Value::as_str) {
        None => false,
        Some(version) => {
            if !MCP_VERSIONS.contains(&version?) {
                return None;
            }
            version == Some(MCP_VERSION_MODERN)
        }
    };
    let result = ListResult {
        result_type: is_modern.then_some("complete"),
        ttl_ms: is_modern.then_some(0),
        cache_scope: is_modern.then_some("private"),
        tools: serde_json::from_str(CORE_TOOLS).ok()?,
    };
    response(id, result)
}

fn response<R: Serialize>(id: &RawValue, result: R) -> Option<Vec<u8>> {
    serde_json::to_vec(&Response {
        jsonrpc: "2.0",
        id,
        result,
    })
    .ok()
}

/// Encodes an error for a request that the daemon does not answer; `id` is JSON.
pub(super) fn unreachable(id: &str, message: &str, hint: Option<&str>) -> Vec<u8> {
    error(Some(id), SERVER_ERROR, message, hint)
}

/// Encodes an error for a line over its limit; `id` is JSON, if it was found.
pub(super) fn too_long(id: Option<&str>, bytes_max: usize) -> Vec<u8> {
    let message = format!("a message is over the limit of {bytes_max} bytes");
    error(id, INVALID_REQUEST, &message, Some("send it in parts"))
}

fn error(id: Option<&str>, code: i64, message: &str, hint: Option<&str>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Response<'a> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<Box<RawValue>>,
        error: Error<'a>,
    }
    #[derive(Serialize)]
    struct Error<'a> {
        code: i64,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<Data<'a>>,
    }
    #[derive(Serialize)]
    struct Data<'a> {
        hint: &'a str,
    }
    let id = id.and_then(|id| RawValue::from_string(id.to_owned()).ok());
    let error = Error {
        code,
        message,
        data: hint.map(|hint| Data { hint }),
    };
    serde_json::to_vec(&Response {
        jsonrpc: "2.0",
        id,
        error,
    })
    .unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn initialized(version: &str) -> Value {
        let line = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "h", "version": "1"}}});
        serde_json::from_slice(&initialize(line.to_string().as_bytes(), None).unwrap()).unwrap()
    }

    #[test]
    fn initialize_answers_with_the_version_asked_for_or_the_newest() {
        let answer = initialized("2025-06-18");
        assert_eq!(answer["id"], "a");
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
        let capabilities = answer["result"]["capabilities"].as_object().unwrap();
        assert_eq!(capabilities["tools"], json!({}));
        assert_eq!(capabilities.contains_key("resources"), HAS_RESOURCES);
        assert_eq!(
            initialized("2026-07-28")["result"]["protocolVersion"],
            "2025-11-25"
        );
        assert_eq!(
            initialized("1999-01-01")["result"]["protocolVersion"],
            "2025-11-25"
        );
        assert_eq!(initialize(br#"{"id":1,"method":"initialize"}"#, None), None);
    }

    #[test]
    fn discover_answers_what_is_complete_alone() {
        let line = |version: &str| {
            json!({"id": 3, "method": "server/discover", "params": {"_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {}}}})
            .to_string()
        };
        let answer = discover(line("2026-07-28").as_bytes(), None).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["id"], 3);
        assert_eq!(answer["result"]["supportedVersions"], json!(MCP_VERSIONS));
        assert_eq!(answer["result"]["resultType"], "complete");
        assert_eq!(discover(line("2030-01-01").as_bytes(), None), None);
        assert_eq!(discover(br#"{"id":3,"params":{}}"#, None), None);
    }
}
