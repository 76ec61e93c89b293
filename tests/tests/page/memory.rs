//! A daemon whose memory has something for every view.

use serde_json::{Value, json};
use tests::{Daemon, Home};

/// A daemon and what it has recorded.
pub struct Memory {
    /// `None` while it is stopped.
    daemon: Option<Daemon>,
    home: Home,
    session: String,
    pack: String,
    prompt: String,
    project: String,
    notes: [u64; 2],
    checkpoints: Vec<String>,
}

impl Memory {
    /// Records a short conversation with steps, an entity, checkpoints and a pack.
    pub fn new() -> Self {
        let home = tests::home!();
        let daemon = home.start();
        let call = |name: &str, args: Value| daemon.call(name, args);
        call(
            "create_session",
            json!({"session": "talk", "title": "The gateway's port"}),
        );
        call("create_session", json!({"session": "hostile"}));
        let say = |sender: &str, content: &str| json!({"session": "talk", "sender": sender, "content": content});
        call(
            "record_message",
            say(
                "user",
                "Which port does the gateway behind dc001-leaf-001 listen on?",
            ),
        );
        let author =
            json!({"id": 17, "author": {"email": "dev@example.com"}, "device": "dc001-leaf-001"});
        call(
            "record_step",
            json!({"session": "talk", "tool": "get_pull_request", "parameters": {"number": 17}, "result": author}),
        );
        call(
            "record_step",
            json!({"session": "talk", "tool": "Bash", "error": "connection refused", "success": false}),
        );
        call(
            "record_message",
            say(
                "assistant",
                "The gateway listens on port 8443, says dc001-leaf-001.",
            ),
        );
        let mut checkpoints = Vec::new();
        for context in [
            json!({"task": "find the port", "open": [1, 2]}),
            json!({"task": "find the port", "found": 8443}),
        ] {
            let reply = call(
                "workflow_checkpoint_save",
                json!({"sessionId": "talk", "context": context}),
            );
            checkpoints.push(text(&reply, "checkpointId"));
        }
        let pack = call(
            "enrich_message",
            json!({"session": "talk", "message": "Which port was it?", "max_tokens": 2000}),
        );
        let folder = home.path().join("shop");
        std::fs::create_dir(&folder).expect("a folder for the project");
        let project = text(
            &call("init_project", json!({"path": folder, "name": "Shop"})),
            "project",
        );
        let notes = ["the till", "the ledger"].map(|what| {
            let note =
                json!({"project_id": project, "file_type": "mental_model", "content": note(what)});
            let written = call("update_context", note);
            written["position"].as_u64().expect("a position")
        });
        let (pack, prompt) = (text(&pack, "pack"), text(&pack, "prompt"));
        Self {
            daemon: Some(daemon),
            home,
            session: "talk".to_owned(),
            pack,
            prompt,
            project,
            notes,
            checkpoints,
        }
    }

    fn daemon(&self) -> &Daemon {
        self.daemon.as_ref().expect("a daemon that runs")
    }

    /// Stops the daemon.
    pub fn stop(&mut self) {
        self.daemon.take().expect("a daemon that runs").stop();
    }

    /// Repairs the store of a stopped daemon.
    pub fn repair(&self) {
        let output = self.home.run(&["repair"]);
        assert!(output.status.success(), "{output:?}");
    }

    /// Starts the daemon again.
    pub fn start(&mut self) {
        self.daemon = Some(self.home.start());
    }

    /// Records something as another program.
    pub fn record(&self, name: &str, args: Value) {
        self.daemon().call(name, args);
    }

    /// Returns a link to the page.
    pub fn link(&self) -> String {
        text(&self.daemon().call("open_page", json!({})), "url")
    }

    /// Returns what `lore page --export` writes.
    pub fn export(&self, session: &str) -> Vec<u8> {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_lore-under-test"))
            .args(["page", "--export", session])
            .env("LORE_HOME", self.home.path())
            .output()
            .expect("lore runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    }

    /// Returns the session with the conversation.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the pack.
    pub fn pack(&self) -> &str {
        &self.pack
    }

    /// Returns the project with notes.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// Returns the positions of the two versions of its notes.
    pub fn notes(&self) -> [u64; 2] {
        self.notes
    }

    /// Returns the text of the pack.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Returns the checkpoints, the older one first.
    pub fn checkpoints(&self) -> &[String] {
        &self.checkpoints
    }
}

/// Returns notes that their template accepts.
fn note(what: &str) -> String {
    format!(
        "# Mental Model\n\n## System Overview\n\nA shop with {what}: it keeps every sale on the device and sends it to the office as \
         soon as there is a network.\n\n- **Confidence**: Medium\n- **Last Verified**: 2025-02-03\n\n\
         ## Components\n\n- **Till**\n  - **Purpose**: Takes sales\n  - **Location**: `till/`\n  - **Dependencies**: Ledger\n  \
         - **Key Functions**: `Till::sell()`\n  - **Last Verified**: 2025-02-03\n\n\
         ## Data Flow\n\nA sale is written to the ledger of the device, put into a parcel once there are ten, and taken out when the \
         office has answered.\n\n## Key Decisions\n\n- **Sales are kept on the device**\n  - **Context**: Markets have bad networks\n  \
         - **Options**: Ask the office each time\n  - **Chosen**: A ledger of its own\n  - **Impact**: Prices may be a day old\n  \
         - **Last Validated**: 2025-02-03\n\n## Context Links\n\n- `docs/till.md`: how a till is set up\n"
    )
}

fn text(reply: &Value, member: &str) -> String {
    let text = reply[member].as_str();
    text.unwrap_or_else(|| panic!("{member} in {reply}"))
        .to_owned()
}
