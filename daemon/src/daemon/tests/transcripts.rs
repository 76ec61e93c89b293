//! Transcripts of hosts: recorded once, at the hosts' own times, beside hooks and without them.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::capture::{CLAUDE, Fixture, payload};
use super::*;
use crate::projects::CaptureTable;

/// After all transcripts of the fixtures: 2027.
const NOW: u64 = 1_800_000_000_000_000;

/// Fixtures with the places where their hosts keep them.
const PLACES: [(&str, &str, &str); 14] = [
    (
        "claude-code",
        "claude-code.jsonl",
        ".claude/projects/-w/98f1a43e.jsonl",
    ),
    (
        "claude-code",
        "claude-code-subagent.jsonl",
        ".claude/projects/-w/98f1a43e/subagents/agent-a1e2c13b.jsonl",
    ),
    (
        "codex",
        "codex.jsonl",
        ".codex/sessions/2026/11/01/rollout-1.jsonl",
    ),
    (
        "codex",
        "codex-subagent.jsonl",
        ".codex/sessions/2026/11/01/rollout-2.jsonl",
    ),
    (
        "codex",
        "codex-codemode.jsonl",
        ".codex/archived_sessions/rollout-3.jsonl",
    ),
    (
        "gemini",
        "gemini.jsonl",
        ".gemini/tmp/p/chats/session-1.jsonl",
    ),
    (
        "gemini",
        "gemini-compressed.jsonl",
        ".gemini/tmp/p/chats/session-2.jsonl",
    ),
    (
        "gemini",
        "gemini-older.json",
        ".gemini/tmp/p/chats/session-3.json",
    ),
    (
        "goose",
        "goose-older.jsonl",
        ".local/share/goose/sessions/20260302_1.jsonl",
    ),
    (
        "qwen",
        "qwen.jsonl",
        ".qwen/projects/-w/chats/e1ab535e.jsonl",
    ),
    (
        "copilot",
        "copilot.jsonl",
        ".copilot/session-state/eb765119/events.jsonl",
    ),
    (
        "cline",
        "cline.json",
        ".cline/data/sessions/1/1.messages.json",
    ),
    ("pi", "pi.jsonl", ".pi/agent/sessions/-w/1.jsonl"),
    ("aider", "aider.md", ".aider.chat.history.md"),
];

pub(super) fn transcript(name: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts/src/tests/fixtures");
    fixtures.join(format!("transcript-{name}"))
}

pub(super) fn memory() -> Fixture {
    Fixture::at(NOW, CaptureTable::default())
}

impl Fixture {
    pub(super) fn home(&self) -> PathBuf {
        self.folder().join("home")
    }

    /// Writes a file below the home folder, long ago.
    pub(super) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Imports all transcripts of the home folder; returns the sum of the replies.
    pub(super) async fn import(&self, hosts: &[&str]) -> Value {
        let folder = json!([{"path": self.home()}]);
        let mut args = json!({"hosts": hosts, "folders": folder});
        let mut sum = json!({});
        loop {
            let reply = self.call(None, "import_transcripts", args).await;
            for name in ["recorded", "duplicates", "left_out", "too_long"] {
                let before = sum[name].as_u64().unwrap_or_default();
                sum[name] = json!(before + reply[name].as_u64().unwrap());
            }
            for name in ["unknown", "unread", "found"] {
                let mut all = sum[name].as_array().cloned().unwrap_or_default();
                all.extend(reply[name].as_array().cloned().unwrap_or_default());
                sum[name] = json!(all);
            }
            sum["sessions"] = reply["sessions"].clone();
            let Some(next) = reply["next"].as_str() else {
                assert_eq!(reply["files_done"], reply["files"]);
                assert_eq!(reply["bytes_done"], reply["bytes"]);
                return sum;
            };
            args = json!({"next": next});
        }
    }

