//! Messages: senders and tools; lists; long messages, and messages with many entities.

use lore::protocol::Code;
use lored::tokens::Tokens;
use serde_json::{Value, json};
use tests::{Daemon, has, has_words, home, is_refusal, serve};

use super::{create, each, say};

fn record(daemon: &Daemon, args: &Value) -> Value {
    let mut all = json!({"session": "s-1"});
    all.as_object_mut()
        .unwrap()
        .extend(args.as_object().unwrap().clone());
    daemon.call("record_message", all)
}

fn list(daemon: &Daemon, args: &Value) -> Value {
    let mut all = json!({"session": "s-1"});
    all.as_object_mut()
        .unwrap()
        .extend(args.as_object().unwrap().clone());
    daemon.call("list_messages", all)
}

/// Each sender has a default type unless the call sets another; tools are recorded, with or without their results;
/// tokens are those of o200k.
#[test]
fn a_message_is_kept_as_it_was_said() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let counted = Tokens::default();
    for (sender, kind) in [
        ("user", "query"),
        ("assistant", "response"),
        ("system", "query"),
        ("tool", "tool_result"),
    ] {
        let content = format!(
            "Grüße von {sender}: 🦀 <|endoftext|> {}",
            "naïve ".repeat(20)
        );
        let reply = record(&daemon, &json!({"sender": sender, "content": content}));
        let shown = list(&daemon, &json!({"message": reply["message"]}))["messages"][0].clone();
        has(&shown, json!({"sender": sender, "type": kind}));
        assert_eq!(shown["content"], content);
        let tokens = counted.count(&content) as u64;
        assert_eq!(reply["tokens"], json!(tokens));
        assert_eq!(shown["tokens"], json!(tokens));
        assert_eq!(shown.get("bytes"), None);
    }
    let tools = json!([
        "ping", {"name": "trace", "status": "error"},
        {"name": "get", "status": "completed", "result": {"n": 1.50, "big": 12345678901234567890_u64}},
    ]);
    record(
        &daemon,
        &json!({"sender": "assistant", "type": "error", "content": "", "tools": tools}),
    );
    let shown = list(&daemon, &json!({"type": "error"}))["messages"][0].clone();
    assert_eq!(shown["tools"][0], json!({"name": "ping"}));
    assert_eq!(shown["tools"][1], tools[1]);
    let kept = shown["tools"][2]["result"].to_string();
    assert_eq!(
        kept, r#"{"n":1.5,"big":12345678901234567890}"#,
        "as it was brought"
    );
    for wrong in [
        json!({"sender": "robot"}),
        json!({"type": "joke"}),
        json!({"content": 5}),
        json!({"tools": [{"name": " "}]}),
    ] {
        let mut args = json!({"session": "s-1", "sender": "user", "content": "x"});
        args.as_object_mut()
            .unwrap()
            .extend(wrong.as_object().unwrap().clone());
        let refused = daemon.refusal("record_message", args);
        is_refusal(&refused, Code::InvalidInput, &[]);
    }
}

