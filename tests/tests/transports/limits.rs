//! Bad input in frames: each gets a separate clear error, does not affect other clients and loses no data.

use lore::protocol::frame::{self, Hello, ServerFrame};
use lore::protocol::{Args, Code};
use serde_json::json;
use tests::{Daemon, Peer, is_refusal, serve};

/// Handwritten CBOR: a text, a byte string, a map with this number of entries.
fn text(text: &str) -> Vec<u8> {
    [&head(3 << 5, text.len())[..], text.as_bytes()].concat()
}

fn bytes(bytes: &[u8]) -> Vec<u8> {
    [&head(2 << 5, bytes.len())[..], bytes].concat()
}

fn head(major: u8, length: usize) -> Vec<u8> {
    match length {
        0..=23 => vec![major | length as u8],
        24..=255 => vec![major | 24, length as u8],
        _ => [&[major | 26][..], &(length as u32).to_be_bytes()].concat(),
    }
}

fn map(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = vec![5 << 5 | entries.len() as u8];
    for (name, value) in entries {
        out.extend(text(name));
        out.extend(value);
    }
    out
}

fn call_with(args: Vec<u8>) -> Vec<u8> {
    map(&[("id", vec![1]), ("name", text("status")), ("args", args)])
}

/// Records a step and returns the number of steps; runs before and after each test.
fn record_one(daemon: &Daemon) -> u64 {
    let reply = daemon.call("record_step", json!({"tool": "t", "result": {"id": 1}}));
    reply["position"].as_u64().unwrap()
}

/// Checks that the daemon still serves others, and that only honest events are in its log.
fn is_unharmed(daemon: &mut Daemon, before: u64) {
    assert!(daemon.is_running());
    assert_eq!(record_one(daemon), before + 1);
    daemon.verify();
}

/// A first frame that is not a Hello gets an error with its problem, and the connection closes.
#[test]
fn hellos_that_are_none() {
    let (_home, mut daemon) = serve!();
    let before = record_one(&daemon);
    let hello = |entries: &[(&str, Vec<u8>)]| {
        let mut all = vec![("version", vec![1]), ("client", text("c/1"))];
        all.extend_from_slice(entries);
        map(&all)
    };
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("no CBOR", vec![0xff], "CBOR"),
        ("no map", vec![0x80], "map"),
        ("cut", vec![0xa2, 0x67], "too early"),
        ("a call", call_with(map(&[])), "unknown field `id`"),
        (
            "another version",
            map(&[("version", vec![24, 99]), ("client", text("c/1"))]),
            "version 99",
        ),
        ("no client", map(&[("version", vec![1])]), "`client`"),
        ("a near name", hello(&[("agnet", text("a"))]), "`agent`"),
        ("a number", hello(&[("agent", vec![1])]), "`agent`"),
        (
            "twice",
            hello(&[("cwd", text("/")), ("cwd", text("/"))]),
            "twice",
        ),
        ("no UTF-8", hello(&[("agent", vec![0x61, 0xff])]), "UTF-8"),
        (
            "no session id",
            hello(&[("session", text("a b"))]),
            "session",
        ),
        (
            "a long agent",
            hello(&[("agent", text(&"x".repeat(200)))]),
            "128 bytes",
        ),
    ];
    for (what, body, says) in cases {
        let mut peer = Peer::connect(daemon.socket());
        peer.send_body(&body);
        let code = match what {
            "another version" => Code::VersionMismatch,
            _ => Code::InvalidInput,
        };
        is_refusal(&peer.fault(), code, &[says]);
        assert_eq!(peer.rest(), "", "{what}: closed");
    }
    let mut peer = Peer::connect(daemon.socket());
    peer.send(&(65_537_u32).to_be_bytes());
    assert_eq!(peer.fault().code, Code::FrameTooLarge);
    let mut peer = Peer::connect(daemon.socket());
    peer.send(&[0; 4]);
    assert!(peer.fault().message.contains("empty"));
    is_unharmed(&mut daemon, before);
}

/// A first byte that matches no transport gets an error that lists the transports.
#[test]
fn bytes_that_open_no_door() {
    let (_home, mut daemon) = serve!();
    let before = record_one(&daemon);
    for first in [b"hello\n".as_slice(), b"\xff\xff", b"a"] {
        let mut peer = Peer::connect(daemon.socket());
        peer.send(first);
        let said = peer.rest();
        assert!(
            said.contains("MCP") && said.contains("HTTP"),
            "{first:?}: {said:?}"
        );
    }
    is_unharmed(&mut daemon, before);
}

