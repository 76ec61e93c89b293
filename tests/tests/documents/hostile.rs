//! Malicious files, through every interface that accepts files.

use lore::connection::Error;
use lore::protocol::Code;
use tests::{Peer, serve};

use super::*;

/// Names and contents; the results of each reader are tested in its module.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let keys = (0..50_000).map(|at| format!("\"k{}\":{at}", at / 2));
    let keys: Vec<String> = keys.collect();
    // Claims 4 GiB and contains a letter.
    let claims: &[&[u8]] = &[
        b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0\x14\0\0\0",
        &0xffff_fff0_u32.to_le_bytes(),
        b"\x01\0\0\0a",
        &[0; 20],
    ];
    // A header of 10 bytes and deflated zeros, which is never inflated.
    let zeros = [&b"\x1f\x8b\x08\0\0\0\0\0\0\x03"[..], &[0xec; 100_000]].concat();
    vec![
        (
            "deep.json",
            [vec![b'['; 200_000], vec![b']'; 200_000]].concat(),
        ),
        ("objects.json", "{\"a\":".repeat(100_000).into_bytes()),
        ("keys.json", format!("{{{}}}", keys.join(",")).into_bytes()),
        (
            "number.json",
            format!("{{\"n\":{}}}", "9".repeat(1 << 20)).into_bytes(),
        ),
        (
            "floats.json",
            b"[1e999,-1e999,NaN,Infinity,-0,18446744073709551616,0x10]".to_vec(),
        ),
        (
            "halves.json",
            br#"{"a":"\ud800","b":"\udfff\ud800","c":"\u0000"}"#.to_vec(),
        ),
        (
            "bytes.txt",
            [
                &b"\xc0\xaf\xed\xa0\x80\xf8\x88\xff\xfe"[..],
                &b"\xf0\x9f".repeat(1000),
            ]
            .concat(),
        ),
        ("line.md", vec![b'x'; 2 << 20]),
        ("headings.md", "# h\n".repeat(20_000).into_bytes()),
        (
            "nest.md",
            [">".repeat(20_000), "[".repeat(20_000), "](".repeat(20_000)]
                .concat()
                .into_bytes(),
        ),
        ("fences.md", "```\n~~~\n".repeat(20_000).into_bytes()),
        (
            "table.md",
            format!("|{}\n", "a|".repeat(200)).repeat(500).into_bytes(),
        ),
        (
            "open.csv",
            format!("a,b\n\"{}", "x".repeat(1 << 20)).into_bytes(),
        ),
        (
            "patterns.txt",
            format!("(a+)+$\na{{1000}}{{1000}}\n{}\n", "(".repeat(5000)).into_bytes(),
        ),
        ("claims.zip", claims.concat()),
        ("claims.docx", claims.concat()),
        ("zeros.gz", zeros.clone()),
        ("zeros.txt", zeros),
    ]
}

/// Checks the possible answers about a file that is treated as something else.
fn is_answered<T>(name: &str, answer: Result<T, Error>) {
    if let Err(error) = answer {
        let Error::Refused(body) = error else {
            panic!("{name}: {error}");
        };
        let codes = [Code::InvalidInput, Code::FrameTooLarge];
        assert!(codes.contains(&body.code), "{name}: {body:?}");
    }
}

/// Each file is ingested from a folder, recorded as a result and as a message, passed as a context, as an export to
/// import, and as the first bytes of a connection. Each time there is an answer or an error with its reason, and
/// the daemon continues.
#[test]
fn files_that_are_made_to_harm() {
    let (home, mut daemon) = serve!();
    let docs = folder(&home, &[("good.md", "Good.")]);
    let files = files();
    for (name, bytes) in &files {
        put(&docs, name, bytes);
    }
    add(&daemon, &docs);
    let source = until_source(&daemon, "all files to be looked at", |source| {
        source["state"] == "idle" && source["scanned_at"].is_string() && source["documents"] != 0
    });
    let failed: Vec<&str> = source["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|failure| failure["path"].as_str().unwrap())
        .collect();
    for name in ["deep.json", "claims.docx", "zeros.txt"] {
        assert!(failed.contains(&name), "{source:#}");
    }
    daemon.call("create_session", json!({"session": "s"}));
    for (name, bytes) in &files {
        let text = String::from_utf8_lossy(bytes);
        let calls = [
            (
                "record_step",
                json!({"session": "s", "tool": "t", "result": text}),
            ),
            (
                "record_message",
                json!({"session": "s", "type": "query", "content": text}),
            ),
            (
                "workflow_checkpoint_save",
                json!({"sessionId": "s", "context": {"text": text}}),
            ),
            ("import_session", json!({"content": text})),
            ("import_log", json!({"content": text})),
            (
                "register_extractor",
                json!({"session": "s", "name": "n", "pattern": text}),
            ),
        ];
        for (call, args) in calls {
            is_answered(name, daemon.try_call(call, args));
        }
        let mut peer = Peer::connect(daemon.socket());
        peer.send(bytes);
        drop(peer);
    }
    assert!(daemon.is_running());
    let step = daemon.call(
        "record_step",
        json!({"session": "s", "tool": "t", "result": "x"}),
    );
    assert_eq!(
        step["step"],
        files.len() as u64 + 1,
        "every result was recorded"
    );
    daemon.verify();
}
