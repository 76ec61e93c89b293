//! The items of a result's lists, and what is their own among the fields of a name.

use super::field::{Match, MatchedBy, same_shape};
use super::step::StepData;
use crate::steps::parse::{Kind, NodeId, NodeLabel, Nodes};
use crate::steps::words;
use std::collections::{HashMap, HashSet};

/// What an item has of a name, best first: the shallowest field, by the name rather than by an alias.
type Shallowest = (u16, MatchedBy, usize);

/// Returns the fields of a name that are the items' own, in document order.
///
/// Each item of an outermost list gives its shallowest fields; what is around the list gives none. An item whose own
/// field is null has no value. Without a list, every field of the name counts, and without one the best alias. A list
/// that has the name as it was asked for, such as `ids`, is the answer itself. `forms` begins with that name.
pub(super) fn own(step: &StepData, found: Vec<Match>, forms: &[String]) -> Vec<NodeId> {
    let nodes = step.parsed().nodes();
    let documents = documents_are_items(step);
    let words = words_of(step, forms);
    let mut best: HashMap<NodeId, Shallowest> = HashMap::new();
    let mut in_items: Vec<(Match, NodeId)> = Vec::new();
    let mut around: Vec<(Match, NodeId)> = Vec::new();
    let mut listed: HashSet<NodeId> = HashSet::new();
    for found in found {
        let (root, item) = place(nodes, found.node, documents);
        let Some(item) = item else {
            around.push((found, root));
            continue;
        };
        let rating = rating(&found);
        let known = best.entry(item).or_insert(rating);
        *known = rating.min(*known);
        listed.insert(root);
        in_items.push((found, item));
    }
    let is_asked = |(found, _): &&(Match, NodeId)| {
        let node = nodes
            .get(found.node)
            .filter(|node| node.kind == Kind::Array);
        let key = node.and_then(|node| nodes.key(node));
        key.zip(forms.first())
            .is_some_and(|(key, asked)| words::same(key, asked))
    };
    if let Some((asked, _)) = around.iter().filter(is_asked).min() {
        return vec![asked.node];
    }
    around.retain(|(_, root)| !listed.contains(root));
    let is_named = |(found, _): &(Match, NodeId)| found.by != MatchedBy::Alias;
    if in_items.iter().chain(&around).any(is_named) {
        around.retain(is_named);
    } else if let Some((first, _)) = around.iter().min().copied() {
        around.retain(|(found, _)| same_shape(nodes, first.node, found.node));
    }
    let without = items_without(nodes, &best, &words);
    in_items
        .retain(|(found, item)| best.get(item) == Some(&rating(found)) && !without.contains(item));
    let mut own: Vec<NodeId> = in_items
        .into_iter()
        .chain(around)
        .map(|(found, _)| found.node)
        .collect();
    own.sort_unstable();
    own
}

/// Returns the item of the outermost list that a field is in.
pub(super) fn outermost(nodes: &Nodes, id: NodeId) -> Option<NodeId> {
    place(nodes, id, false).1
}

/// Returns whether a field belongs to an item of a list.
pub(super) fn is_in_list(step: &StepData, id: NodeId) -> bool {
    let (_, item) = place(step.parsed().nodes(), id, documents_are_items(step));
    item.is_some()
}

/// Returns whether the result is a list of which each item came as an object of its own.
fn documents_are_items(step: &StepData) -> bool {
    let nodes = step.parsed().nodes();
    let documents = step.parsed().documents();
    let is_object = |json: NodeId| nodes.get(json).is_some_and(|n| n.kind == Kind::Object);
    documents.len() > 1
        && documents
            .iter()
            .all(|document| document.json.is_some_and(is_object))
}

/// Returns the root above a field, and the item of the outermost list that it is in.
fn place(nodes: &Nodes, id: NodeId, roots_are_items: bool) -> (NodeId, Option<NodeId>) {
    let (mut at, mut item) = (id, None);
    while let Some(node) = nodes.get(at).filter(|node| node.parent != at) {
        if matches!(node.label, NodeLabel::Index(_)) {
            item = Some(at);
        }
        at = node.parent;
    }
    match roots_are_items {
        true => (at, Some(at)),
        false => (at, item),
    }
}

/// Returns the words under which an item may have a field, normalised: its names and their aliases.
fn words_of(step: &StepData, forms: &[String]) -> HashSet<String> {
    let aliases = forms
        .iter()
        .flat_map(|form| step.set().aliases(form).all())
        .map(str::to_owned);
    let names = forms.iter().map(|form| words::normalise(form));
    names.chain(aliases).collect()
}

fn rating(found: &Match) -> Shallowest {
    // A path of one key is the key itself.
    let by = match found.by {
        MatchedBy::Path => MatchedBy::Letters,
        by => by,
    };
    (found.depth, by, found.rank)
}

/// Returns the items that lack the field: where other items of the list have it, they have null. What is deeper inside
/// them is not theirs.
fn items_without(
    nodes: &Nodes,
    best: &HashMap<NodeId, Shallowest>,
    words: &HashSet<String>,
) -> HashSet<NodeId> {
    let list_of = |item: &NodeId| {
        let node = nodes.get(*item)?;
        (node.parent != *item).then_some(node.parent)
    };
    let mut shallowest: HashMap<Option<NodeId>, u16> = HashMap::new();
    for (item, (depth, ..)) in best {
        let known = shallowest.entry(list_of(item)).or_insert(*depth);
        *known = (*known).min(*depth);
    }
    let lacks = |item: NodeId, depth: u16| {
        let end = nodes.get(item).map_or(item, |node| node.end);
        (item..end).any(|id| {
            nodes.get(id).is_some_and(|node| {
                let is_null = node.kind == Kind::Null && node.depth == depth;
                let key = nodes.key(node).filter(|_| is_null);
                key.is_some_and(|key| words.contains(&words::normalise(key)))
            })
        })
    };
    best.iter()
        .filter_map(|(item, (depth, ..))| {
            let usual = *shallowest.get(&list_of(item))?;
            (usual < *depth && lacks(*item, usual)).then_some(*item)
        })
        .collect()
}
