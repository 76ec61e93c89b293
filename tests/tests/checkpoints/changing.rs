//! Contexts that change step by step, in any way, load as they were saved: at once, after a restart, and after others
//! were deleted and the store was compacted.

use lore::connection::Connection;
use serde_json::{Value, json};
use tests::{Random, serve};

use super::{create_session, delete, load, save_text, sha256};

const SAVES: usize = 60;
/// Each of the messages has about this many words.
const WORDS: u64 = 30;

fn words(random: &mut Random, count: u64) -> String {
    const WORDS: [&str; 8] = [
        "deploy",
        "é",
        "\u{1F600}",
        "token",
        "\"quoted\"",
        "line\n",
        "back\\slash",
        "a/b",
    ];
    (0..count)
        .map(|_| format!("{}{} ", random.pick(&WORDS), random.range(0, 90)))
        .collect()
}

fn message(random: &mut Random) -> Value {
    let text = words(random, WORDS);
    json!({"role": "user", "id": random.bits(), "content": text, "cost": 0.50})
}

/// Returns a context with a long list, a map, a nested list, a long text and small values.
fn first(random: &mut Random) -> Value {
    let messages: Vec<Value> = (0..40).map(|_| message(random)).collect();
    let state = (0..150).map(|n| (format!("k{n:03}"), json!(words(random, 3))));
    json!({
        "zeta": 1,
        "messages": messages,
        "channels": {"later": {"items": messages}, "earlier": [1, 2, 3]},
        "state": state.collect::<serde_json::Map<String, Value>>(),
        "text": words(random, 900),
        "plan": ["one", "two"],
    })
}

/// Changes a context as agents do, and sometimes as they do not.
fn change(context: &mut Value, random: &mut Random) {
    let new = message(random);
    let list = match random.one_in(2) {
        true => &mut context["messages"],
        false => &mut context["channels"]["later"]["items"],
    };
    if let Some(list) = list.as_array_mut() {
        let at = random.range(0, list.len() as u64) as usize;
        match random.range(0, 5) {
            0 => list.push(new),
            1 => list.insert(at, new),
            2 if list.len() > 4 => drop(list.remove(at)),
            3 if !list.is_empty() => list.swap(0, at),
            _ if !list.is_empty() => list[at] = new,
            _ => {}
        }
    }
    let key = format!("k{:03}", random.range(0, 160));
    let text = words(random, 3);
    match random.range(0, 12) {
        0 => drop(
            context["state"]
                .as_object_mut()
                .map(|state| state.remove(&key)),
        ),
        1 => context["text"] = json!(words(random, 900)),
        2 => {
            let text = context["text"].as_str().unwrap_or_default();
            let at = text.char_indices().nth(text.chars().count() / 2);
            let (before, after) = text.split_at(at.map_or(0, |(at, _)| at));
            context["text"] = json!(format!("{before}in between{after}"));
        }
        3 => context["messages"] = json!([]),
        4 => context["messages"] = context["channels"]["later"]["items"].clone(),
        5 => context["added"] = json!({"list": vec![text; 40]}),
        6 => drop(context.as_object_mut().map(|keys| keys.remove("added"))),
        7 => context["secret"] = json!(format!("password={:016x}Q!", random.bits())),
        8 => drop(context.as_object_mut().map(|keys| keys.remove("secret"))),
        _ => context["state"][key] = json!(text),
    }
}

/// A saved context: its id, and the text and the hash that it loads with.
struct SavedCheckpoint {
    id: String,
    text: String,
}

fn checked(connection: &mut Connection, saved: &[SavedCheckpoint]) {
    for one in saved {
        let loaded = load(connection, json!({"checkpointId": one.id})).unwrap();
        assert_eq!(loaded.context.get(), one.text, "{}", one.id);
        assert_eq!(loaded.metadata["contextHash"], sha256(&one.text));
    }
}

#[test]
fn changing_contexts_load_as_they_were_saved() {
    let seed = tests::seed();
    println!("LORE_SEED={seed}");
    let mut random = Random::new(seed);
    let (home, daemon) = serve!();
    create_session(&daemon, "s");
    create_session(&daemon, "others");
    let mut connection = daemon.connect("");
    let mut context = first(&mut random);
    let mut saved: Vec<SavedCheckpoint> = Vec::new();
    let mut daemon = daemon;
    for number in 0..SAVES {
        let session = if random.one_in(8) { "others" } else { "s" };
        let written = match random.one_in(6) {
            true => serde_json::to_string_pretty(&context).unwrap(),
            false => context.to_string(),
        };
        let args = match random.one_in(3) {
            true => format!(r#"{{"context":{written},"sessionId":"{session}","force":true}}"#),
            false => format!(r#"{{"sessionId":"{session}","context":{written},"force":true}}"#),
        };
        let reply = save_text(&mut connection, args).unwrap();
        let loaded = load(&mut connection, json!({"checkpointId": reply.id})).unwrap();
        let text = loaded.context.get().to_owned();
        let value: Value = serde_json::from_str(&text).unwrap();
        if reply
            .warnings
            .iter()
            .any(|warning| warning.contains("redact"))
        {
            assert_ne!(value, context);
        } else {
            assert_eq!(value, context);
        }
        saved.push(SavedCheckpoint { id: reply.id, text });
        if number == SAVES / 2 {
            // The next save has nothing in memory to be compared with.
            daemon.stop();
            daemon = home.start();
            connection = daemon.connect("");
        }
        if random.one_in(10) {
            context = first(&mut random);
        }
        for _ in 0..random.range(0, 4) {
            change(&mut context, &mut random);
        }
    }
    checked(&mut connection, &saved);
    daemon.stop();
    let daemon = home.start();
    let mut connection = daemon.connect("");
    checked(&mut connection, &saved);
    saved.retain(|one| {
        let goes = random.one_in(2);
        if goes {
            delete(&mut connection, &one.id).unwrap();
        }
        !goes
    });
    daemon.call("compact", json!({}));
    daemon.stop();
    let daemon = home.start();
    checked(&mut daemon.connect(""), &saved);
    daemon.verify();
}