    /// Returns what was said and done in a host session's session: sender or tool, and text.
    pub(super) async fn said(&self, host_session: &str) -> Vec<(String, String)> {
        let mut said = Vec::new();
        let caller = Caller {
            host_session: Some(host_session.to_owned()),
            ..Caller::default()
        };
        // Before the first line there is no session.
        let Ok(messages) = self.called(caller, "list_messages", json!({})).await else {
            return said;
        };
        for message in messages["messages"].as_array().unwrap() {
            let sender = message["sender"].as_str().unwrap().to_owned();
            said.push((sender, message["content"].as_str().unwrap().to_owned()));
        }
        said
    }

    pub(super) async fn steps(&self) -> usize {
        let sessions = self
            .call(None, "list_sessions", json!({"state": "any"}))
            .await;
        let sessions = sessions["sessions"].as_array().unwrap().clone();
        let steps = sessions.iter().map(|one| one["steps"].as_u64().unwrap());
        usize::try_from(steps.sum::<u64>()).unwrap()
    }
}

#[tokio::test]
async fn every_host_is_imported_once() {
    for (host, name, place) in PLACES {
        let memory = memory();
        memory.write(place, &fs::read(transcript(name)).unwrap());
        let looked =
            json!({"hosts": [host], "folders": [{"path": memory.home()}], "dry_run": true});
        let found = memory.call(None, "import_transcripts", looked).await;
        assert_eq!(found["found"][0]["files"], 1, "{name}: {found}");
        assert_eq!(found["recorded"], 0);
        let first = memory.import(&[host]).await;
        assert!(first["recorded"].as_u64().unwrap() >= 2, "{name}: {first}");
        assert_eq!(first["unknown"], json!([]), "{name}");
        let end = memory.context().engine.position();
        let again = memory.import(&[host]).await;
        assert_eq!(again["recorded"], 0, "{name}: {again}");
        assert_eq!(memory.context().engine.position(), end, "{name}");
    }
}

/// Models and what they took, as the hosts count it, are in the description of a session.
#[tokio::test]
async fn what_models_took_is_summed_up() {
    let memory = memory();
    for (_, name, place) in PLACES {
        if matches!(name, "codex.jsonl" | "gemini-older.json") {
            memory.write(place, &fs::read(transcript(name)).unwrap());
        }
    }
    memory.import(&[]).await;
    memory.import(&[]).await;
    let models = async |host_session: &str| {
        let caller = Caller {
            host_session: Some(host_session.to_owned()),
            ..Caller::default()
        };
        let shown = memory.called(caller, "get_session", json!({})).await;
        shown.unwrap()["models"].clone()
    };
    assert_eq!(
        models("gemini:5c1f0e7a-0d0e-4b7e-9a51-0c9a3b1f2d3e").await,
        json!([{"model": "gemini-2.5-pro", "calls": 2, "input": 1712, "output": 20, "cache_read": 100, "cache_written": 0}])
    );
    let codex = models("codex:01a207ab-d203-7293-bc53-ed913e0f7689").await;
    assert_eq!(codex[0]["model"], json!("gpt-5.5"), "{codex}");
    assert_eq!(codex[0]["input"], json!(10_425), "{codex}");
}

/// The kind of a subagent is in a file beside its transcript, and its session has one agent, whichever reports first.
#[tokio::test]
async fn a_subagent_has_one_name() {
    let memory = memory();
    let place = ".claude/projects/-w/c-1/subagents/agent-a1";
    memory.write(
        &format!("{place}.meta.json"),
        br#"{"agentType": "Explore"}"#,
    );
    let own = json!({"agentId": "a1", "isSidechain": true, "message": {"role": "user", "content": "Look around"}});
    memory.write(
        &format!("{place}.jsonl"),
        line("c-1", "user", 1, 1, &own).as_bytes(),
    );
    assert_eq!(memory.import(&[CLAUDE]).await["recorded"], 1);
    let sessions = memory
        .call(None, "list_sessions", json!({"state": "any"}))
        .await;
    assert_eq!(
        sessions["sessions"][0]["agents"],
        json!(["claude-code/Explore"])
    );
}

