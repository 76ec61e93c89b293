//! Connections: calls in flight, refusals, daemon failures, and safe retries.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::Write;
use std::thread;

use lore::client::Client;
use lore::connection::{Connection, Error, SocketState};
use lore::protocol::frame::{self, Hello};
use lore::protocol::{Args, Code, ErrorBody};
use support::{Peer, listen, paths};

fn hello() -> Hello {
    Hello {
        client: "test/1".into(),
        agent: Some("tester".into()),
        ..Hello::default()
    }
}

fn json(text: &str) -> Args {
    Args::Json(text.as_bytes().to_vec())
}

/// Answers in any order are matched to their calls.
#[test]
fn calls_may_be_answered_out_of_order() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let daemon = thread::spawn(move || {
        let mut peer = Peer::accept(&listener);
        assert_eq!(peer.hello.agent.as_deref(), Some("tester"));
        let (first, ..) = peer.call().unwrap();
        let (second, name, args) = peer.call().unwrap();
        assert_eq!((name.as_str(), args), ("b", json("{}")));
        peer.answer(second, "2");
        peer.answer(first, "1");
        assert!(peer.call().is_none());
    });
    let mut connection = Connection::connect(&paths.socket, &hello()).unwrap();
    assert_eq!(connection.welcome().server, "lored/test");
    let first = connection.send("a", &json("{}")).unwrap();
    let second = connection.send("b", &json("{}")).unwrap();
    assert_eq!(connection.receive(first).unwrap().json, b"1");
    assert_eq!(connection.receive(second).unwrap().json, b"2");
    drop(connection);
    daemon.join().unwrap();
}

/// Arguments of any length arrive unchanged, also when they are sent without a copy.
#[test]
fn arguments_of_any_length_arrive() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let texts = [0, 100, 16 << 10, (16 << 10) + 1, 3 << 20].map(|length| {
        let text = "x".repeat(length);
        json(&format!("\"{text}\""))
    });
    let sent = texts.clone();
    let daemon = thread::spawn(move || {
        let mut peer = Peer::accept(&listener);
        for wanted in sent {
            let (id, name, args) = peer.call().unwrap();
            assert_eq!(name, "a");
            assert!(args == wanted, "other arguments came");
            peer.answer(id, "1");
        }
    });
    let mut connection = Connection::connect(&paths.socket, &hello()).unwrap();
    for args in &texts {
        assert_eq!(connection.call("a", args).unwrap().json, b"1");
    }
    daemon.join().unwrap();
}

/// If the daemon rejects the Hello, the error carries the daemon's message.
#[test]
fn a_refused_hello_keeps_its_reason() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let daemon = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut out = Vec::new();
        frame::encode_error(
            &mut out,
            None,
            &ErrorBody::new(Code::VersionMismatch, "too old"),
        );
        stream.write_all(&out).unwrap();
    });
    let error = Connection::connect(&paths.socket, &hello()).unwrap_err();
    assert_eq!(error.to_body().code, Code::VersionMismatch);
    assert_eq!(error.to_string(), "too old");
    daemon.join().unwrap();
}

/// A missing socket and a socket without a listener are distinguished from all other failures.
#[test]
fn nobody_is_not_the_same_as_unreachable() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let missing = Connection::connect(&paths.socket, &hello()).unwrap_err();
    let state = |error: &Error| match error {
        Error::NotListening { state, .. } => Some(*state),
        _ => None,
    };
    assert_eq!(state(&missing), Some(SocketState::Missing), "{missing}");
    assert!(missing.to_string().ends_with("does not exist"), "{missing}");
    drop(listen(&paths));
    let dead = Connection::connect(&paths.socket, &hello()).unwrap_err();
    assert_eq!(state(&dead), Some(SocketState::Stale), "{dead}");
    assert!(dead.to_string().contains("is stale"), "{dead}");
    assert_ne!(missing.to_body().hint, dead.to_body().hint);
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let file = Connection::connect(&file, &hello()).unwrap_err();
    assert_eq!(state(&file), Some(SocketState::NotASocket), "{file}");
    assert!(file.to_body().hint.unwrap().contains("move"), "{file}");

    let listener = listen(&paths);
    let daemon = thread::spawn(move || drop(listener.accept().unwrap()));
    let gone = Connection::connect(&paths.socket, &hello()).unwrap_err();
    assert!(matches!(gone, Error::Unreachable { .. }), "{gone}");
    daemon.join().unwrap();
}

/// The client itself refuses calls over the in-flight limit and frames over the size limit.
#[test]
fn limits_are_kept_before_the_daemon_has_to() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let daemon = thread::spawn(move || {
        let mut peer = Peer::accept(&listener);
        while peer.call().is_some() {}
    });
    let mut connection = Connection::connect(&paths.socket, &hello()).unwrap();
    let large = Args::Json(vec![b' '; (64 << 20) + 1]);
    let error = connection.send("a", &large).unwrap_err();
    assert_eq!(error.to_body().code, Code::FrameTooLarge);
    for _ in 0..64 {
        connection.send("a", &json("{}")).unwrap();
    }
    let error = connection.send("a", &json("{}")).unwrap_err();
    assert_eq!(error.to_body().code, Code::RateLimited);
    drop(connection);
    daemon.join().unwrap();
}

/// If the daemon dies during a call, reads and keyed writes are retried once.
/// A write without a key is not retried, because it may have been applied.
#[test]
fn a_daemon_that_dies_in_mid_call() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let daemon = thread::spawn(move || {
        let mut served = Vec::new();
        for dies in [true, false, true, false, true] {
            let mut peer = Peer::accept(&listener);
            while let Some((id, name, _)) = peer.call() {
                served.push(name);
                if dies {
                    break;
                }
                peer.answer(id, "{}");
            }
        }
        served
    });
    let call = |name: &str, args: &str| {
        // One client each, so that every call gets the next connection.
        Client::new(paths.clone(), hello()).call(name, &json(args))
    };
    assert_eq!(call("list_steps", "{}").unwrap().json, b"{}");
    assert_eq!(call("record_step", r#"{"key":"k"}"#).unwrap().json, b"{}");
    let error = call("record_step", "{}").unwrap_err();
    assert!(matches!(error, Error::Broken(_)), "{error}");
    let served = daemon.join().unwrap();
    assert_eq!(
        served,
        [
            "list_steps",
            "list_steps",
            "record_step",
            "record_step",
            "record_step"
        ]
    );
}
