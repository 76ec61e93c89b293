//! The budgeted view: what it promises for any context and budget, and contexts of real agents.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::render::Members;
use super::*;
use crate::checkpoints::layers::{ContextRules, LayerWords};

static TOKENS: LazyLock<Tokens> = LazyLock::new(Tokens::default);

/// Keys, values as JSON, layers.
type Context = Vec<(String, String, Layer)>;

fn entries(context: &Context) -> Vec<Entry<'_>> {
    let entries = context.iter().map(|(key, value, layer)| Entry {
        key,
        value,
        assignment: LayerAssignment {
            layer: *layer,
            rule: Rule::Otherwise,
        },
    });
    entries.collect()
}

fn view_of(context: &Context, budget: usize) -> BudgetedView {
    budgeted_view(&entries(context), budget, Some("C1"), &TOKENS)
}

/// The view of a context as an agent writes it: words and shapes decide the layers.
pub(super) fn agent_view(context: &Value, marked: &[&str], budget: usize) -> (BudgetedView, Value) {
    let words = LayerWords::default();
    let values: Vec<(String, String)> = context
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (key.clone(), value.to_string()))
        .collect();
    let entries: Vec<Entry<'_>> = values
        .iter()
        .map(|(key, value)| Entry {
            key,
            value,
            assignment: words.place(
                key,
                value,
                marked.contains(&key.as_str()),
                &ContextRules::default(),
            ),
        })
        .collect();
    let view = budgeted_view(&entries, budget, Some("C1"), &TOKENS);
    assert!(view.tokens <= budget, "{} of {budget} tokens", view.tokens);
    let json = serde_json::from_str(&view.json).unwrap();
    (view, json)
}