#[tokio::test]
async fn sessions_have_the_hosts_times() {
    let memory = memory();
    for (_, name, place) in PLACES {
        memory.write(place, &fs::read(transcript(name)).unwrap());
    }
    memory.import(&[]).await;
    let listed = memory
        .call(None, "list_sessions", json!({"state": "any", "limit": 3}))
        .await;
    let mut all = listed["sessions"].as_array().unwrap().clone();
    let mut next = listed["next"].clone();
    while next.is_string() {
        let args = json!({"state": "any", "limit": 3, "next": next});
        let page = memory.call(None, "list_sessions", args).await;
        all.extend(page["sessions"].as_array().unwrap().clone());
        next = page["next"].clone();
    }
    let times: Vec<&str> = all
        .iter()
        .map(|one| one["created_at"].as_str().unwrap())
        .collect();
    assert!(times.len() >= 9, "{times:?}");
    assert!(times.is_sorted_by(|one, two| one >= two), "{times:?}");
    assert!(
        times.iter().all(|time| time.starts_with("2026-")),
        "{times:?}"
    );
    // The log says when they were recorded.
    let events = memory.call(None, "read_events", json!({"limit": 5})).await;
    let recorded = events["events"][1]["time"].as_str().unwrap();
    assert!(recorded.starts_with("2027-01-15"), "{events}");
}

/// A line of a transcript of Claude Code.
fn line(session: &str, kind: &str, id: u32, second: u32, more: &Value) -> String {
    let mut line = json!({
        "type": kind, "uuid": format!("u-{id}"), "sessionId": session, "cwd": "/nowhere",
        "timestamp": format!("2026-06-01T10:{:02}:{:02}.000Z", second / 60, second % 60),
    });
    let fields = line.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    line.to_string() + "\n"
}

fn prompt(session: &str, id: u32, second: u32, text: &str) -> String {
    let more = json!({"promptId": format!("p-{id}"), "message": {"role": "user", "content": text}});
    line(session, "user", id, second, &more)
}

fn answer(session: &str, id: u32, second: u32, text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    let more = json!({"message": {"role": "assistant", "content": content}});
    line(session, "assistant", id, second, &more)
}

const PLACE: &str = ".claude/projects/-nowhere/c-1.jsonl";

#[tokio::test]
async fn a_file_that_grows_adds_its_new_part_and_torn_lines_wait() {
    let memory = memory();
    let whole =
        prompt("c-1", 1, 1, "one") + &answer("c-1", 2, 2, "two") + &prompt("c-1", 3, 3, "three");
    let mut said = Vec::new();
    // Torn after every byte.
    for end in 0..=whole.len() {
        memory.write(PLACE, &whole.as_bytes()[..end]);
        memory.import(&[CLAUDE]).await;
        let now = memory.said("claude:c-1").await;
        assert!(now.starts_with(&said), "{end}: {now:?}");
        said = now;
    }
    let said: Vec<&str> = said.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(said, ["one", "two", "three"]);
}

#[tokio::test]
async fn rewritten_and_rewound_files_add_what_is_new() {
    let memory = memory();
    let first = prompt("c-1", 1, 1, "one") + &answer("c-1", 2, 2, "two");
    memory.write(PLACE, first.as_bytes());
    memory.import(&[CLAUDE]).await;
    // Cut, and grown beyond the old length with something else.
    let second =
        prompt("c-1", 1, 1, "one") + &answer("c-1", 3, 4, "another answer, which is longer");
    memory.write(PLACE, second.as_bytes());
    let read = memory.import(&[CLAUDE]).await;
    assert_eq!(read["recorded"], 1, "{read}");
    // Shorter.
    memory.write(PLACE, prompt("c-1", 1, 1, "one").as_bytes());
    assert_eq!(memory.import(&[CLAUDE]).await["recorded"], 0);
    let said = memory.said("claude:c-1").await;
    let said: Vec<&str> = said.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(said, ["one", "two", "another answer, which is longer"]);
}

