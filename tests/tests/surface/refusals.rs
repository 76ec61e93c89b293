//! The text of every error, by code.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use lore::connection::{Connection, Error};
use lore::protocol::{Code, ErrorBody};
use serde_json::{Map, Value, json};
use tests::{Daemon, Peer, call, home, until};

use crate::assert_snapshot;
use crate::redact::Redactor;

const SCRIPT: &str = include_str!("refusals.txt");

/// Codes that no simple call gets: the daemon itself has to fail, its memory for calls to be exhausted, or a reply to be
/// larger than a frame.
const UNREACHABLE: [Code; 3] = [
    Code::Internal,
    Code::ResourceExhausted,
    Code::ResponseTooLarge,
];

/// Errors by their code, each with the first call that got it.
#[derive(Default)]
struct Refusals {
    redactor: Redactor,
    found: BTreeMap<&'static str, Vec<(String, String)>>,
}

impl Refusals {
    fn add(&mut self, call: &str, body: &ErrorBody) {
        let mut text = self.redactor.redact(&body.message);
        if let Some(hint) = &body.hint {
            text += &format!("\n{}", self.redactor.redact(hint));
        }
        if let Some(details) = &body.details {
            text += &format!("\n{}", self.redactor.redact(&details.to_string()));
        }
        let of_code = self.found.entry(body.code.as_str()).or_default();
        if of_code.iter().all(|(_, known)| *known != text) {
            of_code.push((self.redactor.redact(call), text));
        }
    }

    fn call(&mut self, connection: &mut Connection, name: &str, args: &Value) {
        match call(connection, name, args.clone()) {
            Ok(_) => {}
            Err(Error::Refused(body)) => self.add(&format!("{name} {args}"), &body),
            Err(error) => panic!("{name} {args}: {error}"),
        }
    }

    fn written(&self) -> String {
        let mut text = String::new();
        for code in Code::ALL {
            text += &format!("\n# {} {}\n", code.as_str(), code.status());
            for (call, said) in self.found.get(code.as_str()).into_iter().flatten() {
                let call: String = call.chars().take(160).collect();
                text += &format!("\n$ {call}\n{said}\n");
            }
            let is_found = self.found.contains_key(code.as_str());
            assert_ne!(is_found, UNREACHABLE.contains(code), "{code}");
        }
        text
    }
}

/// Returns a value that a schema allows.
fn sample(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("string") => schema["enum"][0].as_str().unwrap_or("x").into(),
        Some("integer" | "number") => schema["minimum"].as_u64().unwrap_or(1).max(1).into(),
        Some("boolean") => true.into(),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("x"),
    }
}

/// Returns values that a schema does not allow: of another type, out of bounds, not in the list.
fn misfits(schema: &Value) -> Vec<Value> {
    let mut misfits = match schema["type"].as_str() {
        Some("string") => vec![json!(7)],
        Some("integer") => vec![json!("x"), json!(-1), json!(1.5)],
        Some("number" | "boolean" | "array" | "object") => vec![json!("x")],
        _ => vec![json!({}), json!([])],
    };
    if schema["enum"].is_array() {
        misfits.push(json!("nothing"));
    }
    if let Some(most) = schema["maximum"].as_u64() {
        misfits.extend(most.checked_add(1).map(Value::from));
    }
    misfits
}

/// Calls every operation without its arguments, with an unknown argument, and with invalid ones.
fn misuse_all(refusals: &mut Refusals, connection: &mut Connection) {
    for operation in lored::api::TABLE.values() {
        let schema = Value::Object((operation.input)());
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let fields = schema["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let enough: Map<String, Value> = required
            .iter()
            .map(|name| name.as_str().unwrap().to_owned())
            .map(|name| (name.clone(), sample(&fields[&name])))
            .collect();
        if !required.is_empty() {
            refusals.call(connection, operation.name, &json!({}));
        }
        refusals.call(connection, operation.name, &json!({"no_such_argument": 1}));
        for (field, schema) in &fields {
            for misfit in misfits(schema) {
                let mut args = enough.clone();
                args.insert(field.clone(), misfit);
                refusals.call(connection, operation.name, &Value::Object(args));
            }
        }
    }
}

/// Makes the calls of the script.
fn play_script(refusals: &mut Refusals, connection: &mut Connection) {
    for line in SCRIPT.lines().filter(|line| !line.starts_with('#')) {
        let (name, args) = line.split_once(' ').unwrap();
        let args = serde_json::from_str(args).unwrap();
        refusals.call(connection, name, &args);
    }
}

/// Collects errors outside calls: malformed frames, an unsupported version.
fn break_frames(refusals: &mut Refusals, daemon: &Daemon) {
    let hello_of_version_99 = b"\xa2\x67version\x18\x63\x66client\x63c/1";
    for (what, bytes) in [
        ("a Hello that is not CBOR", &[0, 0, 0, 1, 0xff][..]),
        ("an empty frame", &[0; 4]),
        ("a Hello of 65537 bytes", &65_537_u32.to_be_bytes()),
    ] {
        let mut peer = Peer::connect(daemon.socket());
        peer.send(bytes);
        refusals.add(what, &peer.fault());
    }
    let mut peer = Peer::connect(daemon.socket());
    peer.send_body(hello_of_version_99);
    refusals.add("a Hello of version 99", &peer.fault());
    let mut peer = Peer::greeted(daemon.socket());
    peer.send(&[0, 0, 0, 9, 0xa1]);
    refusals.add("a frame without its end", &peer.fault());
}

/// Collects the errors of MCP over HTTP.
fn knock_on_http(refusals: &mut Refusals, port: u16, token: &str) {
    let bearer = format!("Authorization: Bearer {token}\r\n");
    for (what, path, headers) in [
        ("HTTP without a token", "/mcp", String::new()),
        (
            "HTTP from another origin",
            "/mcp",
            format!("Origin: http://other.example\r\n{bearer}"),
        ),
        ("HTTP to another path", "/nothing", bearer),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}Content-Length: 0\r\n\
             Connection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        let body = body.get("error").cloned().unwrap_or(body);
        refusals.add(what, &ErrorBody::from_json(body.to_string().as_bytes()));
    }
}