fn whole(context: &Context) -> String {
    let members = context
        .iter()
        .map(|(key, value, _)| format!("{}:{value}", text_json(key)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn tokens_of(context: &Context) -> usize {
    TOKENS.count(&whole(context))
}

fn entry(key: &str, value: impl Into<String>, layer: Layer) -> (String, String, Layer) {
    (key.to_owned(), value.into(), layer)
}

pub(super) fn prose(words: usize) -> String {
    let words = (0..words).map(|n| format!("word{n}"));
    words.collect::<Vec<_>>().join(" ")
}

/// Messages with these numbers of words, by turns of a user and an assistant; every third one calls a tool.
pub(super) fn messages(words: &[usize]) -> Vec<Value> {
    let mut messages = Vec::new();
    for (at, words) in words.iter().enumerate() {
        let text = format!("message {at}: {}", prose(*words));
        match at % 3 {
            0 => messages.push(json!({"role": "user", "content": text})),
            1 => messages.push(json!({"role": "assistant", "content": text})),
            _ => {
                let id = format!("call_{at}");
                messages.push(json!({"role": "assistant", "content": null, "tool_calls": [
                    {"id": id, "type": "function", "function": {"name": "grep", "arguments": "{}"}}]}));
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            }
        }
    }
    messages
}

/// The messages that are whole in a view, by their index.
pub(super) fn whole_messages(view: &Value, messages: &[Value]) -> Vec<usize> {
    let kept = view.as_array().map(Vec::as_slice).unwrap_or_default();
    (0..messages.len())
        .filter(|at| kept.contains(&messages[*at]))
        .collect()
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("-12345678901234567890.123456789e+30".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        ".{0,20}".prop_map(|text| text_json(&text)),
        "[a-z \\n\\t\"\\\\é漢🦀-]{0,600}".prop_map(|text| text_json(&text)),
        ("[a-z ]{1,9}", 1..200_usize).prop_map(|(text, times)| text_json(&text.repeat(times))),
        prop::collection::vec(0..60_usize, 0..12)
            .prop_map(|words| Value::from(messages(&words)).to_string()),
    ];
    leaf.prop_recursive(3, 64, 12, |inner| {
        let array = prop::collection::vec(inner.clone(), 0..12);
        let object = prop::collection::vec(inner, 0..12);
        prop_oneof![
            array.prop_map(|elements| format!("[{}]", elements.join(","))),
            object.prop_map(|members| {
                let members = members.iter().enumerate();
                let members = members.map(|(n, value)| format!("\"k{n}\":{value}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

fn context() -> impl Strategy<Value = Context> {
    let entry = ("[a-z_\"é ]{0,8}", value(), prop::sample::select(&LAYERS));
    prop::collection::vec(entry, 0..9).prop_map(|entries| {
        let entries = entries.into_iter().enumerate();
        let entries = entries.map(|(n, (key, value, layer))| (format!("{key}{n}"), value, layer));
        entries.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_view_keeps_its_promises(context in context(), budget in prop_oneof![1..40_usize, 1..1500_usize]) {
        let view = view_of(&context, budget);
        prop_assert_eq!(&view, &view_of(&context, budget), "the same input gives the same view");
        prop_assert_eq!(view.tokens, TOKENS.count(&view.json));
        prop_assert!(view.tokens <= budget, "{} tokens of {}", view.tokens, budget);
        prop_assert_eq!(view.tokens_before, tokens_of(&context));
        if view.tokens_before <= budget {
            prop_assert_eq!(&view.json, &whole(&context), "what fits is left as it is");
        }
        let critical: Context = context.iter().filter(|(.., layer)| *layer == Layer::Critical).cloned().collect();
        prop_assert_eq!(view.over_budget, tokens_of(&critical) > budget, "critical keys are whole if they fit");
        let parsed: Value = serde_json::from_str(&view.json).unwrap();
        prop_assert!(parsed.is_object());
        let Members(members) = serde_json::from_str(&view.json).unwrap();
        let mut members = members.into_iter();
        for (report, (key, value, layer)) in view.keys.iter().zip(&context) {
            prop_assert_eq!((&report.key, report.layer), (key, *layer));
            let is_whole = report.done == TruncationAction::Whole;
            prop_assert!(is_whole || *layer != Layer::Critical || view.over_budget);
            if report.done == TruncationAction::Dropped {
                prop_assert_eq!(report.tokens_after, 0);
                continue;
            }
            let (name, there) = members.next().unwrap();
            prop_assert_eq!(&name, key, "keys keep their order");
            if is_whole {
                prop_assert_eq!(there.get(), value, "to the byte");
                prop_assert_eq!(report.tokens_after, report.tokens_before);
            } else {
                prop_assert!(report.tokens_after < report.tokens_before, "{}", view.json);
            }
        }
        prop_assert!(members.next().is_none());
    }
}

proptest! {
    // Each case builds many views.
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// A larger budget never keeps fewer whole messages, also beside other data.
    #[test]
    fn a_larger_budget_never_keeps_fewer_messages(
        words in prop::collection::vec(prop_oneof![0..20_usize, 0..150_usize], 2..30),
        others in prop::collection::vec((prop::sample::select(&LAYERS), 1..300_usize), 0..6),
        layer in prop::sample::select(&LAYERS),
        first in 1..40_usize,
    ) {
        let messages = messages(&words);
        let mut context = vec![entry("messages", Value::from(messages.clone()).to_string(), layer)];
        for (at, (layer, words)) in others.iter().enumerate() {
            context.push(entry(&format!("other{at}"), text_json(&prose(*words)), *layer));
        }
        let mut before = Vec::new();
        let all = tokens_of(&context);
        for budget in (first..=all).step_by(all / 30 + 1).chain([all]) {
            let view: Value = serde_json::from_str(&view_of(&context, budget).json).unwrap();
            let now = whole_messages(&view["messages"], &messages);
            prop_assert!(now.len() >= before.len(), "{budget}: {now:?} after {before:?}");
            before = now;
        }
        prop_assert_eq!(before.len(), messages.len());
    }
}

#[test]
fn what_fits_is_left_to_the_byte() {
    let context = vec![entry("notes", text_json("a   b  \n\n\n"), Layer::Useful)];
    let view = view_of(&context, tokens_of(&context));
    assert_eq!(view.json, whole(&context));
    assert!(!view.over_budget && view.tokens == view.tokens_before);
    assert_eq!(view_of(&Vec::new(), 1).json, "{}");
    assert_eq!(view_of(&context, 1).json, "{}");
}

/// The task and the plan stay beside results of any size.
#[test]
fn the_task_stays_beside_large_results() {
    let result = json!({"title": "SSO", "text": "lorem ipsum dolor ".repeat(600)});
    for key in [
        "searchResults",
        "toolResults",
        "userMessages",
        "results",
        "errors",
        "answers",
    ] {
        let context = json!({
            "task": "Compare SSO vendors for the company.",
            "instructions": "Only vendors in the EU. Answer in a table.",
            "plan": ["read the results", "compare", "write"],
            "notes": "Vendor B has no SCIM.",
            key: vec![result.clone(); 100],
        });
        let (view, json) = agent_view(&context, &[], 4000);
        for kept in ["task", "instructions", "plan", "notes"] {
            assert_eq!(json[kept], context[kept], "{key}");
        }
        assert!(json[key].as_array().unwrap().len() > 2, "{key}: {json}");
        assert!(view.tokens > 3500, "{key}: {}", view.tokens);
    }
}

/// Small critical keys are whole when a large one has to be cut, and the report says so.
#[test]
fn critical_keys_that_do_not_fit() {
    let context = json!({
        "goal": "Ship release 1.4.",
        "finalAnswer": prose(3000),
        "decision": "No new endpoint.",
        "plan": "test, tag",
        "messages": messages(&[40; 30]),
    });
    let (view, json) = agent_view(&context, &[], 1000);
    assert!(view.over_budget);
    for kept in ["goal", "decision", "plan"] {
        assert_eq!(json[kept], context[kept]);
    }
    let answer = json["finalAnswer"].as_str().unwrap();
    assert!(answer.contains("characters left out"), "{answer}");
    assert!(view.tokens > 800);
    // Marks come before words.
    let (view, json) = agent_view(&context, &["messages"], 3000);
    assert!(view.over_budget);
    let all = context["messages"].as_array().unwrap();
    assert!(whole_messages(&json["messages"], all).len() > 5, "{json}");
}

/// Whole messages: the first request, the newest, marked ones; a call with its result; never a fragment.
#[test]
fn a_conversation_keeps_whole_messages() {
    let mut all: Vec<Value> = messages(&[110; 60]);
    all[20]["pinned"] = json!(true);
    let ask =
        "Yes, go ahead, but keep the old endpoint for two weeks and tell Dana before the switch.";
    all.push(json!({"role": "user", "content": ask}));
    let context = json!({ "messages": all });
    for budget in [1500, 3000, 10_000] {
        let (view, json) = agent_view(&context, &[], budget);
        let kept = json["messages"].as_array().unwrap();
        let whole = whole_messages(&json["messages"], &all);
        assert_eq!(kept.len(), whole.len() + 1, "all but the marker are whole");
        assert!(
            whole.contains(&0) && whole.contains(&(all.len() - 1)),
            "{whole:?}"
        );
        assert!(budget < 3000 || whole.contains(&20), "{whole:?}");
        assert!(view.tokens * 10 > budget * 6, "{} of {budget}", view.tokens);
        for (at, message) in all.iter().enumerate() {
            if message.get("tool_calls").is_some() {
                assert_eq!(whole.contains(&at), whole.contains(&(at + 1)), "call {at}");
            }
        }
    }
}

/// Within a few tokens one whole message is left, of the first request, the last one and the newest message. More of
/// these are whole as soon as they fit.
#[test]
fn a_few_tokens_keep_one_whole_message() {
    let mut all = messages(&[12; 20]);
    for context in [
        json!({ "messages": all }),
        json!({ "messages": all, "data": prose(300), "notes": prose(300), "plan": prose(300) }),
    ] {
        for budget in [60, 80, 150, 300] {
            let (_, json) = agent_view(&context, &[], budget);
            let whole = whole_messages(&json["messages"], &all);
            assert!(whole.contains(&0), "{budget}: {json}");
            let newest = all.len() - 1;
            assert!(budget < 300 || whole.contains(&newest), "{budget}: {json}");
        }
    }
    let long = messages(&[30; 61]);
    let (_, json) = agent_view(&json!({ "messages": long }), &[], 300);
    let whole = whole_messages(&json["messages"], &long);
    assert!(
        whole.contains(&0) && whole.contains(&(long.len() - 1)),
        "{json}"
    );
    all[0] = json!({"role": "user", "content": prose(1000)});
    let (_, json) = agent_view(&json!({ "messages": all }), &[], 60);
    let whole = whole_messages(&json["messages"], &all);
    assert!(
        whole.contains(&(all.len() - 1)) || whole.len() == 1,
        "{json}"
    );
}

/// One message that is too long alone is shortened; the others stay whole.
#[test]
fn only_a_message_that_is_too_long_alone_is_shortened() {
    let mut all = messages(&[30; 20]);
    all.insert(
        0,
        json!({"role": "user", "content": format!("Summarise this log: {}", prose(20_000))}),
    );
    let context = json!({ "messages": all });
    let (view, json) = agent_view(&context, &[], 4000);
    let kept = json["messages"].as_array().unwrap();
    assert!(
        kept[0]["content"]
            .as_str()
            .unwrap()
            .starts_with("Summarise this log: word0")
    );
    assert_eq!(kept[0]["role"], "user");
    assert!(
        whole_messages(&json["messages"], &all).len() >= 10,
        "{json}"
    );
    assert!(view.tokens > 3000);
    let alone = json!({"messages": [all[0]]});
    let (view, _) = agent_view(&alone, &[], 1000);
    assert!(view.tokens > 900, "{}", view.tokens);
}

/// A log fills what remains, with its newest lines.
#[test]
fn ephemeral_data_fill_the_rest() {
    let lines: Vec<String> = (0..2000)
        .map(|n| format!("12:00:{n} GET /invoice/{n} 200"))
        .collect();
    for log in [json!(lines), json!(lines.join("\n"))] {
        let context =
            json!({"goal": "Find the slow request.", "debugLog": log, "_scratch": prose(30)});
        let (view, json) = agent_view(&context, &[], 400);
        assert!(view.tokens > 330, "{}: {json}", view.tokens);
        assert_eq!(json["goal"], context["goal"]);
        assert!(
            json["debugLog"].to_string().contains("/invoice/1999 200"),
            "{json}"
        );
        assert!(
            !json["debugLog"].to_string().contains("/invoice/3 200"),
            "{json}"
        );
    }
    // It yields to everything else.
    let context = json!({"notes": prose(3000), "plan": prose(3000), "debugLog": lines});
    let (view, json) = agent_view(&context, &[], 2000);
    assert!(view.layers[3].tokens_after < 150, "{json}");
}

/// IMPORTANT and USEFUL divide what they compete for, and pass on what they do not need.
#[test]
fn layers_share_what_they_compete_for() {
    let texts = |count: usize, words| {
        let texts = (0..count).map(|_| text_json(&prose(words)));
        format!("[{}]", texts.collect::<Vec<_>>().join(","))
    };
    let context = vec![
        entry("goal", text_json(&prose(450)), Layer::Critical),
        entry("plan", texts(10, 400), Layer::Important),
        entry("data", texts(10, 400), Layer::Useful),
    ];
    let view = view_of(&context, 4000);
    assert!(view.tokens >= 3600, "{}", view.tokens);
    let [critical, important, useful, _] = view.layers.map(|layer| layer.tokens_after);
    assert_eq!(critical, view.layers[0].tokens_before);
    let ratio = important as f64 / useful as f64;
    assert!((1.6..2.4).contains(&ratio), "{important} and {useful}");
    for layer in [Layer::Important, Layer::Useful] {
        let context = vec![
            entry("goal", "\"short\"", Layer::Critical),
            entry("text", text_json(&prose(5_000)), layer),
        ];
        let view = view_of(&context, 2_000);
        assert!(
            (1_850..=2_000).contains(&view.tokens),
            "{layer:?}: {}",
            view.tokens
        );
    }
}

/// As callers see it: words decide the layers, numbers keep their digits, the order stays.
#[test]
fn a_view_from_words_to_text() {
    let mut context: Context = Vec::new();
    let samples = "0.10,".repeat(300) + "1e-7";
    for (key, value) in [
        ("debugLog", text_json(&prose(300))),
        ("samples", format!("[{samples}]")),
        ("userGoal", "\"ship it\"".to_owned()),
    ] {
        let assignment = LayerWords::default().place(key, &value, false, &ContextRules::default());
        context.push((key.to_owned(), value, assignment.layer));
    }
    let view = budgeted_view(&entries(&context), 60, None, &TOKENS);
    let marker = view.json.split("…").nth(1).unwrap();
    assert!(
        marker.ends_with(" of 301 elements left out]"),
        "{}",
        view.json
    );
    assert!(
        view.json.starts_with("{\"samples\":[0.10,0.10,"),
        "{}",
        view.json
    );
    assert!(
        view.json.ends_with(",1e-7],\"userGoal\":\"ship it\"}"),
        "{}",
        view.json
    );
}