/// A fork repeats the lines of the session that it was made of: they are recorded there, and once.
#[tokio::test]
async fn a_fork_adds_only_its_own_lines() {
    let memory = memory();
    memory.write(
        PLACE,
        (prompt("c-1", 1, 1, "one") + &answer("c-1", 2, 2, "two")).as_bytes(),
    );
    let forked =
        |id: u32| json!({"forkedFrom": {"sessionId": "c-1", "messageUuid": format!("u-{id}")}});
    let repeat = |text: String, id: u32| {
        let mut line: Value = serde_json::from_str(&text).unwrap();
        line["sessionId"] = json!("c-2");
        line.as_object_mut()
            .unwrap()
            .extend(forked(id).as_object().unwrap().clone());
        line.to_string() + "\n"
    };
    let fork = repeat(prompt("c-1", 1, 1, "one"), 1)
        + &repeat(answer("c-1", 2, 2, "two"), 2)
        + &prompt("c-2", 9, 60, "another way");
    memory.write(".claude/projects/-nowhere/c-2.jsonl", fork.as_bytes());
    let read = memory.import(&[CLAUDE]).await;
    assert_eq!(read["recorded"], 3, "{read}");
    assert_eq!(memory.said("claude:c-1").await.len(), 2);
    let own = memory.said("claude:c-2").await;
    assert_eq!(own, [("user".to_owned(), "another way".to_owned())]);
}

#[tokio::test]
async fn hooks_and_transcripts_meet_in_either_order() {
    for transcript_first in [false, true] {
        let memory = memory();
        let dir = memory.project();
        let at = 1_780_308_000_000; // 10:00:00 of that day.
        let second = |number: i64| at + number * 1000;
        let lines = prompt("c-1", 1, 1, "Find it") + &answer("c-1", 2, 3, "It is 4711.");
        memory.write(PLACE, lines.as_bytes());
        let asked = json!({"prompt": "Find it", "prompt_id": "p-1"});
        let answered = json!({"last_assistant_message": "It is 4711."});
        let hooks = async || {
            memory
                .hook(
                    CLAUDE,
                    &payload("UserPromptSubmit", &dir, asked.clone()),
                    second(1),
                )
                .await;
            memory
                .hook(CLAUDE, &payload("Stop", &dir, answered.clone()), second(4))
                .await
        };
        if transcript_first {
            memory.import(&[CLAUDE]).await;
            let stop = hooks().await;
            assert_eq!(stop["duplicates"], 1, "{stop}");
        } else {
            hooks().await;
            let read = memory.import(&[CLAUDE]).await;
            assert_eq!(
                (&read["recorded"], &read["duplicates"]),
                (&json!(0), &json!(2)),
                "{read}"
            );
        }
        let said = memory.said("claude:c-1").await;
        assert_eq!(said.len(), 2, "{transcript_first} {said:?}");
    }
}

/// Who says the same twice within seconds said it twice, also where a hook was lost.
#[tokio::test]
async fn the_same_words_twice_are_two_messages() {
    let memory = memory();
    let dir = memory.project();
    let lines = answer("c-1", 1, 1, "Done.") + &answer("c-1", 2, 3, "Done.");
    memory.write(PLACE, lines.as_bytes());
    let answered = json!({"last_assistant_message": "Done."});
    memory
        .hook(CLAUDE, &payload("Stop", &dir, answered), 1_780_308_003_000)
        .await;
    memory.import(&[CLAUDE]).await;
    assert_eq!(memory.said("claude:c-1").await.len(), 2);
}

#[tokio::test]
async fn a_past_session_is_seen_as_of_its_own_time() {
    let memory = memory();
    let lines = prompt("c-1", 1, 1, "one") + &prompt("c-1", 2, 120, "two");
    memory.write(PLACE, lines.as_bytes());
    memory.import(&[CLAUDE]).await;
    let seen = async |as_of: &str| {
        let args = json!({"as_of": as_of});
        let messages = memory.call(Some("claude:c-1"), "list_messages", args).await;
        messages["messages"].as_array().unwrap().len()
    };
    assert_eq!(seen("2026-06-01T10:00:30Z").await, 1);
    assert_eq!(seen("2026-06-01T10:02:00Z").await, 2);
}

