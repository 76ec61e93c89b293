//! Whose session a call is about, over every transport: the bridge, the command line, the socket and HTTP.

use lore::connection::Connection;
use lore::protocol::frame::Hello;
use serde_json::{Value, json};
use tests::{ColdHome, call, cold, has_words, home, serve};

use super::client::Host;
use super::http;

const CLAUDE: &str = "CLAUDE_CODE_SESSION_ID";

/// Starts a window of a host: a bridge with these variables.
fn window(cold: &ColdHome, variables: &[(&str, &str)]) -> Host {
    let mut bridge = cold.lore(&["mcp"]);
    bridge.envs(variables.iter().copied());
    let mut host = Host::of(&mut bridge);
    host.initialize();
    host
}

fn record(host: &mut Host, id: u64) -> Value {
    let args = json!({"tool": "t", "result": {"id": id}});
    host.call(id, "record_step", args)
}

fn resolve(host: &mut Host) -> Value {
    let args = json!({"names": ["ID_FROM_STEP_LAST"]});
    host.call(90, "resolve_variables", args)
}

/// Two windows of a host that tells the ids of its conversations never mix, and a resumed one goes on.
#[test]
fn windows_with_ids() {
    let cold = cold!();
    let mut one = window(&cold, &[(CLAUDE, "one")]);
    let mut two = window(&cold, &[(CLAUDE, "two")]);
    let first = record(&mut one, 11);
    let second = record(&mut two, 22);
    assert_ne!(first["session"], second["session"]);
    assert_eq!(resolve(&mut one)["resolutions"][0]["value"], 11);
    let found = resolve(&mut two);
    assert_eq!(found["resolutions"][0]["value"], 22);
    assert_eq!(found["chosen_by"], "host_session");
    drop(one);
    let mut resumed = window(&cold, &[(CLAUDE, "one")]);
    let next = record(&mut resumed, 12);
    assert_eq!(next["session"], first["session"]);
    assert_eq!(next["step"], 2);
    // A command in a window's shell is of the same conversation.
    let by_hand = cold
        .lore(&["--json", "step", "record", "t", "13"])
        .env(CLAUDE, "two")
        .output()
        .unwrap();
    let by_hand: Value = serde_json::from_slice(&by_hand.stdout).unwrap();
    assert_eq!(by_hand["session"], second["session"]);
    assert_eq!(by_hand["chosen_by"], "host_session");
    // `LORE_SESSION` wins over the host's id.
    let named = cold
        .lore(&["--json", "step", "record", "t", "14"])
        .envs([(CLAUDE, "two"), ("LORE_SESSION", "by-hand")])
        .output()
        .unwrap();
    let named: Value = serde_json::from_slice(&named.stdout).unwrap();
    assert_eq!(named["session"], "by-hand");
    // A person in the folder, who has recorded nothing, sees what agents did.
    let newest = cold.json(&["--json", "--agent", "ada", "session", "show"]);
    assert_eq!(newest["session"], "by-hand");
    assert_eq!(newest["chosen_by"], "project");
}

/// Windows of a host without ids: bridges that one process starts at the same time have sessions of their own, and a
/// bridge that it starts again goes on.
#[test]
fn windows_without_ids() {
    let cold = cold!();
    let mut one = window(&cold, &[]);
    let first = record(&mut one, 11);
    let mut two = window(&cold, &[]);
    // A window that has recorded nothing gets what the project has, and is told whose it is.
    let found = resolve(&mut two);
    assert_eq!(found["resolutions"][0]["value"], 11);
    assert_eq!(found["chosen_by"], "project");
    has_words(
        found["warnings"][0].as_str().unwrap(),
        &[first["session"].as_str().unwrap(), "`host`"],
    );
    let second = record(&mut two, 22);
    assert_ne!(first["session"], second["session"]);
    assert_eq!(resolve(&mut one)["resolutions"][0]["value"], 11);
    assert_eq!(resolve(&mut two)["resolutions"][0]["value"], 22);
}

/// A model reads in the text of a result whose session was used, also if only the metadata has the warning.
#[test]
fn a_model_reads_whose_session_it_is() {
    let cold = cold!();
    let mut one = window(&cold, &[(CLAUDE, "one")]);
    let saved = one.call(1, "workflow_checkpoint_save", json!({"context": {"a": 1}}));
    record(&mut one, 2);
    let session = saved["sessionId"].as_str().unwrap();
    let mut two = window(&cold, &[(CLAUDE, "two")]);
    for (name, args) in [
        ("workflow_checkpoint_list", json!({})),
        ("workflow_checkpoint_load", json!({})),
        ("resolve_variables", json!({"names": ["ID_FROM_STEP_1"]})),
    ] {
        let result = two.result(3, name, args);
        let texts = result["content"].as_array().unwrap().iter();
        let texts: Vec<&str> = texts.map(|text| text["text"].as_str().unwrap()).collect();
        let told = texts.iter().filter(|text| text.contains("newest session"));
        assert_eq!(told.count(), 1, "{name}: {texts:?}");
        has_words(texts.join("\n"), &[session, "`host`"]);
    }
}

