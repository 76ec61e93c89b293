//! Frames: their encoding never changes, every frame round-trips, and arbitrary bytes are refused without a panic.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use lore::protocol::frame::{self, ClientFrame, FrameError, Hello, Limits, ServerFrame, Welcome};
use lore::protocol::{Args, Code, ErrorBody, Reply};
use proptest::prelude::*;
use serde_json::{Value, json};

const GOLDEN: &str = include_str!("golden/frames.txt");

fn hello() -> Hello {
    Hello {
        client: "lore/0.1.0".into(),
        agent: Some("claude".into()),
        cwd: Some("/home/ada/project".into()),
        session: Some("s-1".into()),
        mcp: true,
        bridge: Some("00ff".into()),
        host_session: None,
        tools: None,
    }
}

fn welcome() -> Welcome {
    Welcome {
        version: 1,
        daemon: "0123456789abcdef".into(),
        server: "lored/0.1.0".into(),
        pid: 4242,
        position: 1_000_000,
        limits: Limits::default(),
    }
}

fn frames() -> Vec<(&'static str, Vec<u8>)> {
    let make = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&mut out);
        out
    };
    let value = json!({"tool": "t", "n": [0, 24, -1, 1.5, true, null], "o": {"é": "x"}});
    let refusal = ErrorBody::new(Code::StepNotFound, "no step 9").hint("the last is 3");
    vec![
        ("hello", make(&|out| frame::encode_hello(out, &hello()))),
        (
            "hello_least",
            make(&|out| {
                frame::encode_hello(
                    out,
                    &Hello {
                        client: "c/1".into(),
                        ..Hello::default()
                    },
                )
            }),
        ),
        (
            "hello_tools",
            make(&|out| {
                frame::encode_hello(
                    out,
                    &Hello {
                        client: "c/1".into(),
                        tools: Some("full".into()),
                        ..Hello::default()
                    },
                )
            }),
        ),
        (
            "welcome",
            make(&|out| frame::encode_welcome(out, &welcome())),
        ),
        (
            "call_json",
            make(&|out| {
                frame::encode_call(
                    out,
                    1,
                    "record_step",
                    &Args::Json(br#"{"tool":"t","result":1.10}"#.to_vec()),
                );
            }),
        ),
        (
            "call_map",
            make(&|out| frame::encode_call(out, 2, "record_step", &Args::Value(value.clone()))),
        ),
        ("cancel", make(&|out| frame::encode_cancel(out, 2))),
        (
            "answer",
            make(&|out| frame::encode_answer(out, 1, br#"{"step":1}"#, None)),
        ),
        (
            "error",
            make(&|out| frame::encode_error(out, Some(u64::MAX), &refusal)),
        ),
        ("item", make(&|out| frame::encode_item(out, 300, b"{}"))),
        (
            "fault",
            make(&|out| frame::encode_error(out, None, &refusal)),
        ),
        (
            "answer_with_meta",
            make(&|out| {
                frame::encode_answer(out, 1, b"[]", Some(br#"{"position":7,"durable":true}"#));
            }),
        ),
    ]
}

/// The encoding of every frame is unchanged.
#[test]
fn golden_bytes() {
    let written: Vec<_> = frames()
        .into_iter()
        .map(|(name, bytes)| {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{name} {hex}")
        })
        .collect();
    let wanted: Vec<_> = GOLDEN
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    assert_eq!(written, wanted, "\n{}\n", written.join("\n"));
}

fn reply_of(json: &str, meta: Option<&str>) -> Reply {
    Reply {
        json: json.into(),
        meta: meta.map(Into::into),
    }
}

/// The bytes of the golden file decode to the same frames as before.
#[test]
fn golden_meaning() {
    let frames = frames();
    let body = |name: &str| &frames.iter().find(|(known, _)| *known == name).unwrap().1[4..];
    assert_eq!(frame::decode_hello(body("hello")).unwrap(), hello());
    assert_eq!(
        frame::decode_client(body("hello")).unwrap(),
        ClientFrame::Hello(hello())
    );
    let ClientFrame::Call {
        id: 1,
        name,
        args: Args::Json(json),
    } = frame::decode_client(body("call_json")).unwrap()
    else {
        panic!("no call");
    };
    assert_eq!(
        (name.as_str(), json.as_slice()),
        ("record_step", &br#"{"tool":"t","result":1.10}"#[..])
    );
    let ClientFrame::Call {
        id: 2,
        args: Args::Value(value),
        ..
    } = frame::decode_client(body("call_map")).unwrap()
    else {
        panic!("no call");
    };
    assert_eq!(
        value.to_string(),
        r#"{"tool":"t","n":[0,24,-1,1.5,true,null],"o":{"é":"x"}}"#
    );
    assert_eq!(
        frame::decode_client(body("cancel")).unwrap(),
        ClientFrame::Cancel { id: 2 }
    );
    assert_eq!(
        frame::decode_server(body("welcome")).unwrap(),
        ServerFrame::Welcome(welcome())
    );
    let ServerFrame::Answer {
        id: u64::MAX,
        outcome: Err(error),
    } = frame::decode_server(body("error")).unwrap()
    else {
        panic!("no answer");
    };
    assert_eq!(
        (error.code, error.message.as_str()),
        (Code::StepNotFound, "no step 9")
    );
    let answered = |name: &str| match frame::decode_server(body(name)).unwrap() {
        ServerFrame::Answer { id: 1, outcome } => outcome.unwrap(),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(answered("answer"), reply_of(r#"{"step":1}"#, None));
    let meta = Some(r#"{"position":7,"durable":true}"#);
    assert_eq!(answered("answer_with_meta"), reply_of("[]", meta));
    assert!(matches!(
        frame::decode_server(body("fault")).unwrap(),
        ServerFrame::Fault(_)
    ));
    assert_eq!(
        frame::decode_server(body("item")).unwrap(),
        ServerFrame::Item {
            id: 300,
            item: b"{}".to_vec()
        }
    );
}

/// Encodes a map with these entries, each of which is already CBOR.
fn map(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = vec![0xa0 | u8::try_from(entries.len()).unwrap()];
    for (key, value) in entries {
        out.push(0x60 | u8::try_from(key.len()).unwrap());
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(value);
    }
    out
}

fn refused(entries: &[(&str, &[u8])]) -> FrameError {
    frame::decode_client(map(entries)).unwrap_err()
}

fn refused_args(args: &[u8]) -> FrameError {
    refused(&[("id", &[1]), ("name", b"\x61s"), ("args", args)])
}

/// Each kind of malformed frame has a separate error message.
#[test]
fn faults_are_told_apart() {
    let unknown = refused(&[("id", &[1]), ("nmae", b"\x61s")]);
    assert_eq!(
        unknown.to_string(),
        "unknown field `nmae`; the nearest one is `name`"
    );
    assert_eq!(refused(&[("id", &[1])]), FrameError::Missing("name"));
    assert_eq!(refused(&[("name", b"\x61s")]), FrameError::Missing("id"));
    assert_eq!(
        refused(&[("id", &[1]), ("id", &[1])]),
        FrameError::Twice("id")
    );
    assert_eq!(
        refused(&[("id", &[0x20])]),
        FrameError::Field("id", "an unsigned integer")
    );
    assert_eq!(
        refused(&[("id", &[1]), ("cancel", &[0xf4])]),
        FrameError::Field("cancel", "true")
    );
    assert_eq!(
        refused(&[
            ("id", &[1]),
            ("name", b"\x7b\xff\xff\xff\xff\xff\xff\xff\xff")
        ]),
        FrameError::Cut
    );
    assert_eq!(
        refused(&[("id", &[1]), ("name", b"\x61\xff")]),
        FrameError::NotUtf8
    );
    assert_eq!(
        refused_args(&[0x01]).to_string(),
        "the field `args` must be a map, or a byte string that holds JSON"
    );
    assert_eq!(
        refused_args(b"\xa1\x61a\xc2\x41\x01"),
        FrameError::NotJson("a tag")
    );
    assert_eq!(
        refused_args(b"\xa1\x01\x01"),
        FrameError::NotJson("a key that is not text")
    );
    assert_eq!(
        refused_args(b"\xa1\x61a\xf9\x7e\x00"),
        FrameError::NotANumber
    );
    assert_eq!(refused_args(b"\xa1\x61a\x41\xff"), FrameError::NotUtf8);
    assert_eq!(
        refused_args(b"\xa1\x61a\x9b\xff\xff\xff\xff\xff\xff\xff\xff"),
        FrameError::Cut
    );
    let mut deep = b"\xa1\x61a".to_vec();
    deep.extend([0x81; 100_000]);
    assert_eq!(refused_args(&deep), FrameError::TooDeep);
    // JSON in a byte string is parsed when it is read: the error answers the call and not the frame.
    let deep = Args::Json(vec![b'['; 4096]).read::<Value>();
    assert_eq!(deep.expect_err("too deep").code, Code::InvalidInput);
    assert_eq!(frame::decode_client(&[0x01]), Err(FrameError::NotAMap));
    assert_eq!(
        frame::decode_client(&[0xbf, 0xff]),
        Err(FrameError::Indefinite)
    );
    assert_eq!(
        frame::decode_client(&[0xa0, 0xa0]),
        Err(FrameError::Trailing(1))
    );
}

/// A newer Hello is a version mismatch whatever its other fields are; an unknown field of the same version is
/// reported as unknown.
#[test]
fn versions_clash_before_fields_do() {
    let newer = map(&[("new", &[0x80]), ("version", &[2]), ("client", b"\x61c")]);
    assert_eq!(frame::decode_hello(&newer), Err(FrameError::Version(2)));
    assert_eq!(frame::decode_client(&newer), Err(FrameError::Version(2)));
    let same = map(&[("agnet", b"\x61a"), ("version", &[1]), ("client", b"\x61c")]);
    assert!(
        frame::decode_hello(&same)
            .unwrap_err()
            .to_string()
            .contains("`agent`")
    );
    assert_eq!(
        ErrorBody::from(FrameError::Version(2)).code,
        Code::VersionMismatch
    );
}

/// Arrays and maps inside args may have an indefinite length, as streaming encoders write them.
#[test]
fn indefinite_args_are_read() {
    let args = b"\xbf\x61a\x9f\x01\x02\xff\xff";
    let call = map(&[("id", &[1]), ("name", b"\x61s"), ("args", args)]);
    let ClientFrame::Call { args, .. } = frame::decode_client(&call).unwrap() else {
        panic!("no call");
    };
    assert_eq!(args, Args::Value(json!({"a": [1, 2]})));
}

/// Today's client reads replies that contain a newer daemon's additions.
#[test]
fn newer_daemons_may_say_more() {
    let answer = map(&[("new", b"\xa1\x61a\x80"), ("id", &[7]), ("ok", b"\x42{}")]);
    assert_eq!(
        frame::decode_server(&answer).unwrap(),
        ServerFrame::Answer {
            id: 7,
            outcome: Ok(reply_of("{}", None))
        }
    );
    let mut deep = vec![0xa1, 0x61, b'x'];
    deep.extend([0x81; 100_000]);
    assert_eq!(frame::decode_server(&deep), Err(FrameError::TooDeep));
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |f| f.is_finite().then(|| Value::from(f))),
        Just(serde_json::from_str("123456789012345678901234567890.10").unwrap()),
        Just(serde_json::from_str("-18446744073709551616").unwrap()),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("\\PC{0,6}", inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn calls_read_back(id: u64, name in "\\PC{0,20}", pairs in prop::collection::vec(("\\PC{0,6}", json_value()), 0..5)) {
        let value = Value::Object(pairs.into_iter().collect());
        for args in [Args::Value(value.clone()), Args::Json(value.to_string().into_bytes())] {
            let mut out = Vec::new();
            frame::encode_call(&mut out, id, &name, &args);
            let length = frame::frame_length([out[0], out[1], out[2], out[3]], 1 << 20).unwrap();
            prop_assert_eq!(length, out.len() - 4);
            let ClientFrame::Call { id: id_read, name: name_read, args } = frame::decode_client(&out[4..]).unwrap() else {
                return Err(TestCaseError::fail("no call"));
            };
            let read = match args {
                Args::Json(json) => String::from_utf8(json).unwrap(),
                Args::Value(value) => value.to_string(),
            };
            prop_assert_eq!((id_read, &name_read, read), (id, &name, value.to_string()));
        }
    }

    #[test]
    fn hellos_read_back(client in "\\PC{0,20}", agent in prop::option::of("\\PC{0,20}"), mcp: bool, session in prop::option::of("[a-z]{1,9}"), tools in prop::option::of("[a-z,]{1,9}"), host_session in prop::option::of("[a-z]{1,9}:\\PC{1,9}")) {
        let hello = Hello { client, agent, cwd: None, session, mcp, host_session, bridge: None, tools };
        let mut out = Vec::new();
        frame::encode_hello(&mut out, &hello);
        prop_assert_eq!(frame::decode_hello(&out[4..]).unwrap(), hello);
    }

    #[test]
    fn answers_read_back(
        id: u64,
        json in prop::collection::vec(any::<u8>(), 0..300),
        meta in prop::option::of(prop::collection::vec(any::<u8>(), 0..300)),
    ) {
        let mut out = Vec::new();
        frame::encode_answer(&mut out, id, &json, meta.as_deref());
        let outcome = Ok(Reply { json, meta });
        prop_assert_eq!(frame::decode_server(&out[4..]).unwrap(), ServerFrame::Answer { id, outcome });
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = frame::decode_hello(&bytes);
        let _ = frame::decode_client(&bytes);
        let _ = frame::decode_server(&bytes);
    }

    #[test]
    fn bent_frames_never_panic(which in 0_usize..11, at: prop::sample::Index, to: u8, cut: prop::sample::Index) {
        let mut bytes = frames().swap_remove(which).1.split_off(4);
        let at = at.index(bytes.len());
        bytes[at] = to;
        bytes.truncate(1 + cut.index(bytes.len()));
        let _ = frame::decode_hello(&bytes);
        let _ = frame::decode_client(&bytes);
        let _ = frame::decode_server(&bytes);
    }
}

/// A call header followed by its arguments encodes the same call as one frame that holds them.
#[test]
fn a_head_and_its_arguments_are_a_call() {
    for length in [0, 23, 24, 255, 256, 65_535, 65_536] {
        let json = vec![b' '; length];
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        frame::encode_call_head(&mut parts, 7, "record_step", &json);
        parts.extend(&json);
        frame::encode_call(&mut whole, 7, "record_step", &Args::Json(json));
        assert_eq!(parts, whole, "{length} bytes");
    }
}

/// The envelope of a large reply with the reply inserted equals the answer; reading it in place and as a copy
/// gives the same result.
#[test]
fn an_answer_around_its_reply_is_the_answer() {
    for length in [0, 23, 24, 255, 256, 65_535, 65_536] {
        for meta in [None, Some(&br#"{"position":1}"#[..])] {
            let json = vec![b' '; length];
            let (mut whole, mut around) = (vec![1, 2], vec![1, 2]);
            frame::encode_answer(&mut whole, 7, &json, meta);
            let place = frame::encode_answer_around(&mut around, 7, &json, meta);
            around.splice(place..place, json);
            assert_eq!(around, whole, "{length} bytes");
            let body = &whole[6..];
            let read = frame::decode_server(body).unwrap();
            assert_eq!(frame::take_server(body.to_vec()).unwrap(), read);
        }
    }
}