#[tokio::test]
async fn whatever_a_file_holds_has_a_line_in_the_report() {
    let memory = memory();
    let place = |name: &str| format!(".claude/projects/-nowhere/{name}.jsonl");
    memory.write(&place("binary"), &[0, 255, 10, 1, 2, 10]);
    memory.write(
        &place("other"),
        b"{\"type\":\"never-seen\"}\n{\"type\":\"never-seen\"}\n[1]\n",
    );
    memory.write(&place("empty"), b"");
    let long = format!("{{\"type\":\"user\",\"n\":[{}1]}}\n", "1,".repeat(10 << 20));
    memory.write(&place("long"), long.as_bytes());
    let token = ["ghp_", "x9Qm2Lk8Vb4Zt7Wd1Rf6Yh3Jn5Pc0Sg8Ta2E"].concat();
    let secret = prompt("c-9", 1, 1, &format!("the token is {token}"));
    memory.write(&place("c-9"), secret.as_bytes());
    std::os::unix::fs::symlink("/etc/passwd", memory.home().join(place("link"))).unwrap();
    let read = memory.import(&[CLAUDE]).await;
    let unknown = |kind: &str| {
        let all = read["unknown"].as_array().unwrap().iter();
        let counts = all
            .filter(|one| one["kind"] == kind)
            .map(|one| one["count"].as_u64().unwrap());
        counts.sum::<u64>()
    };
    assert_eq!(unknown("never-seen"), 2, "{read}");
    assert!(unknown("") >= 3, "{read}");
    assert_eq!(read["too_long"], 1, "{read}");
    assert_eq!(read["unread"].as_array().unwrap().len(), 1, "{read}");
    assert_eq!(read["recorded"], 1, "{read}");
    let said = memory.said("claude:c-9").await;
    assert!(!said[0].1.contains(&token), "{said:?}");
    assert_eq!(memory.steps().await, 0);
}

/// What happens in a session, and how its hook is delivered.
#[derive(Clone, Debug)]
struct Occurrence {
    kind: Kind,
    /// Seconds since the last one.
    after: u32,
    /// How often its hook arrives.
    deliveries: u32,
    /// Lines of the transcript that are read before the hook arrives, after its own: negative is before.
    late: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Prompt(u32),
    Answer(u32),
    Call,
}

/// What happens between the steps.
#[derive(Clone, Copy, Debug)]
enum Between {
    Import,
    Reopen,
    LoseCursors,
    GiveUp,
}