/// A person at a prompt sees what agents did in the folder.
#[test]
fn a_person_sees_what_agents_did() {
    let cold = cold!();
    let mut agent = window(&cold, &[(CLAUDE, "one")]);
    let args = json!({"sender": "user", "content": "the uplink of switch-nyc-09 flaps"});
    let said = agent.call(1, "record_message", args);
    let session = said["session"].as_str().unwrap();
    agent.call(2, "workflow_checkpoint_save", json!({"context": {"a": 1}}));
    for words in [
        &["session", "show"][..],
        &["message", "list"],
        &["pack", "is it up?"],
        &["checkpoint", "list"],
        &["checkpoint", "load"],
    ] {
        let output = cold.run(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        has_words(&told, &[session, "newest session"]);
    }
    let listed = cold.run(&["message", "list"]);
    has_words(String::from_utf8_lossy(&listed.stdout), &["switch-nyc-09"]);
    // A lease alone makes no session.
    let leased = cold.run(&["session", "lease"]);
    assert_eq!(leased.status.code(), Some(1));
    has_words(
        String::from_utf8_lossy(&leased.stderr),
        &["no session", "record"],
    );
    let sessions = cold.json(&["--json", "session", "list"]);
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
}

/// Two host sessions of one agent over the socket, and one whose form is refused.
#[test]
fn connections_state_theirs() {
    let (_home, daemon) = serve!();
    let connect = |host_session: &str| {
        let hello = Hello {
            agent: Some("a".to_owned()),
            host_session: Some(host_session.to_owned()),
            ..Hello::default()
        };
        Connection::connect(daemon.socket(), &hello)
    };
    let record = |connection: &mut Connection| {
        let args = json!({"tool": "t", "result": 1});
        call(connection, "record_step", args).unwrap()["session"].clone()
    };
    let one = record(&mut connect("mine:1").unwrap());
    let two = record(&mut connect("mine:2").unwrap());
    assert_ne!(one, two);
    assert_eq!(record(&mut connect("mine:1").unwrap()), one);
    for wrong in ["no kind", "session:a b", "mine:\u{7}"] {
        let refused = connect(wrong).unwrap_err().to_body();
        assert_eq!(refused.code.as_str(), "INVALID_INPUT", "{wrong}");
    }
}

/// Over HTTP each request states its host session in its head.
#[test]
fn requests_state_theirs() {
    let home = home!();
    let (_daemon, port) = http::serving(&home, "");
    let token = http::token(&home);
    let post = |host_session: &str, name: &str, arguments: Value| {
        let head = format!(
            "Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
             Lore-Host-Session: {host_session}\r\n"
        );
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        });
        let (status, _, body) = http::post(port, &head, &body);
        let answer: Value = serde_json::from_str(&body).unwrap();
        (status, answer["result"]["structuredContent"].clone())
    };
    let record = |host_session: &str| {
        let args = json!({"tool": "t", "result": {"id": 7}});
        post(host_session, "record_step", args).1["session"].clone()
    };
    let (one, two) = (record("mine:1"), record("mine:2"));
    assert!(one.is_string() && one != two, "{one} {two}");
    assert_eq!(record("mine:1"), one);
    let args = json!({"names": ["ID_FROM_STEP_2"]});
    let (_, found) = post("mine:3", "resolve_variables", args);
    assert_eq!(found["resolutions"][0]["value"], 7);
    assert_eq!(found["session"], one);
    assert_eq!(found["chosen_by"], "project");
    assert_eq!(post("wrong", "status", json!({})).0, 400);
}

/// A folder that holds everything identifies no project, over every transport: what is recorded there is in a session
/// without a project, and the reply says so once.
#[test]
fn folders_that_hold_everything() {
    let cold = cold!();
    for folder in ["/", "/usr/local/lib", "/tmp"] {
        let mut bridge = cold.lore(&["mcp"]);
        let mut host = Host::of(bridge.env(CLAUDE, folder).current_dir(folder));
        host.initialize();
        let said = host.call(
            1,
            "record_message",
            json!({"sender": "user", "content": "hello"}),
        );
        assert_eq!(said["chosen_by"], "new", "{said}");
        has_words(
            said["warnings"][0].as_str().unwrap(),
            &["no project", folder],
        );
        let step = record(&mut host, 2);
        assert_eq!(step["session"], said["session"]);
        assert_eq!(step.get("warnings"), None, "{step}");
        let saved = host.call(3, "workflow_checkpoint_save", json!({"context": {"a": 1}}));
        assert_eq!(saved["sessionId"], said["session"], "{saved}");
        let by_hand = cold
            .lore(&["step", "record", "t", "13"])
            .current_dir(folder)
            .env(CLAUDE, format!("{folder}2"))
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&by_hand.stderr);
        has_words(&told, &["no project", folder]);
        for words in [
            &["message", "list"][..],
            &["session", "show"],
            &["pack", "hello?"],
        ] {
            let output = cold.lore(words).current_dir(folder).output().unwrap();
            assert!(output.status.success(), "{words:?}: {output:?}");
        }
        // A context file needs a project.
        let refused = cold
            .lore(&["context", "list"])
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(!refused.status.success());
        has_words(
            String::from_utf8_lossy(&refused.stderr),
            &["does not identify"],
        );
    }
    let sessions = cold.json(&["--json", "session", "list"]);
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 6);
    for session in sessions["sessions"].as_array().unwrap() {
        assert_eq!(session.get("project"), None, "{session}");
    }
    let projects = cold.json(&["--json", "project", "list"]);
    assert_eq!(projects["projects"], json!([]));
}
