//! Large results that hooks recorded are forgotten once their session is not used any more.

use super::capture::{AT, CLAUDE, Fixture, added, from_session, ran, said};
use super::*;
use crate::events::forgetting::ContentForgotten;
use crate::forgetting::{self, Rules};

const DAYS: u64 = 90;
const ERROR: &str = "error: linking with `cc` failed: exit status: 1\n  ld: cannot find -lpq: No such file or directory\nerror: could not compile `orders`";
const WINDOW: Option<&str> = Some("claude:c-1");

/// Applies the default rules some days after the last event.
async fn retained(memory: &Fixture, days: u64) -> ContentForgotten {
    let cx = memory.context();
    let now = cx.engine.clock().now() + days * DAY_MICROS;
    forgetting::retain(&cx, Rules::standard(), now)
        .await
        .unwrap()
}

fn large() -> String {
    "one line of a long report\n".repeat(1000)
}

/// A session in which a failure is mended by a command with a large result.
async fn worked() -> (Fixture, String) {
    let memory = Fixture::new();
    let dir = memory.project();
    let (large, long_error) = (large(), format!("{}{ERROR}", "note: a line\n".repeat(500)));
    for payload in [
        said(&dir, "p1", "Build it"),
        ran(&dir, "t1", "cat report.txt", Ok(&large)),
        ran(&dir, "t2", "cargo build -p orders", Err(ERROR)),
        ran(&dir, "t3", "apt-get install -y libpq-dev", Ok(&large)),
        ran(&dir, "t4", "cargo build -p orders", Ok("{\"id\": 4711}")),
        ran(&dir, "t5", "npm test", Err(&long_error)),
    ] {
        memory.hook(CLAUDE, &payload, AT).await;
    }
    (memory, dir)
}

#[tokio::test]
async fn large_results_go_and_what_was_done_stays() {
    let (memory, dir) = worked().await;
    let named = json!({"names": ["RESULT_FROM_STEP_1", "ID_FROM_STEP_4"]});
    assert_eq!(retained(&memory, DAYS - 1).await.events, 0, "it is early");
    let reported = retained(&memory, DAYS + 1).await;
    assert_eq!((reported.sessions, reported.sessions_in_part), (0, 1));
    assert!(reported.bytes > 2 * large().len() as u64, "{reported:?}");

    // Numbers and values of the others are as before.
    let steps = memory.call(WINDOW, "list_steps", json!({})).await;
    let steps = steps["steps"].as_array().unwrap().iter();
    let numbers: Vec<&Value> = steps.map(|step| &step["step"]).collect();
    assert_eq!(numbers, [2, 4, 5], "a failure stays though it is long");
    let values = memory.call(WINDOW, "resolve_variables", named).await;
    let [gone, left] = [0, 1].map(|at| &values["resolutions"][at]);
    assert_eq!(gone["reason"], "step_not_found", "{values}");
    assert_eq!(left["value"], 4711, "{values}");

    // The command that mended the failure is known by its observation.
    let later = from_session("c-2", ran(&dir, "t9", "cargo build -p orders", Err(ERROR)));
    let text = added(&memory.hook(CLAUDE, &later, AT).await);
    assert!(text.contains("apt-get install -y libpq-dev"), "{text}");

    let again = retained(&memory, DAYS + 1).await;
    assert_eq!(again, ContentForgotten::default());
    // The rule is no use of the session, which goes on with the next number.
    let cx = memory.context();
    cx.engine.clock().advance(1_000_000);
    let next = ran(&dir, "t6", "cat report.txt", Ok(&large()));
    memory.hook(CLAUDE, &next, AT).await;
    let steps = memory.call(WINDOW, "list_steps", json!({})).await;
    let steps = steps["steps"].as_array().unwrap();
    assert!(steps.iter().any(|step| step["step"] == 6), "{steps:?}");
    let now = cx.engine.clock().now();
    let off = Rules::default();
    let none = forgetting::retain(&cx, off, now + 1000 * DAY_MICROS).await;
    assert_eq!(none.unwrap(), ContentForgotten::default(), "0 keeps");
    assert_eq!(retained(&memory, DAYS + 1).await.sessions_in_part, 1);
}

#[tokio::test]
async fn the_rule_is_no_use_of_the_session() {
    let (memory, _) = worked().await;
    let before = memory.call(WINDOW, "get_session", json!({})).await;
    assert_eq!(retained(&memory, DAYS + 1).await.sessions_in_part, 1);
    let after = memory.call(WINDOW, "get_session", json!({})).await;
    assert_eq!(before["last_activity"], after["last_activity"], "{after}");
}