/// A frame of an unknown kind gets an error, and the connection continues with the next one, because the frame's
/// bounds are known.
#[test]
fn frames_that_are_no_calls() {
    let (_home, mut daemon) = serve!();
    let before = record_one(&daemon);
    let deep = |times: usize| [vec![0x81; times], vec![0]].concat();
    let deep_args = map(&[("a", deep(200))]);
    let deep_json = |times: usize| bytes(format!("{{\"a\":{}", "[".repeat(times)).as_bytes());
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("no CBOR", vec![0xff, 0], "CBOR"),
        ("cut", vec![0xa1, 0x62, b'i'], "too early"),
        (
            "a length that lies",
            vec![0xbb, 255, 255, 255, 255, 255, 255, 255, 255],
            "",
        ),
        (
            "bytes after it",
            [call_with(map(&[])), vec![0]].concat(),
            "after its map",
        ),
        (
            "no name",
            map(&[("id", vec![1]), ("args", map(&[]))]),
            "`name`",
        ),
        (
            "no id",
            map(&[("name", text("status")), ("args", map(&[]))]),
            "`id`",
        ),
        (
            "a negative id",
            map(&[("id", vec![0x20]), ("name", text("status"))]),
            "`id`",
        ),
        (
            "a near field",
            map(&[("id", vec![1]), ("nmae", text("status"))]),
            "`name`",
        ),
        ("args of a number", call_with(vec![1]), "`args`"),
        ("a deep envelope", deep(1000), ""),
        ("deep args", call_with(deep_args), "too deeply"),
        ("deep JSON", call_with(deep_json(1000)), "deeper"),
        ("NaN", call_with(map(&[("a", vec![0xf9, 0x7e, 0])])), "NaN"),
        (
            "no UTF-8",
            call_with(map(&[("a", vec![0x61, 0xff])])),
            "UTF-8",
        ),
        ("JSON that is none", call_with(bytes(b"{")), "JSON"),
        (
            "JSON without UTF-8",
            call_with(bytes(b"{\"a\":\"\xff\"}")),
            "",
        ),
        (
            "JSON that is not an object",
            call_with(bytes(b"[]")),
            "object",
        ),
    ];
    for (what, body, says) in cases {
        let mut peer = Peer::greeted(daemon.socket());
        peer.send_body(&body);
        let (error, closes) = match peer.frame() {
            Some(ServerFrame::Fault(error)) => (error, true),
            Some(ServerFrame::Answer {
                outcome: Err(error),
                ..
            }) => (error, false),
            other => panic!("{what}: {other:?}"),
        };
        assert_eq!(error.code, Code::InvalidInput, "{what}: {error:?}");
        assert!(error.message.contains(says), "{what}: {error:?}");
        if closes {
            assert_eq!(peer.rest(), "", "{what}: closed");
            continue;
        }
        let status = peer.call("status", &Args::Json(b"{}".to_vec()));
        assert!(status.is_ok(), "{what}: the connection goes on: {status:?}");
    }
    is_unharmed(&mut daemon, before);
}

/// A frame over the limit is refused by its length before its body is read. A result just under the limit is
/// accepted while others are served.
#[test]
fn frames_that_are_too_large() {
    let (_home, mut daemon) = serve!();
    record_one(&daemon);
    for claimed in [(64 << 20) + 1, u32::MAX] {
        let mut peer = Peer::greeted(daemon.socket());
        peer.send(&claimed.to_be_bytes());
        let fault = peer.fault();
        assert_eq!(fault.code, Code::FrameTooLarge, "{fault:?}");
        assert!(fault.message.contains("67108864"), "{fault:?}");
    }
    let mut large = Peer::greeted(daemon.socket());
    large.send(&(64_u32 << 20).to_be_bytes());
    large.send(&vec![0xa3; 1 << 20]);
    let before = record_one(&daemon);
    drop(large);
    let result = "x".repeat((64 << 20) - 1000);
    let mut peer = Peer::greeted(daemon.socket());
    let args = format!("{{\"tool\":\"t\",\"result\":\"{result}\"}}").into_bytes();
    let reply = peer.call("record_step", &Args::Json(args)).unwrap();
    assert_eq!(reply["position"], before + 1);
    is_unharmed(&mut daemon, before + 1);
}