fn occurrence() -> impl Strategy<Value = Occurrence> {
    let kind = prop_oneof![
        (0..2_u32).prop_map(Kind::Prompt),
        (0..2_u32).prop_map(Kind::Answer),
        Just(Kind::Call),
    ];
    (kind, 1..20_u32, 0..3_u32, -2..3_i32).prop_map(|(kind, after, deliveries, late)| Occurrence {
        kind,
        after,
        deliveries,
        late,
    })
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Self::Prompt(0) => "go on",
            Self::Prompt(_) => "yes",
            Self::Answer(0) => "Done.",
            Self::Answer(_) => "It is 4711.",
            Self::Call => "",
        }
    }

    fn lines(self, id: u32, second: u32) -> String {
        match self {
            Self::Prompt(_) => prompt("c-1", id, second, self.text()),
            Self::Answer(_) => answer("c-1", id, second, self.text()),
            Self::Call => {
                let call = json!([{"type": "tool_use", "id": format!("t-{id}"), "name": "Bash",
                    "input": {"command": "ls"}}]);
                let result = json!([{"type": "tool_result", "tool_use_id": format!("t-{id}"), "content": "a b"}]);
                let call = json!({"message": {"role": "assistant", "content": call}});
                let result = json!({"message": {"role": "user", "content": result}});
                line("c-1", "assistant", 2 * id + 1000, second, &call)
                    + &line("c-1", "user", 2 * id + 1001, second, &result)
            }
        }
    }

    fn hook(self, id: u32) -> Value {
        match self {
            Self::Prompt(_) => payload(
                "UserPromptSubmit",
                "/nowhere",
                json!({"prompt": self.text(), "prompt_id": format!("p-{id}")}),
            ),
            Self::Answer(_) => payload(
                "Stop",
                "/nowhere",
                json!({"last_assistant_message": self.text()}),
            ),
            Self::Call => payload(
                "PostToolUse",
                "/nowhere",
                json!({"tool_name": "Bash", "tool_use_id": format!("t-{id}"), "tool_input": {"command": "ls"},
                       "tool_response": {"stdout": "a b", "stderr": ""}}),
            ),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// Hooks arrive early, late, twice or never; the transcript is read in parts, whose reading is given up; the daemon is
    /// restarted, and may forget how far it has read. At the end everything is recorded once.
    #[test]
    fn hooks_and_transcripts_record_everything_once(
        occurrences in proptest::collection::vec(occurrence(), 1..9),
        between in proptest::collection::vec(
            proptest::option::of(prop_oneof![
                3 => Just(Between::Import),
                1 => Just(Between::Reopen),
                1 => Just(Between::LoseCursors),
                1 => Just(Between::GiveUp),
            ]),
            24,
        ),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(replay(&occurrences, &between));
    }
}

/// Number of cases; `LORE_INTERLEAVINGS` for more.
fn cases() -> u32 {
    std::env::var("LORE_INTERLEAVINGS").map_or(12, |cases| cases.parse().unwrap())
}

async fn replay(occurrences: &[Occurrence], between: &[Option<Between>]) {
    let mut memory = memory();
    let at = 1_780_308_000_000;
    // Hooks and lines in the order of their arrival.
    let mut arrivals: Vec<(i32, bool, u32, u32)> = Vec::new();
    let mut second = 0;
    for (number, occurrence) in occurrences.iter().enumerate() {
        second += occurrence.after;
        let (number, place) = (number as u32, 10 * number as i32);
        arrivals.push((place, false, number, second));
        for _ in 0..occurrence.deliveries {
            arrivals.push((place + 10 * occurrence.late + 5, true, number, second));
        }
    }
    arrivals.sort_unstable();
    let (mut written, mut events) = (String::new(), between.iter());
    for (_, is_hook, number, second) in arrivals {
        let kind = occurrences[number as usize].kind;
        if is_hook {
            let received = at + i64::from(second) * 1000 + 700;
            memory.hook(CLAUDE, &kind.hook(number), received).await;
        } else {
            written += &kind.lines(number, second);
            memory.write(PLACE, written.as_bytes());
        }
        match events.next().copied().flatten() {
            None => {}
            Some(Between::Import) => drop(memory.import(&[CLAUDE]).await),
            Some(Between::Reopen) => memory.reopen().await,
            Some(Between::LoseCursors) => {
                drop(fs::remove_file(memory.context().folder.transcripts()));
                memory.reopen().await;
            }
            Some(Between::GiveUp) => {
                let reading = memory.import(&[CLAUDE]);
                drop(tokio::time::timeout(std::time::Duration::from_micros(300), reading).await);
            }
        }
    }
    memory.import(&[CLAUDE]).await;
    let mut said: Vec<String> = memory
        .said("claude:c-1")
        .await
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let mut expected: Vec<String> = occurrences
        .iter()
        .map(|one| one.kind.text().to_owned())
        .filter(|text| !text.is_empty())
        .collect();
    said.sort();
    expected.sort();
    assert_eq!(said, expected);
    let calls = occurrences
        .iter()
        .filter(|one| one.kind == Kind::Call)
        .count();
    assert_eq!(memory.steps().await, calls);
}
