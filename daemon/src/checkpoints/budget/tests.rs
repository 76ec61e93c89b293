//! The budgeted view: what it promises for any context and budget, and how it looks.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::LazyLock;

use proptest::prelude::*;

use super::value::Members;
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

fn prose(words: usize) -> String {
    let words = (0..words).map(|n| format!("word{n}"));
    words.collect::<Vec<_>>().join(" ")
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("-12345678901234567890.123456789e+30".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        ".{0,20}".prop_map(|text| text_json(&text)),
        "[a-z \\n\\t\"\\\\é漢🦀-]{0,600}".prop_map(|text| text_json(&text)),
        ("[a-z ]{1,9}", 1..200_usize).prop_map(|(text, times)| text_json(&text.repeat(times))),
    ];
    leaf.prop_recursive(3, 64, 12, |inner| {
        let array = prop::collection::vec(inner.clone(), 0..12);
        let object = prop::collection::vec(inner, 0..6);
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
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_view_keeps_its_promises(context in context(), budget in prop_oneof![1..40_usize, 1..1500_usize]) {
        let view = view_of(&context, budget);
        prop_assert_eq!(&view, &view_of(&context, budget), "the same input gives the same view");
        prop_assert_eq!(view.tokens, TOKENS.count(&view.json));
        prop_assert_eq!(view.tokens_before, tokens_of(&context));
        prop_assert_eq!(view.over_budget, view.tokens > budget);
        if view.tokens_before <= budget {
            prop_assert_eq!(&view.json, &whole(&context), "what fits is left as it is");
        }
        let parsed: serde_json::Value = serde_json::from_str(&view.json).unwrap();
        prop_assert!(parsed.is_object());
        let Members(members) = serde_json::from_str(&view.json).unwrap();
        let mut members = members.into_iter();
        for (report, (key, value, layer)) in view.keys.iter().zip(&context) {
            prop_assert_eq!((&report.key, report.layer), (key, *layer));
            if report.done == TruncationAction::Dropped {
                prop_assert!(*layer != Layer::Critical && report.tokens_after == 0);
                continue;
            }
            prop_assert!(!view.over_budget || *layer == Layer::Critical, "{} made it too long", key);
            let (name, there) = members.next().unwrap();
            prop_assert_eq!(&name, key, "keys keep their order");
            if *layer == Layer::Critical || report.done == TruncationAction::Whole {
                prop_assert_eq!(there.get(), value, "to the byte");
                prop_assert_eq!(report.tokens_after, report.tokens_before);
            } else {
                prop_assert!(*layer != Layer::Ephemeral, "there or not, never shortened");
                prop_assert!(report.tokens_after < report.tokens_before);
            }
        }
        prop_assert!(members.next().is_none());
    }
}

#[test]
fn what_fits_is_left_to_the_byte() {
    let context = vec![entry("notes", text_json("a   b  \n\n\n"), Layer::Useful)];
    let view = view_of(&context, tokens_of(&context));
    assert_eq!(view.json, whole(&context));
    assert!(!view.over_budget && view.tokens == view.tokens_before);
    assert_eq!(view_of(&Vec::new(), 1).json, "{}");
}

/// White space first, then texts, then arrays, then keys.
#[test]
fn each_step_is_taken_only_when_the_one_before_is_not_enough() {
    let row = text_json(&format!(
        "{}{}",
        "spaced    out\n\n\n\n".repeat(20),
        prose(60)
    ));
    let rows = [row.as_str(); 8].join(",");
    let context = vec![entry("rows", format!("[{rows}]"), Layer::Important)];
    let steps = [
        TruncationAction::Whole,
        TruncationAction::Whitespace,
        TruncationAction::Strings,
        TruncationAction::Arrays,
        TruncationAction::Dropped,
    ];
    let mut seen = Vec::new();
    for budget in (1..=tokens_of(&context)).rev().step_by(40).chain([1]) {
        let done = view_of(&context, budget).keys[0].done;
        if seen.last() != Some(&done) {
            seen.push(done);
        }
    }
    assert_eq!(seen, steps);
}

/// Markers name what was left out, the key and the checkpoint; without a checkpoint only the first.
#[test]
fn markers_say_how_to_load_what_was_left_out() {
    let context = vec![entry("notes", text_json(&prose(3_000)), Layer::Useful)];
    let view = view_of(&context, 200);
    let text = &serde_json::from_str::<serde_json::Value>(&view.json).unwrap()["notes"];
    let text = text.as_str().unwrap();
    let (head, rest) = text.split_once("…[").unwrap();
    let (marker, tail) = rest.split_once("]…").unwrap();
    let left_out = prose(3_000).chars().count() - head.chars().count() - tail.chars().count();
    let named = format!("{left_out} characters left out; load key \"notes\" of checkpoint C1");
    assert_eq!(marker, named);
    assert!(head.starts_with("word0 word1") && tail.ends_with("word2999"));
    let unstored = budgeted_view(&entries(&context), 200, None, &TOKENS);
    assert!(
        unstored.json.contains("characters left out]…"),
        "{}",
        unstored.json
    );
}

/// CRITICAL stays whole over any budget, and the view says so.
#[test]
fn critical_is_whole_even_over_budget() {
    let context = vec![
        entry("plan", "1", Layer::Important),
        entry("goal", text_json(&prose(500)), Layer::Critical),
    ];
    let view = view_of(&context, 100);
    assert!(view.over_budget);
    assert_eq!(view.json, whole(&vec![context[1].clone()]));
    assert_eq!(view.layers[1].dropped, 1);
}

/// With something of everything, each layer gets about its share, and the whole budget is used.
#[test]
fn the_shares_hold_when_all_layers_want_more() {
    let texts = |count: usize, words| {
        let texts = (0..count).map(|_| text_json(&prose(words)));
        format!("[{}]", texts.collect::<Vec<_>>().join(","))
    };
    let mut context = vec![
        entry("goal", text_json(&prose(450)), Layer::Critical),
        entry("plan", texts(10, 400), Layer::Important),
        entry("data", texts(10, 400), Layer::Useful),
    ];
    context.extend((0..40).map(|n| entry(&format!("log{n}"), texts(1, 12), Layer::Ephemeral)));
    let budget = 4_000;
    let view = view_of(&context, budget);
    assert!(
        view.tokens <= budget && view.tokens * 100 >= budget * 93,
        "{}",
        view.tokens
    );
    let percent = view.layers.map(|layer| layer.tokens_after * 100 / budget);
    let [critical, important, useful, ephemeral] = percent;
    assert!((20..=30).contains(&critical), "{percent:?}");
    assert!((40..=54).contains(&important), "{percent:?}");
    assert!((15..=24).contains(&useful), "{percent:?}");
    assert!((7..=10).contains(&ephemeral), "{percent:?}");
}

/// A share that a layer does not need goes to the others, down and up again.
#[test]
fn unused_shares_are_not_wasted() {
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
    let small = vec![
        entry("goal", "\"short\"", Layer::Critical),
        entry("log", text_json(&prose(400)), Layer::Ephemeral),
        entry("log2", text_json(&prose(4_000)), Layer::Ephemeral),
    ];
    let view = view_of(&small, 2_000);
    assert_eq!(
        view.keys[1].done,
        TruncationAction::Whole,
        "all the others' shares are free"
    );
    assert_eq!(view.keys[2].done, TruncationAction::Dropped);
}

/// An object, of which nothing can be shortened.
fn object(keys: usize) -> String {
    let members = (0..keys).map(|n| format!("\"key{n}\":{n}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn dones(context: &Context, budget: usize) -> Vec<TruncationAction> {
    let view = view_of(context, budget);
    view.keys.iter().map(|key| key.done).collect()
}

/// A key that cannot be shortened takes what a lower layer has before it is dropped itself.
#[test]
fn lower_layers_yield_before_a_key_is_dropped() {
    let log = entry("log", object(5), Layer::Ephemeral);
    let text = entry("text", text_json(&prose(2_000)), Layer::Useful);
    let plan = entry("plan", object(100), Layer::Important);
    let data = entry("data", object(100), Layer::Useful);

    let budget = tokens_of(&vec![plan.clone()]) + 60;
    let seen = dones(&vec![plan, text, log.clone()], budget);
    assert_eq!(
        seen,
        [
            TruncationAction::Whole,
            TruncationAction::Strings,
            TruncationAction::Dropped
        ]
    );

    let budget = tokens_of(&vec![data.clone()]) + 5;
    let seen = dones(&vec![data.clone(), log.clone()], budget);
    assert_eq!(seen, [TruncationAction::Whole, TruncationAction::Dropped]);

    // Nothing is gained by dropping the log for data that does not fit even so.
    let budget = tokens_of(&vec![log.clone()]) * 2;
    let seen = dones(&vec![data, log], budget);
    assert_eq!(seen, [TruncationAction::Dropped, TruncationAction::Whole]);
}

/// Keys go from EPHEMERAL to IMPORTANT, the largest of a layer first.
#[test]
fn keys_are_dropped_from_the_least_important_on() {
    let context = vec![
        entry("log", object(40), Layer::Ephemeral),
        entry("data", object(40), Layer::Useful),
        entry("more", object(60), Layer::Useful),
        entry("plan", object(40), Layer::Important),
        entry("goal", object(5), Layer::Critical),
    ];
    let mut gone: Vec<String> = Vec::new();
    for budget in (1..=tokens_of(&context)).rev() {
        for key in view_of(&context, budget).keys {
            if key.done == TruncationAction::Dropped && !gone.contains(&key.key) {
                gone.push(key.key);
            }
        }
    }
    assert_eq!(gone, ["log", "more", "data", "plan"]);
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
        view.json.ends_with(",0.10,1e-7],\"userGoal\":\"ship it\"}"),
        "{}",
        view.json
    );
}