/// Collects the errors of a store with little space, which accepts few writes.
fn exhaust(refusals: &mut Refusals) {
    let (_home, daemon) = crate::serve(
        "[limits]\nwrites_per_second_max = 1\n[checkpoints]\ncheckpoint_bytes_max = 1024\n\
         [sessions]\nexpire_after_ms = 1000\n",
    );
    let noise: String = (0..4000_u32)
        .map(|n| format!("{:x}", n.wrapping_mul(2_654_435_761)))
        .collect();
    let context = json!({"sessionId": "s", "context": {"noise": noise}});
    let mut connection = daemon.connect("");
    call(&mut connection, "create_session", json!({"session": "s"})).unwrap();
    refusals.call(&mut connection, "create_session", &json!({"session": "t"}));
    let mut connection = daemon.connect("");
    match call(&mut connection, "workflow_checkpoint_save", context) {
        Err(Error::Refused(body)) => refusals.add("a checkpoint over its quota", &body),
        other => panic!("{other:?}"),
    }
    let refused = until("an expired session", Duration::from_secs(60), || {
        let close = json!({"session": "s", "target": 1});
        let refused = daemon.try_call("prune_session", close).err()?;
        let Error::Refused(body) = refused else {
            panic!("{refused}")
        };
        (body.code == Code::SessionExpired).then_some(body)
    });
    refusals.add("prune_session of an expired session", &refused);
}

/// Lists the files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Collects the errors of a damaged blob, and of a disk that is fuller than the settings allow.
fn damage(refusals: &mut Refusals) {
    let (home, daemon) = crate::serve("");
    let long: Vec<u32> = (0..40_000).collect();
    daemon.call("create_session", json!({"session": "s"}));
    daemon.call(
        "record_step",
        json!({"session": "s", "tool": "t", "result": long}),
    );
    let blobs = files(&home.data().join("blobs"));
    std::fs::write(&blobs[0], "something else").unwrap();
    let body = daemon.refusal("get_step", json!({"session": "s", "step": 1}));
    refusals.add("get_step of a damaged blob", &body);
    let home = home!();
    home.configure("[engine]\ndisk_free_bytes_min = 1000000000000000\n");
    let body = home
        .start()
        .refusal("create_session", json!({"session": "s"}));
    refusals.add("create_session on a full disk", &body);
}

#[test]
fn refusals_by_code() {
    let home = home!();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    home.configure(&format!(
        "[limits]\nread_timeout_ms = 500\n[http]\nlisten = \"127.0.0.1:{port}\"\n"
    ));
    let daemon = home.start();
    let mut refusals = Refusals::default();
    for (text, name) in [
        (home.path().to_str().unwrap(), "<home>"),
        (env!("CARGO_PKG_VERSION"), "<version>"),
        (&port.to_string(), "<port>"),
    ] {
        let pair = (text.to_owned(), name.to_owned());
        refusals.redactor.texts.push(pair);
    }
    let mut connection = daemon.connect("");
    play_script(&mut refusals, &mut connection);
    misuse_all(&mut refusals, &mut connection);
    break_frames(&mut refusals, &daemon);
    let token = std::fs::read_to_string(home.data().join("http.token")).unwrap();
    knock_on_http(&mut refusals, port, token.trim());
    exhaust(&mut refusals);
    damage(&mut refusals);
    assert_snapshot("refusals", &refusals.written());
}
