//! The host session that the metadata of a request states.

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::api::frames::check_host_session;
use crate::operation::Caller;

/// Name under which any client can state its host session in a request's `_meta`, as `KIND:ID`.
const STATED: &str = "lore/hostSession";
/// Names under which Codex tells the id of a conversation. Its servers get no environment, and one process can serve
/// several of its windows.
const OF_CODEX: [&str; 2] = ["threadId", "sessionId"];
/// Kinds that a client finds only when its host tells no id.
const WITHOUT_ID: [&str; 3] = ["process", "terminal", "program"];

/// Sets the host session of a caller from the metadata of its request. `LORE_SESSION` still wins, and the id of Codex
/// counts only where the connection states none.
pub fn state(caller: &mut Caller, meta: &JsonObject) {
    let kind = caller.host_session.as_deref();
    let kind = kind.and_then(|text| text.split(':').next());
    if kind == Some("session") {
        return;
    }
    let text = |name: &str| meta.get(name).and_then(Value::as_str);
    let of_codex = || {
        let is_codex = caller.actor.client.starts_with("codex");
        let is_without_id = kind.is_none_or(|kind| WITHOUT_ID.contains(&kind));
        let id = OF_CODEX.into_iter().find_map(text)?;
        (is_codex && is_without_id).then(|| format!("codex:{id}"))
    };
    let stated = text(STATED).map(str::to_owned).or_else(of_codex);
    // What a host says in a form of its own is passed over, so that its calls still work.
    if let Some(stated) = stated.filter(|stated| check_host_session(stated).is_ok()) {
        caller.host_session = Some(stated);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::log::Actor;

    fn stated(connection: Option<&str>, client: &str, meta: &Value) -> Option<String> {
        let mut caller = Caller {
            actor: Arc::new(Actor {
                client: client.to_owned(),
                ..Actor::default()
            }),
            host_session: connection.map(str::to_owned),
            ..Caller::default()
        };
        state(&mut caller, meta.as_object().unwrap());
        caller.host_session
    }

    #[test]
    fn a_request_states_its_host_session() {
        let meta = json!({"lore/hostSession": "mine:7"});
        assert_eq!(stated(None, "x/1", &meta).as_deref(), Some("mine:7"));
        let of_bridge = Some("process:1:2");
        assert_eq!(stated(of_bridge, "x/1", &meta).as_deref(), Some("mine:7"));
        let named = Some("session:release");
        assert_eq!(stated(named, "x/1", &meta).as_deref(), named);
        let wrong = json!({"lore/hostSession": "no kind"});
        assert_eq!(stated(of_bridge, "x/1", &wrong).as_deref(), of_bridge);
    }

    /// The ids of Codex count in its own requests, and only if the connection has no id of a host.
    #[test]
    fn codex_tells_its_conversation_in_each_request() {
        let meta = json!({"threadId": "t-1", "sessionId": "s-1"});
        let codex = "codex-mcp-client/0.169";
        let of_bridge = Some("process:1:2");
        assert_eq!(
            stated(of_bridge, codex, &meta).as_deref(),
            Some("codex:t-1")
        );
        assert_eq!(stated(of_bridge, "other/1", &meta).as_deref(), of_bridge);
        let claude = Some("claude:c");
        assert_eq!(stated(claude, codex, &meta).as_deref(), claude);
    }
}
