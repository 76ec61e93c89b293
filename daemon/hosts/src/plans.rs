//! Plans, questions and their answers: what some tools say beside being called.

use serde_json::Value;

use crate::fields::{any, filled, is_true, list, owned, text};
use crate::observation::{Observed, Outcome, PlanItem};
use crate::outcome::answers;
use crate::tools::{ToolCall, ToolKind};

/// Items of one plan that are listed.
const ITEMS_MAX: usize = 256;

/// Returns the plan that a call which succeeded set or changed.
pub fn of_call(call: &ToolCall, result: &Value) -> Option<Observed> {
    if call.kind != ToolKind::Plan {
        return None;
    }
    let items = items(&call.input);
    if !items.is_empty() {
        return Some(whole(items));
    }
    let prose = filled(&call.input, &["plan", "todos", "explanation"]);
    if let Some(prose) = prose {
        return Some(Observed::Plan {
            items: Vec::new(),
            is_whole: true,
            text: prose.to_owned(),
        });
    }
    // Claude Code's tasks: created with a subject, and later changed by their number.
    let id =
        owned(result, &["task.id", "taskId"]).or_else(|| owned(&call.input, &["taskId", "id"]));
    let state = text(&call.input, &["status"]).unwrap_or(if id.is_some() { "pending" } else { "" });
    let subject = text(&call.input, &["subject", "title"]).unwrap_or_default();
    let is_change = !subject.is_empty() || any(&call.input, &["status"]).is_some();
    (id.is_some() && is_change).then(|| one(id.unwrap_or_default(), subject, state))
}

/// Returns the items of a list of tasks.
pub fn items(value: &Value) -> Vec<PlanItem> {
    let found = list(value, &["todos", "plan", "all_todos", "items", "todoList"]);
    let items = found.iter().take(ITEMS_MAX).map(|item| PlanItem {
        id: id(item),
        text: text(
            item,
            &["content", "step", "description", "title", "text", "subject"],
        )
        .or_else(|| item.as_str())
        .unwrap_or_default()
        .to_owned(),
        state: text(item, &["status", "state"])
            .unwrap_or(if is_true(item, &["completed", "done"]) {
                "completed"
            } else {
                ""
            })
            .to_owned(),
    });
    items.filter(|item| !item.text.is_empty()).collect()
}

fn id(item: &Value) -> String {
    match any(item, &["id"]) {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    }
}

/// Returns a plan with all its items.
pub const fn whole(items: Vec<PlanItem>) -> Observed {
    Observed::Plan {
        items,
        is_whole: true,
        text: String::new(),
    }
}

/// Returns a change of one item.
pub fn one(id: String, text: &str, state: &str) -> Observed {
    Observed::Plan {
        items: vec![PlanItem {
            id,
            text: text.to_owned(),
            state: state.to_owned(),
        }],
        is_whole: false,
        text: String::new(),
    }
}

/// Returns what a call asks a person.
pub fn question(call: &ToolCall) -> Option<Observed> {
    if call.kind != ToolKind::Question {
        return None;
    }
    let several = list(&call.input, &["questions"]);
    let mut lines: Vec<&str> = several
        .iter()
        .filter_map(|one| filled(one, &["question", "text"]))
        .collect();
    lines.extend(filled(&call.input, &["question", "message", "prompt"]));
    let of_all = several
        .iter()
        .chain([&call.input])
        .flat_map(|one| list(one, &["options", "choices"]));
    let options = of_all.filter_map(|option| {
        option
            .as_str()
            .or_else(|| text(option, &["label", "value"]))
    });
    (!lines.is_empty()).then(|| Observed::Question {
        text: lines.join("\n"),
        options: options.map(str::to_owned).collect(),
    })
}

/// Returns what a person answered to a call's questions.
pub fn replies(call: &ToolCall, outcome: &Outcome) -> Vec<Observed> {
    if call.kind != ToolKind::Question {
        return Vec::new();
    }
    let mut found = answers(&outcome.result);
    if found.is_empty() && !outcome.text.is_empty() {
        found.push((String::new(), outcome.text.clone()));
    }
    let replies = found.into_iter().map(|(question, text)| {
        let question = if question.is_empty() {
            filled(&call.input, &["question", "message"])
                .unwrap_or_default()
                .to_owned()
        } else {
            question
        };
        Observed::Reply { question, text }
    });
    replies.collect()
}