/// Pages in either order contain every message once, with any filter. `since` excludes a position, includes a time.
#[test]
fn a_list_is_read_page_by_page() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let senders = ["user", "assistant", "tool"];
    let positions: Vec<Value> = (0..30)
        .map(|number| {
            let args = json!({"sender": senders[number % 3], "content": format!("n{number}")});
            record(&daemon, &args)["position"].clone()
        })
        .collect();
    let all = |args: &Value| -> Vec<String> {
        let (mut found, mut args) = (Vec::new(), args.clone());
        args["limit"] = 4.into();
        loop {
            let page = list(&daemon, &args);
            let contents = each(&page["messages"], "content");
            assert!(contents.len() <= 4);
            found.extend(contents.into_iter().map(str::to_owned));
            match page.get("next") {
                Some(next) => args["next"] = next.clone(),
                None => return found,
            }
        }
    };
    let wanted = |which: &dyn Fn(usize) -> bool| -> Vec<String> {
        (0..30)
            .filter(|n| which(*n))
            .map(|n| format!("n{n}"))
            .collect()
    };
    let backward = |mut list: Vec<String>| {
        list.reverse();
        list
    };
    assert_eq!(all(&json!({})), wanted(&|_| true));
    assert_eq!(
        all(&json!({"order": "newest"})),
        backward(wanted(&|_| true))
    );
    assert_eq!(all(&json!({"sender": "tool"})), wanted(&|n| n % 3 == 2));
    assert_eq!(
        all(&json!({"type": "response", "order": "newest"})),
        backward(wanted(&|n| n % 3 == 1))
    );
    let since = json!({"since": positions[20]});
    assert_eq!(all(&since), wanted(&|n| n > 20));
    let newest = json!({"since": positions[20], "order": "newest", "sender": "user"});
    assert_eq!(all(&newest), backward(wanted(&|n| n > 20 && n % 3 == 0)));
    let at =
        list(&daemon, &json!({"since": positions[24], "limit": 1}))["messages"][0]["at"].clone();
    let from = all(&json!({"since": at}));
    assert!(from.ends_with(&wanted(&|n| n >= 25)), "{from:?}");
    for limit in [0, 501] {
        let refused = daemon.refusal("list_messages", json!({"session": "s-1", "limit": limit}));
        is_refusal(&refused, Code::InvalidInput, &["1 to 500"]);
    }
    let refused = daemon.refusal(
        "list_messages",
        json!({"session": "s-1", "message": "m-no"}),
    );
    is_refusal(&refused, Code::NotFound, &["`m-no`"]);
}

/// A cursor of another store or of another list, and an invalid one, are refused with the reason.
#[test]
fn a_cursor_belongs_to_its_list() {
    let (_home, daemon) = serve!();
    let theirs = home!();
    let other = theirs.start();
    for daemon in [&daemon, &other] {
        for session in ["s-1", "s-2"] {
            create(daemon, session);
            say(daemon, session, "switch-nyc-01");
            say(daemon, session, "router-la-02");
        }
    }
    let lists = [
        ("list_messages", json!({"session": "s-1"})),
        ("list_entities", json!({"session": "s-1"})),
        ("list_sessions", json!({})),
    ];
    let page = |daemon: &Daemon, name: &str, args: &Value| {
        let mut args = args.clone();
        args["limit"] = 1.into();
        daemon.call(name, args)["next"].clone()
    };
    for (name, args) in &lists {
        let mut wrong = vec![page(&other, name, args), json!("x"), json!("AAAA")];
        for (another, args) in lists.iter().filter(|(another, _)| another != name) {
            wrong.push(page(&daemon, another, args));
        }
        for next in wrong {
            let mut args = args.clone();
            args["next"] = next;
            let refused = daemon.refusal(name, args);
            is_refusal(&refused, Code::InvalidInput, &["next"]);
        }
    }
}

/// A message of ten megabytes is stored completely: a list shows its beginning and its length, a read of the
/// message all of it, and it survives a restart. One of seventeen is refused with the limit.
#[test]
fn a_long_message_is_kept_whole() {
    let (home, daemon) = serve!();
    create(&daemon, "s-1");
    let mut content = "switch-nyc-01 ".to_owned();
    while content.len() < 10 << 20 {
        content.push_str("the quick brown fox jumps over the lazy dög; ");
    }
    let reply = record(&daemon, &json!({"sender": "user", "content": content}));
    assert_eq!(reply["entities"][0]["name"], "switch-nyc-01");
    has_words(&reply["warnings"][0], &["first"]);
    let listed = list(&daemon, &json!({}))["messages"][0].clone();
    assert_eq!(listed["bytes"], content.len());
    let shown = listed["content"].as_str().unwrap();
    assert!(shown.len() <= 8 << 10 && content.starts_with(shown));
    let whole = |daemon: &Daemon| {
        let page = list(daemon, &json!({"message": reply["message"]}));
        let message = &page["messages"][0];
        assert!(message["content"] == content && message.get("bytes").is_none());
    };
    whole(&daemon);
    let args = json!({"session": "s-1", "sender": "user", "content": "x".repeat(17 << 20)});
    let refused = daemon.refusal("record_message", args);
    is_refusal(&refused, Code::InvalidInput, &["16777216"]);
    daemon.stop();
    let daemon = home.start();
    whole(&daemon);
    daemon.verify();
}