/// Unknown names are rejected with the nearest known one, arguments out of their bounds with the bounds, and nothing
/// is recorded.
#[test]
fn unknown_names_and_arguments_out_of_bounds() {
    let (_home, mut daemon) = serve!();
    daemon.call("create_session", json!({"session": "s-1"}));
    let before = record_one(&daemon);
    let long = |length: usize| "x".repeat(length);
    let values =
        [129, 257, 2000, 20_000, 100_000].map(|length| (format!("$x{length}$"), long(length)));
    let mut values: Vec<(&str, &str)> = values
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let tags = vec![r#""t""#; 65].join(",");
    values.push(("$tags", &tags));
    daemon.refuses(include_str!("refused.txt"), &values);
    let body = daemon.refusal(&long(100_000), json!({}));
    is_refusal(&body, Code::UnknownOperation, &["record_step"]);
    assert!(body.message.len() < 200, "{body:?}");
    is_unharmed(&mut daemon, before);
}

/// Results of any content are accepted and round-trip: empty, control characters, half of Unicode, endless
/// brackets. So is each number up to the last possible.
#[test]
fn odd_results_are_results() {
    let (_home, mut daemon) = serve!();
    daemon.call("create_session", json!({"session": "s-1"}));
    let odd = [
        "",
        "\u{0}\u{1}\u{1b}[31m",
        "\u{202e}\u{feff}😀",
        &"[".repeat(5000),
        "null",
        "{\"a\":",
    ];
    for (at, result) in odd.iter().enumerate() {
        let args = json!({"session": "s-1", "tool": "t", "result": result});
        let reply = daemon.call("record_step", args);
        assert_eq!(reply["step"], at as u64 + 1);
        let step = daemon.call("get_step", json!({"session": "s-1", "step": at + 1}));
        assert_eq!(step["result"].as_str().unwrap(), *result);
        let names = json!({"session": "s-1", "names": [format!("ID_FROM_STEP_{}", at + 1)]});
        daemon.call("resolve_variables", names);
    }
    let last = json!({"session": "s-1", "tool": "t", "result": "", "step": 1_000_000});
    daemon.call("record_step", last);
    let next = json!({"session": "s-1", "tool": "t", "result": ""});
    is_refusal(
        &daemon.refusal("record_step", next),
        Code::InvalidInput,
        &["1000000"],
    );
    assert!(daemon.is_running());
    daemon.verify();
}

/// Variables with invalid names are null with a reason, never an error.
#[test]
fn names_that_are_no_names() {
    let (_home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "s-1"}));
    let first = json!({"session": "s-1", "tool": "t", "result": {"id": 7}});
    daemon.call("record_step", first);
    let long = "A".repeat(100_000);
    let odd = [
        "",
        " ",
        "hello",
        "_FROM_STEP_",
        "ID_FROM_STEP_",
        "ID_FROM_STEP_0",
        "ID_FROM_STEP_-1",
        "ID_FROM_STEP_99999999999999999999",
        "ID_FROM_STEP_1_",
        "FROM_STEP_1",
        "😀_FROM_STEP_1",
        "ID_FROM_STEP_1\u{0}",
        "ALL_FROM_STEP_",
        "{{}}",
        long.as_str(),
    ];
    let reply = daemon.call("resolve_variables", json!({"session": "s-1", "names": odd}));
    let resolutions = reply["resolutions"].as_array().unwrap();
    assert_eq!(resolutions.len(), odd.len());
    for (name, found) in odd.iter().zip(resolutions) {
        let shown: String = name.chars().take(40).collect();
        if found["value"].is_null() {
            assert!(
                found["reason"].is_string() && found["message"].is_string(),
                "{found:#}"
            );
        } else {
            // Lenient parsing: a value of the only step.
            assert_eq!(found["step"], 1, "{shown}: {found:#}");
        }
    }
    let many = vec!["ID_FROM_STEP_1"; 1001];
    let many = json!({"session": "s-1", "names": many});
    let body = daemon.refusal("resolve_variables", many);
    is_refusal(&body, Code::InvalidInput, &[]);
}

/// Patterns that do not compile or would be enormous are refused with the reason; a pattern that looks explosive
/// runs in linear time.
#[test]
fn patterns_that_explode() {
    let (_home, mut daemon) = serve!();
    daemon.call("create_session", json!({"session": "s-1"}));
    let before = record_one(&daemon);
    for pattern in [
        "(",
        "[z-a]",
        "a{1000}{1000}{1000}",
        "(?P<n",
        "\\",
        "(?<=a)b",
        &"a".repeat(1025),
        r"\p{L}{5000}",
        &["(?:".repeat(80), "a".to_owned(), "){9}".repeat(80)].concat(),
    ] {
        let args = json!({"session": "s-1", "name": "bad", "pattern": pattern});
        let body = daemon.refusal("register_extractor", args);
        is_refusal(&body, Code::InvalidInput, &[]);
    }
    let args = json!({"session": "s-1", "name": "slow", "pattern": "(?:a*)*(?:a*)*b"});
    daemon.call("register_extractor", args);
    let text = format!("{} aab", "a".repeat(100_000));
    let args = json!({"session": "s-1", "tool": "t", "result": text});
    let recorded = daemon.call("record_step", args);
    let name = format!("SLOW_FROM_STEP_{}", recorded["step"]);
    let names = json!({"session": "s-1", "names": [name]});
    let reply = daemon.call("resolve_variables", names);
    assert_eq!(reply["resolutions"][0]["value"], "aab");
    is_unharmed(&mut daemon, before + 2);
}

/// A Hello of a newer client is refused with both versions.
#[test]
fn a_hello_is_welcomed_with_the_limits() {
    let (_home, daemon) = serve!();
    let mut peer = Peer::connect(daemon.socket());
    let mut out = Vec::new();
    frame::encode_hello(
        &mut out,
        &Hello {
            client: "c/1".to_owned(),
            ..Hello::default()
        },
    );
    peer.send(&out);
    let Some(ServerFrame::Welcome(welcome)) = peer.frame() else {
        panic!("no Welcome");
    };
    assert_eq!(welcome.pid, daemon.pid());
    assert_eq!(welcome.limits.frame_bytes_max, 64 << 20);
}