#[tokio::test]
async fn what_is_held_or_no_hook_recorded_stays() {
    let memory = Fixture::new();
    let dir = memory.project();
    for session in ["c-1", "c-2", "c-3", "c-4"] {
        let payload = ran(&dir, "t1", "cat report.txt", Ok(&large()));
        memory
            .hook(CLAUDE, &from_session(session, payload), AT)
            .await;
    }
    let tags = json!({"tags": ["keep"]});
    memory
        .call(Some("claude:c-2"), "update_session", tags)
        .await;
    let named = json!({"context": {"a": 1}, "metadata": {"name": "n"}});
    let save = "workflow_checkpoint_save";
    memory.call(Some("claude:c-3"), save, named).await;
    let parent = memory
        .call(Some("claude:c-4"), "get_session", json!({}))
        .await;
    let fork = json!({"session": parent["session"], "new_session": "child"});
    memory.call(None, "fork_session", fork).await;
    let by_hand = json!({"tool": "t", "result": large()});
    memory.call(WINDOW, "record_step", by_hand).await;
    let reported = retained(&memory, DAYS + 1).await;
    assert_eq!(reported.sessions_in_part, 1, "{reported:?}");
    let steps = memory.call(WINDOW, "list_steps", json!({})).await;
    assert_eq!(steps["steps"][0]["step"], 2, "{steps}");
    for session in ["c-2", "c-3", "c-4"] {
        let window = format!("claude:{session}");
        let steps = memory.call(Some(&window), "list_steps", json!({})).await;
        assert_eq!(steps["steps"].as_array().unwrap().len(), 1, "{steps}");
    }
    // What holds a session no longer does not need a new start.
    let tags = json!({"tags": []});
    memory
        .call(Some("claude:c-2"), "update_session", tags)
        .await;
    assert_eq!(retained(&memory, DAYS + 1).await.sessions_in_part, 1);
}

/// Sizes of tool results in bytes: 200 real ones of 20 servers and many commands, the mean of each fortieth part.
const RESULT_BYTES: [usize; 40] = [
    41, 63, 76, 90, 107, 112, 121, 132, 146, 155, 166, 185, 206, 231, 255, 294, 320, 358, 400, 439,
    512, 595, 661, 704, 767, 870, 954, 1071, 1232, 1440, 1624, 1750, 2074, 2623, 3266, 4056, 5392,
    6154, 15659, 74362,
];
const SESSIONS: usize = 8;
const CALLS: usize = 50;
const YEAR_BYTES_MAX: u64 = 1_000_000_000;

/// Returns a text like a report of a compiler, with random words.
fn report(bytes: usize, random: &mut u64) -> String {
    let mut text = String::with_capacity(bytes + 80);
    let mut next = || {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        *random
    };
    while text.len() < bytes {
        let (word, line) = (next(), next() % 1000);
        let (a, b) = (word as u16, word >> 48);
        text += &format!("src/{a:x}/mod.rs:{line}: warning: unused `{b:x}` in this scope\n");
    }
    text.truncate(bytes);
    text
}

/// Plays a day of eight sessions with 400 calls.
async fn play_day(memory: &Fixture, dir: &str, day: usize, random: &mut u64) {
    for session in 0..SESSIONS {
        let session = format!("c-{day}-{session}");
        for call in 0..CALLS {
            let id = format!("{session}-{call}");
            let result = report(RESULT_BYTES[call * 4 / 5], random);
            let run = ran(dir, &id, &format!("cargo test part_{call}"), Ok(&result));
            memory.hook(CLAUDE, &from_session(&session, run), AT).await;
            if call % 10 == 0 {
                let said = said(dir, &id, &report(200, random));
                memory.hook(CLAUDE, &from_session(&session, said), AT).await;
            }
        }
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let bytes = entries.map(|entry| match entry.file_type().unwrap().is_dir() {
        true => bytes_below(&entry.path()),
        false => entry.metadata().unwrap().len(),
    });
    bytes.sum()
}

/// The bytes of a year, from what a day writes and the large results that the rule removes of it.
#[tokio::test]
async fn a_year_of_ordinary_use_stays_small() {
    let memory = Fixture::new();
    let dir = memory.project();
    let cx = memory.context();
    let data = &cx.folder.data;
    let mut random = 7;
    let mut sizes = Vec::new();
    for day in 0..2 {
        play_day(&memory, &dir, day, &mut random).await;
        memory.call(None, "search", json!({"query": "scope"})).await;
        cx.engine.compact().await.unwrap();
        let folders = ["blobs", "store", "index"];
        let bytes: u64 = folders
            .map(|name| bytes_below(&data.join(name)))
            .iter()
            .sum();
        sizes.push(bytes);
    }
    let blobs = bytes_below(&data.join("blobs"));
    let reported = retained(&memory, DAYS + 1).await;
    assert_eq!(reported.sessions_in_part, 2 * SESSIONS as u64);
    assert!(bytes_below(&data.join("blobs")) < blobs / 10);
    let day = sizes[1] - sizes[0];
    let year = DAYS * day + (365 - DAYS) * (day - blobs / 2);
    assert!(
        year < YEAR_BYTES_MAX,
        "{year}: {day} a day, {blobs} in blobs"
    );
}
