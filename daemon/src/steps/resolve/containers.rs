//! What a field is in: the words of a name before its last one are those of the objects and lists around it.

use super::field::{Match, splits, under};
use super::step::StepData;
use crate::steps::parse::{NodeId, Nodes, last_word};
use crate::steps::words;

/// Returns the fields of what is named by the last part of its key: `RUN_ID` is the `id` of one of the `workflow_runs`.
pub(super) fn of_last_part(step: &StepData, field: &str) -> Vec<Match> {
    let (nodes, index) = (step.parsed().nodes(), step.parsed().index());
    let mut all = Vec::new();
    for (head, tail) in splits(field) {
        let mut heads = words::plurals(&words::normalise(head));
        heads.push(words::normalise(head));
        for id in under(index, nodes, tail) {
            let Some(node) = nodes.get(id) else {
                continue;
            };
            // The object of the field, else the list of that object.
            let object = nodes.get(node.parent);
            let list = object.and_then(|object| nodes.get(object.parent));
            let keys = [object, list].into_iter().flatten();
            let key = keys.filter_map(|node| nodes.key(node)).next();
            let last = key.map(|key| words::normalise(last_part(key)));
            if last.is_some_and(|last| heads.contains(&last)) {
                all.push(Match::by_letters(id, node.depth));
            }
        }
    }
    all
}

/// Returns the last word of a key: `runs` of `workflow_runs` and of `workflowRuns`.
fn last_part(key: &str) -> &str {
    let snake = key.rfind(['_', '-']).map_or(0, |at| at + 1);
    let camel = key
        .char_indices()
        .rev()
        .find(|(_, c)| c.is_uppercase())
        .map_or(0, |(at, _)| at);
    key.get(snake.max(camel)..).unwrap_or(key)
}

/// Returns whether the path above `id` ends with whole segments that together are one of `words`.
pub(super) fn is_below(nodes: &Nodes, id: NodeId, words: &[String]) -> bool {
    words.iter().any(|word| ends_with(nodes, id, word))
}

/// Returns whether the path above `id` ends with whole segments that together are `words`.
fn ends_with(nodes: &Nodes, id: NodeId, words: &str) -> bool {
    let mut left = words.to_owned();
    let mut at = id;
    while !left.is_empty() {
        let Some(node) = nodes.get(at).filter(|node| node.parent != at) else {
            return false;
        };
        at = node.parent;
        let Some(key) = nodes.get(at).and_then(|parent| nodes.key(parent)) else {
            continue;
        };
        // A dotted key counts as a whole, or by its last word as the end of the search.
        let whole = words::normalise(key);
        if last_word(key).is_some_and(|last| words::normalise(last) == left) {
            return true;
        }
        if whole.is_empty() || !left.ends_with(&whole) {
            return false;
        }
        left.truncate(left.len() - whole.len());
    }
    true
}
