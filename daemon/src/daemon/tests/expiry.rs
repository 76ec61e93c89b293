//! Tests of session expiry and leases, with a clock that the test moves.

use crate::clock::Micros;
use crate::error::{Code, Refusal};

use super::*;

const SECOND: Micros = 1_000_000;
const NOW: Micros = 1_800_000_000 * SECOND;

/// One user's memory and its clock.
struct Fixture {
    tenant: Tenant,
    clock: Arc<Clock>,
    _folder: tempfile::TempDir,
}

impl Fixture {
    /// Creates a memory with a session `s-1`.
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Clock::fixed(NOW, 1));
        let shared = shared(folder.path(), Arc::clone(&clock));
        let data = DataFolder::new(&shared.paths.data, shared.paths.seals());
        let memory = Self {
            tenant: Tenant::open(&shared, data, None).unwrap(),
            clock,
            _folder: folder,
        };
        memory.call("create_session", json!({})).await;
        memory
    }

    async fn try_call(&self, name: &str, mut args: Value) -> Result<Value, Refusal> {
        let session = match name {
            "workflow_checkpoint_save" => "sessionId",
            _ => "session",
        };
        if name != "list_sessions" && name != "status" {
            args[session] = "s-1".into();
        }
        let cx = Arc::clone(self.tenant.context());
        let args = Args::Json(args.to_string().into_bytes());
        let operation = TABLE.get(name).unwrap();
        let reply = operation.call(cx, Caller::default(), args).await?;
        Ok(serde_json::from_str(reply.json.get()).unwrap())
    }

    async fn call(&self, name: &str, args: Value) -> Value {
        self.try_call(name, args).await.unwrap()
    }

    async fn is_refused(&self, name: &str, args: Value, code: Code, words: &str) {
        let refusal = self.try_call(name, args).await.unwrap_err();
        assert_eq!(refusal.code, code, "{name}: {}", refusal.message);
        assert!(
            refusal.message.contains(words),
            "{name}: {}",
            refusal.message
        );
    }

    async fn state(&self) -> Value {
        self.call("get_session", json!({})).await["state"].clone()
    }

    async fn listed(&self, args: Value) -> usize {
        let reply = self.call("list_sessions", args).await;
        reply["sessions"].as_array().unwrap().len()
    }

    /// Advances the clock by the session expiry time.
    fn expire(&self) {
        let set = self
            .tenant
            .context()
            .extensions
            .get::<Reloadable<sessions::SessionSettings>>();
        self.clock
            .advance(set.unwrap().get().expire_after_ms * 1000);
    }
}

/// A session without activity for the configured time expires: it disappears only from the default session list. A
/// write revives it, a read does not.
#[tokio::test]
async fn a_session_expires_and_is_revived() {
    let memory = Fixture::new().await;
    let say = || memory.call("record_message", json!({"sender": "user", "content": "x"}));
    let said = say().await;
    assert_eq!(memory.state().await, "active");
    memory.expire();
    assert_eq!(memory.state().await, "expired");
    for (args, listed) in [
        (json!({}), 0),
        (json!({"state": "active"}), 0),
        (json!({"state": "expired"}), 1),
        (json!({"state": "any"}), 1),
    ] {
        assert_eq!(memory.listed(args.clone()).await, listed, "{args}");
    }
    let messages = memory.call("list_messages", json!({})).await;
    assert_eq!(messages["messages"].as_array().unwrap().len(), 1);
    assert_eq!(memory.state().await, "expired", "a read revives nothing");
    assert!(say().await["position"].as_u64() > said["position"].as_u64());
    assert_eq!(memory.state().await, "active");
    assert_eq!(memory.listed(json!({})).await, 1);
    memory.expire();
    let reply = memory.call("update_session", json!({"topic": "o"})).await;
    assert_eq!(reply["topic"], "o", "an expired session takes writes");
    assert_eq!(memory.state().await, "active");
}

/// A session without activity for a long time cannot be pruned, because pruning would not revive it.
#[tokio::test]
async fn an_expired_session_is_not_pruned() {
    let memory = Fixture::new().await;
    memory.expire();
    for name in ["prune_session", "reset_pruning"] {
        memory
            .is_refused(name, json!({}), Code::SessionExpired, "")
            .await;
    }
}

/// A lease expires by itself. The next holder then fences off the earlier one: every write with the old token is
/// refused by every operation, and so is a renewal. Nothing of a refused write is recorded.
#[tokio::test]
async fn a_lost_lease_fences_writes() {
    let memory = Fixture::new().await;
    // The latest checkpoint already contains the fenced save's data: it is refused nevertheless.
    let saved = json!({"context": {"x": 1}});
    memory.call("workflow_checkpoint_save", saved).await;
    let ada = json!({"agent": "ada", "ms": 1000});
    let first = memory.call("lease_session", ada).await["token"].clone();
    let bob = json!({"agent": "bob"});
    let lease_bob = |code| memory.is_refused("lease_session", bob.clone(), code, "`ada` until");
    lease_bob(Code::Conflict).await;
    memory.clock.advance(SECOND);
    let second = memory.call("lease_session", bob.clone()).await["token"].clone();
    let position = memory.call("status", json!({})).await["position"].clone();
    for (operation, mut args) in [
        ("record_message", json!({"sender": "user", "content": "x"})),
        ("record_tool", json!({"tool": "x"})),
        ("record_step", json!({"tool": "x", "result": 1})),
        ("update_session", json!({"title": "x"})),
        ("close_session", json!({})),
        ("workflow_checkpoint_save", json!({"context": {"x": 1}})),
        (
            "relate_entities",
            json!({"from": {"kind": "device", "name": "a"}, "relation": "beside",
                "to": {"kind": "device", "name": "b"}}),
        ),
        ("unmerge_entity", json!({"name": "a"})),
    ] {
        args["fence"] = first.clone();
        memory
            .is_refused(operation, args, Code::Conflict, "`bob` until")
            .await;
    }
    let renew = json!({"agent": "ada", "token": first});
    memory
        .is_refused("lease_session", renew, Code::Conflict, "`bob` until")
        .await;
    assert_eq!(memory.call("status", json!({})).await["position"], position);
    let fenced = json!({"sender": "user", "content": "x", "fence": second});
    memory.call("record_message", fenced).await;
}
