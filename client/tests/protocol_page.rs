//! docs/protocol.md: its Python client works, its bytes are correct, and its lists are complete.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::io::Write;
use std::process::Command;
use std::thread;

use lore::protocol::frame;
use lore::protocol::{Args, Code, DEPTH_MAX, ErrorBody, VALUES_MAX};
use support::{Peer, listen, paths};

const PAGE: &str = include_str!("../../docs/protocol.md");

fn python() -> &'static str {
    let (_, rest) = PAGE.split_once("```python\n").unwrap();
    rest.split_once("```").unwrap().0
}

/// The client has at most 60 lines and makes real calls.
#[test]
fn the_python_client_calls() {
    assert!(
        python().lines().count() <= 60,
        "{}",
        python().lines().count()
    );
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("client.py");
    std::fs::write(&script, python()).unwrap();
    let paths = paths(home.path());
    let listener = listen(&paths);
    let daemon = thread::spawn(move || {
        let large = format!(r#"{{"text":"{}"}}"#, "é".repeat(100_000));
        for reply in [Some(r#"{"step":1}"#), Some(&large), None] {
            let mut peer = Peer::accept(&listener);
            assert_eq!(peer.hello.client, "client.py/1");
            let (id, name, args) = peer.call().unwrap();
            assert_eq!(name, "record_step");
            assert_eq!(args, Args::Json(br#"{"tool":"t","result":"x"}"#.to_vec()));
            if let Some(json) = reply {
                peer.answer_with(id, json, Some(r#"{"position":7,"durable":true}"#));
                continue;
            }
            let mut out = Vec::new();
            frame::encode_error(&mut out, Some(id), &ErrorBody::new(Code::NotFound, "no"));
            peer.stream.write_all(&out).unwrap();
        }
    });
    let call = || {
        let mut command = Command::new("python3");
        command.arg(&script).arg(&paths.socket);
        command
            .args(["record_step", r#"{"tool":"t","result":"x"}"#])
            .output()
    };
    let first = call().expect("the tests need python3");
    let said = String::from_utf8_lossy(&first.stderr);
    assert_eq!(
        (first.stdout.as_slice(), said.as_ref()),
        (&b"{\"step\":1}\n"[..], "")
    );
    assert_eq!(
        call().unwrap().stdout.len(),
        200_000 + r#"{"text":""}"#.len() + 1
    );
    let refused = call().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        refused
            .stdout
            .starts_with(br#"{"error": {"code":"NOT_FOUND""#)
    );
    daemon.join().unwrap();
}

/// The bytes on the page equal those of the golden file.
#[test]
fn the_bytes_on_the_page_are_true() {
    let golden = include_str!("golden/frames.txt");
    let (_, rest) = PAGE.split_once("### Bytes").unwrap();
    let block = rest.split("```").nth(1).unwrap();
    let lines: Vec<_> = block.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 4);
    for line in lines {
        assert!(golden.lines().any(|known| known == line), "{line}");
    }
}

/// Every code with its status, and every number, matches the library.
#[test]
fn the_lists_on_the_page_are_whole() {
    for code in Code::ALL {
        let row = format!("| {code} | {} |", code.status());
        assert!(PAGE.contains(&row), "{row}");
    }
    for number in [DEPTH_MAX, VALUES_MAX, frame::FRAME_BYTES_MAX] {
        assert!(PAGE.contains(&number.to_string()), "{number}");
    }
}