/// Of a hundred thousand names in one message, entities up to the limit per text are stored. The reply reports the
/// number of omitted ones, and the message is complete.
#[test]
fn a_message_full_of_entities_is_bounded() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let names: Vec<String> = (0..100_000)
        .map(|n| format!("sw-{}-{n:02}", n % 7))
        .collect();
    let content = names.join("\n");
    let reply = record(&daemon, &json!({"sender": "user", "content": content}));
    assert_eq!(reply["entities"].as_array().unwrap().len(), 500);
    let warnings = reply["warnings"].to_string();
    has_words(&warnings, &["more mentions were not kept"]);
    let known = daemon.call("list_entities", json!({"session": "s-1"}));
    assert_eq!(known["kinds"], json!({"device": 500}));
    let page = list(&daemon, &json!({"message": reply["message"]}));
    assert!(page["messages"][0]["content"] == content);
    daemon.verify();
}

/// Names with control and bidirectional characters are harmless: tools with such names are refused, and texts about
/// an entity are shown without them, while the message is stored unchanged.
#[test]
fn names_that_disturb_are_made_safe() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    for tool in ["a\u{1b}[31m", "a\nb", "\u{0}", "", &"x".repeat(257)] {
        let args = json!({"session": "s-1", "sender": "tool", "content": "x", "tools": [tool]});
        let refused = daemon.refusal("record_message", args);
        is_refusal(&refused, Code::InvalidInput, &["1 to 256 bytes"]);
        let args = json!({"session": "s-1", "tool": tool});
        let refused = daemon.refusal("record_tool", args);
        is_refusal(&refused, Code::InvalidInput, &["1 to 256 bytes"]);
    }
    let content = "device \"evil\u{202e}10-wts\u{1b}[2J\" and {\"device\": {\"name\": \"router\u{202e}\u{0}-la-02\"}}";
    let reply = record(&daemon, &json!({"sender": "user", "content": content}));
    let result = json!({"device": {"id": 1, "name": "zwitch\u{202e}\u{7}-la-02", "site": {"name": "\u{2066}x\u{9c}"}}});
    let at = super::step(&daemon, "s-1", &result)["position"].clone();
    let known = daemon.call("list_entities", json!({"session": "s-1", "at_least": at}));
    let known = &known["entities"];
    assert!(known.as_array().unwrap().len() >= 2, "{known:#}");
    let is_unsafe =
        |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    for name in each(known, "name")
        .into_iter()
        .chain(each(&reply["entities"], "name"))
    {
        assert!(!name.chars().any(is_unsafe), "{name:?}");
    }
    for key in each(known, "key") {
        let args = json!({"session": "s-1", "name": key});
        let shown = daemon.call("get_entity", args);
        for mention in shown["mentions"].as_array().unwrap() {
            let snippet = mention["snippet"].as_str().unwrap_or_default();
            assert!(!snippet.chars().any(is_unsafe), "{snippet:?}");
        }
    }
    let page = list(&daemon, &json!({"message": reply["message"]}));
    assert_eq!(page["messages"][0]["content"], content);
}

/// A tool execution is reported once, in its current state; updates of an execution that never started are refused.
#[test]
fn an_execution_goes_on() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let begun = daemon.call(
        "record_tool",
        json!({"session": "s-1", "tool": "ping", "status": "starting"}),
    );
    let history = || {
        let session = daemon.call("get_session", json!({"session": "s-1"}));
        each(&session["tool_history"], "status").join(" ")
    };
    assert_eq!(history(), "starting");
    for status in ["running", "completed"] {
        let args = json!({"session": "s-1", "tool": "ping", "execution": begun["execution"], "status": status});
        assert_eq!(
            daemon.call("record_tool", args)["execution"],
            begun["execution"]
        );
        assert_eq!(history(), status);
    }
    let args = json!({"session": "s-1", "tool": "ping", "execution": "t-none"});
    let refused = daemon.refusal("record_tool", args);
    is_refusal(&refused, Code::NotFound, &["`t-none`"]);
}
