//! Random histories of a session, as export lines. Names are few, so that events interact.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::checkpoints::CheckpointKey;
use crate::clock::format_time;

/// 2026-01-31T12:00:00Z, in microseconds.
const START: u64 = 1_769_860_800_000_000;

/// A random event.
#[derive(Clone, Debug)]
pub(super) enum StoryStep {
    MessageMeta {
        sender: u8,
        text: String,
        mentions: Vec<(u8, u8)>,
        tools: u8,
    },
    Large(u32),
    Worked {
        execution: u8,
        status: u8,
    },
    Returned {
        step: u32,
        success: bool,
        text: String,
    },
    Set {
        what: u8,
        text: String,
    },
    Registered {
        is_mapping: bool,
    },
    Found {
        of: u8,
        mentions: Vec<(u8, u8)>,
    },
    Related {
        from: u8,
        to: u8,
    },
    Resolved {
        entity: u8,
        data: Option<String>,
    },
    Saved {
        values: Vec<Option<u16>>,
        is_named: bool,
        is_fork: bool,
    },
    Marked {
        key: u8,
        is_unmarked: bool,
    },
    Pruned,
    Unpruned,
    Closed,
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "\\PC{0,30}",
        1 => Just("a\r\nb\t\u{0}\u{202e}``` \u{2028}\"\\".to_owned()),
    ]
}

fn mentions() -> impl Strategy<Value = Vec<(u8, u8)>> {
    proptest::collection::vec((0..5_u8, 0..4_u8), 0..4)
}

pub(super) fn happens() -> impl Strategy<Value = StoryStep> {
    let values = proptest::collection::vec(proptest::option::weighted(0.8, 0..300_u16), 3);
    prop_oneof![
        6 => (0..4_u8, text(), mentions(), 0..3_u8).prop_map(|(sender, text, mentions, tools)| {
            StoryStep::MessageMeta { sender, text, mentions, tools }
        }),
        1 => (60_000..140_000_u32).prop_map(StoryStep::Large),
        2 => (0..3_u8, 0..4_u8)
            .prop_map(|(execution, status)| StoryStep::Worked { execution, status }),
        6 => (prop_oneof![1..6_u32, Just(1_000_000)], any::<bool>(), text())
            .prop_map(|(step, success, text)| StoryStep::Returned { step, success, text }),
        2 => (0..6_u8, "[a-z]{0,6}").prop_map(|(what, text)| StoryStep::Set { what, text }),
        1 => any::<bool>().prop_map(|is_mapping| StoryStep::Registered { is_mapping }),
        2 => (0..3_u8, mentions()).prop_map(|(of, mentions)| StoryStep::Found { of, mentions }),
        1 => (0..4_u8, 0..4_u8).prop_map(|(from, to)| StoryStep::Related { from, to }),
        1 => (0..4_u8, proptest::option::of(Just(r#"{"n":1.10,"a":[null]}"#.to_owned())))
            .prop_map(|(entity, data)| StoryStep::Resolved { entity, data }),
        4 => (values, any::<bool>(), any::<bool>()).prop_map(|(values, is_named, is_fork)| {
            StoryStep::Saved { values, is_named, is_fork }
        }),
        2 => (0..3_u8, any::<bool>())
            .prop_map(|(key, is_unmarked)| StoryStep::Marked { key, is_unmarked }),
        1 => Just(StoryStep::Pruned),
        1 => Just(StoryStep::Unpruned),
        1 => Just(StoryStep::Closed),
    ]
}

pub(super) fn stories() -> impl Strategy<Value = Vec<StoryStep>> {
    proptest::collection::vec(happens(), 0..25)
}

/// Builds a history line by line.
#[derive(Clone)]
pub(super) struct StoryTeller {
    lines: Vec<Value>,
    /// Distinguishes the ids of one history from those of another.
    name: char,
    said: u32,
    executions: Vec<u8>,
    attempts: std::collections::BTreeMap<u32, u32>,
    /// Checkpoints with their contexts.
    pub(super) saved: Vec<(CheckpointKey, Value)>,
    at: u64,
}

impl StoryTeller {
    pub(super) fn new(name: char) -> Self {
        Self {
            lines: Vec::new(),
            name,
            said: 0,
            executions: Vec::new(),
            attempts: std::collections::BTreeMap::new(),
            saved: Vec::new(),
            at: START + u64::from(u32::from(name)),
        }
    }

    /// Builds a whole history, including its beginning.
    pub(super) fn from_steps(name: char, story: &[StoryStep]) -> Self {
        let mut exporter = Self::new(name);
        let preferences = json!({"theme": "dark", "max": 1.50});
        exporter.push(
            "SessionCreated",
            json!({"title": "Größe | `x`", "user": "ada", "tags": ["a"], "preferences": preferences}),
        );
        story.iter().for_each(|happens| exporter.add(happens));
        exporter
    }

    fn push(&mut self, kind: &str, payload: Value) {
        let n = self.lines.len() + 1;
        self.at += 1 + u64::from(self.name == 'b') * 7;
        let agents = ["claude", "", "größer"];
        let mut line = json!({"n": n, "at": format_time(self.at)});
        let agent = agents[n % agents.len()];
        if !agent.is_empty() {
            line["agent"] = json!(agent);
        }
        line["kind"] = json!(kind);
        line["payload"] = payload;
        self.lines.push(line);
    }

    /// Returns the export's text.
    pub(super) fn text(&self, session: &str, project: Option<&str>) -> String {
        let mut header = json!({"format": "lore-session", "version": 1, "session": session});
        if let Some(project) = project {
            header["project"] = json!(project);
        }
        let end = json!({"end": {"events": self.lines.len()}});
        let lines = [&[header][..], &self.lines, &[end]].concat();
        lines.iter().map(|line| line.to_string() + "\n").collect()
    }

    pub(super) fn add(&mut self, happens: &StoryStep) {
        match happens {
            StoryStep::MessageMeta {
                sender,
                text,
                mentions,
                tools,
            } => {
                let tools: Vec<Value> = (0..*tools)
                    .map(|tool| match tool {
                        0 => json!({"name": "grep", "status": "completed", "result": text}),
                        _ => json!({"name": "ls"}),
                    })
                    .collect();
                let mut payload = self.message(*sender, text);
                if !tools.is_empty() {
                    payload["tools"] = json!(tools);
                }
                payload["tokens"] = json!(text.len());
                payload["rules"] = json!("0aff");
                if !mentions.is_empty() {
                    payload["mentions"] = reported(mentions);
                }
                self.push("MessageRecorded", payload);
            }
            StoryStep::Large(bytes) => {
                let mut payload = self.message(0, &"ä ".repeat(*bytes as usize / 3));
                payload["tokens"] = json!(bytes);
                self.push("MessageRecorded", payload);
            }
            StoryStep::Worked { execution, status } => {
                let status = ["starting", "running", "completed", "error"][usize::from(*status)];
                self.executions.push(*execution);
                let id = format!("t-{}{execution}", self.name);
                let payload = json!({
                    "execution": id, "status": status, "tool": "make", "parameters": {"jobs": 2.0},
                    "rules": "0aff", "mentions": reported(&[(0, *execution)]),
                });
                self.push("ToolRecorded", payload);
            }
            StoryStep::Returned {
                step,
                success,
                text,
            } => {
                // Each history has separate steps, so that attempts do not mix.
                let offset = 10 * u32::from(self.name).saturating_sub(u32::from('a'));
                let step = match step {
                    1_000_000 => step - offset,
                    step => step + offset,
                };
                let attempt = self.attempts.entry(step).or_default();
                // Some attempts are forgotten.
                *attempt += if *success { 1 } else { 3 };
                let payload = json!({
                    "step": step, "attempt": *attempt, "success": success, "tool": "search",
                    "parameters": {"query": text}, "purpose": "to find it", "result": text,
                });
                self.push("StepRecorded", payload);
            }
            StoryStep::Set { what, text } => {
                let payload = match what {
                    0 => json!({"title": text}),
                    1 => json!({"topic": text}),
                    2 => json!({"tags": [], "add_tags": ["b", "c"]}),
                    3 => json!({"remove_tags": ["b"]}),
                    4 => json!({"preferences": {"theme": null}}),
                    _ => json!({"preferences": {"theme": text}}),
                };
                self.push("SessionUpdated", payload);
            }
            StoryStep::Registered { is_mapping: true } => {
                let payload = json!({"field": "email", "aliases": ["mail"]});
                self.push("FieldMappingRegistered", payload);
            }
            StoryStep::Registered { is_mapping: false } => {
                let payload = json!({"name": "ticket", "pattern": "T-([0-9]+)", "group": 1});
                self.push("ExtractorRegistered", payload);
            }
            StoryStep::Found { of, mentions } => self.found(*of, mentions),
            StoryStep::Related { from, to } => {
                let payload = json!({
                    "from": entity(*from), "relation": "connected_to", "to": entity(*to),
                });
                self.push("EntitiesRelated", payload);
            }
            StoryStep::Resolved { entity: one, data } => {
                let mut payload = json!({
                    "entity": entity(*one), "id": "17", "slug": "s-17", "resolver": "netbox",
                    "expires": format_time(self.at + 3_600_000_000), "parents": [{"kind": "site", "key": "nyc"}],
                    "around": reported(&[(1, 2)]),
                });
                if let Some(data) = data {
                    payload["data"] = serde_json::from_str(data).unwrap();
                }
                self.push("EntityResolved", payload);
            }
            StoryStep::Saved {
                values,
                is_named,
                is_fork,
            } => self.saved(values, *is_named, *is_fork),
            StoryStep::Marked { key, is_unmarked } => {
                let mut payload = json!({"key": format!("key-{key}")});
                if *is_unmarked {
                    payload["unmarked"] = json!(true);
                }
                self.push("KeyMarked", payload);
            }
            StoryStep::Pruned => {
                let payload = json!({
                    "strategy": "aggressive", "tokens_before": 9000, "tokens_after": 100,
                    "messages": [format!("m-{}1", self.name)],
                    "tools": [{"step": {"step": 1, "attempt": 1}}, {"tool": "t-a1"}],
                    "entities": [{"kind": "device", "key": "switch-1"}], "went": [1, 2, 3],
                });
                self.push("ContextPruned", payload);
            }
            StoryStep::Unpruned => {
                self.push(
                    "ContextUnpruned",
                    json!({"tokens_before": 1, "tokens_after": 2}),
                );
            }
            StoryStep::Closed => self.push("SessionClosed", json!({"reason": "done"})),
        }
    }

    fn message(&mut self, sender: u8, text: &str) -> Value {
        self.said += 1;
        let sender = ["user", "assistant", "system", "tool"][usize::from(sender)];
        json!({
            "message": format!("m-{}{}", self.name, self.said),
            "sender": sender, "type": "query", "content": text,
        })
    }

    fn found(&mut self, of: u8, mentions: &[(u8, u8)]) {
        let step = self.attempts.iter().next_back();
        let source = match (of, step, self.executions.last()) {
            (0, ..) if self.said > 0 => json!({"message": format!("m-{}{}", self.name, self.said)}),
            (1, Some((step, attempt)), _) => json!({"step": {"step": step, "attempt": attempt}}),
            (2, _, Some(execution)) => json!({"tool": format!("t-{}{execution}", self.name)}),
            _ => return,
        };
        let found = json!([{"source": source, "mentions": reported(mentions)}]);
        self.push("EntitiesFound", json!({"rules": "0aff", "found": found}));
    }

    fn saved(&mut self, values: &[Option<u16>], is_named: bool, is_fork: bool) {
        let mut context = json!({});
        for (key, value) in values.iter().enumerate() {
            match value {
                // A large value becomes a separate chunk and shares most content with the others.
                Some(value) if *value > 200 => {
                    let words: Vec<String> = (0..900).map(|n| format!("w{n}")).collect();
                    context[format!("key-{key}")] = json!(format!("{}{value}", words.join(" ")));
                }
                Some(value) => context[format!("key-{key}")] = json!(value),
                None => {}
            }
        }
        let number = self.saved.len() as u8;
        let id = CheckpointKey::of([self.name as u8 + number; 16]);
        let hash = crate::canonical::Canonical::of(&context.to_string()).unwrap();
        let hash = crate::log::Hash::of(hash.text.as_bytes()).to_string();
        let mut payload = json!({
            "checkpoint": id.to_string(), "hash": hash, "context": context,
        });
        if is_named {
            payload["metadata"] = json!({"name": "n", "ticket": 1.50});
        }
        if let Some((from, _)) = self.saved.last().filter(|_| is_fork) {
            payload["forked_from"] = json!(from.to_string());
        }
        self.saved.push((id, context));
        self.push("CheckpointSaved", payload);
    }
}

fn entity(one: u8) -> Value {
    json!({"kind": "device", "key": format!("switch-{one}"), "name": format!("Switch-{one}")})
}

fn reported(mentions: &[(u8, u8)]) -> Value {
    let hows = ["pattern", "known", "reference", "json", "pattern"];
    let one = |(how, of): &(u8, u8)| {
        let mut mention = entity(*of);
        mention["how"] = json!(hows[usize::from(*how)]);
        if *how == 0 {
            mention["span"] = json!([0, 2]);
            mention["parents"] = json!([{"kind": "site", "key": "nyc"}]);
        }
        if *how == 3 {
            mention["id"] = json!("17");
            mention["slug"] = json!("s-17");
        }
        mention
    };
    mentions.iter().map(one).collect()
}
