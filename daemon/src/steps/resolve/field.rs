//! The strategies that find the value of a field, weighed by the depth of their matches.

use super::Strategy;
use super::containers::{is_below, of_last_part};
use super::form::form;
use super::items;
use super::numbers;
use super::others;
use super::step::StepData;
use crate::steps::extract::{Extract, FieldForm, Type};
use crate::steps::parse::{Index, Kind, Node, NodeId, NodeLabel, Nodes};
use crate::steps::words;
use serde_json::Value;

/// Maximum number of values visited along a written path.
const WALK_MAX: u32 = 100_000;

/// Maximum memory of the values of a type that are compared, in bytes.
const FORMS_BYTES_MAX: usize = 64 << 20;

/// A match, with the strategy that found it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hit {
    pub(super) strategy: Strategy,
    /// Fields of the parsed result, or values extracted from it.
    pub(super) found: FieldValue,
}

/// The values of a match.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldValue {
    /// Fields, best first.
    Fields(Vec<NodeId>),
    /// Values that a type's extractor takes from fields, best first.
    Forms(Type, Vec<(NodeId, Value)>),
    /// All extracted values of a type, in order.
    Extracts(Type),
}

/// A field that answers to a name.
///
/// The order is that of preference: the shallowest match wins; at equal depth, the name wins over an alias; of a list,
/// the first item with an alias, as `ID` and `DATE` are of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Match {
    /// A value of another form than the field's, such as a truth value where a text or a number is meant.
    pub(super) is_odd: bool,
    pub(super) depth: u16,
    pub(super) by: MatchedBy,
    /// Item of the outermost list that it is in, for an alias.
    item: Option<NodeId>,
    /// Place of the alias in its list.
    pub(super) rank: usize,
    pub(super) node: NodeId,
}

impl Match {
    /// Creates the match of a field by its letters.
    pub(super) const fn by_letters(node: NodeId, depth: u16) -> Self {
        Self {
            is_odd: false,
            depth,
            by: MatchedBy::Letters,
            item: None,
            rank: 0,
            node,
        }
    }
}

/// How a field answers to a name, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MatchedBy {
    /// Its whole path is the name as written or in lower case.
    Path,
    /// Its key, or the end of its path, has the letters and digits of the name.
    Letters,
    /// The last word of its dotted key has them.
    LastWord,
    /// It has an alias of the name.
    Alias,
}

impl MatchedBy {
    fn strategy(self, of: Option<Type>) -> Strategy {
        match (self, of) {
            (MatchedBy::Path, _) => Strategy::Direct,
            (MatchedBy::Letters | MatchedBy::LastWord, _) => Strategy::CaseInsensitive,
            (MatchedBy::Alias, None) => Strategy::Mapping,
            // The type decides which alias counts.
            (MatchedBy::Alias, Some(_)) => Strategy::Typed,
        }
    }
}

/// Looks up a field in one step. The shallowest match of all names and aliases wins; without one, values of a type.
pub(super) fn find(step: &StepData, field: &str, of: Option<Type>) -> Option<Hit> {
    let matches = matches(step, field);
    if matches.is_empty() && others::is_null(step, field) {
        return None;
    }
    let extracted = |strategy, of: Type| {
        let values = step.extracted().of(step.set().name_of(of));
        let found = FieldValue::Extracts(of);
        (!values.is_empty()).then_some(Hit { strategy, found })
    };
    match of {
        Some(of) => typed(step, of, &matches).or_else(|| extracted(Strategy::Typed, of)),
        None => match matches.first() {
            Some(best) => {
                let strategy = best.by.strategy(None);
                let same = |found: &&Match| found.by.strategy(None) == strategy;
                let fields = matches.iter().filter(same).map(|found| found.node);
                let found = FieldValue::Fields(fields.collect());
                Some(Hit { strategy, found })
            }
            None => match step.set().type_named(field) {
                Some(of) => extracted(Strategy::Extracted, of),
                None => address_of(step, field),
            },
        },
    }
}

/// Looks up an address in what a name is about: `AUTHOR_EMAIL` is also the address in `"author": "Zoë <zoe@example.com>"`
/// and the one in an `author` without an `email`.
fn address_of(step: &StepData, field: &str) -> Option<Hit> {
    splits(field).find_map(|(head, tail)| {
        let of = step.set().type_named(tail)?;
        let is_address = matches!(of, Type::Email | Type::Url);
        is_address.then(|| typed(step, of, &matches(step, head)))?
    })
}

/// Looks up a field of the outermost object only.
pub(super) fn outermost(step: &StepData, field: &str) -> Option<Hit> {
    let parsed = step.parsed();
    let nodes = parsed.nodes();
    let found = parsed.index().under(nodes, field);
    let outer: Vec<NodeId> = found
        .filter(|id| nodes.get(*id).is_some_and(|node| node.depth == 1))
        .collect();
    let first = outer.first().and_then(|id| nodes.get(*id))?;
    let is_exact = nodes.key(first) == Some(field);
    let strategy = if is_exact {
        Strategy::Direct
    } else {
        Strategy::CaseInsensitive
    };
    Some(Hit {
        strategy,
        found: FieldValue::Fields(outer),
    })
}

/// Returns the fields that answer to a name, best first.
pub(super) fn matches(step: &StepData, field: &str) -> Vec<Match> {
    let nodes = step.parsed().nodes();
    let written = written_path(nodes, field);
    if !written.is_empty() {
        let by_path = written.into_iter().map(|node| Match {
            is_odd: false,
            depth: 0,
            by: MatchedBy::Path,
            item: None,
            rank: 0,
            node,
        });
        return by_path.collect();
    }
    let mut own = named(step, field);
    numbers::prefer(step, field, &mut own);
    if own.is_empty() {
        own = numbers::of(step, field);
        own.sort_unstable();
        if !own.is_empty() {
            return own;
        }
    }
    let aliases = step.set().aliases(field);
    aliased(step, field, &aliases.same, aliases.form, &mut own);
    // A narrow name such as PULL_REQUEST_ID is not answered by its list's general names while it is there itself.
    if aliases.same.is_empty() || own.is_empty() {
        let shift = aliases.same.len();
        let before = own.len();
        aliased(step, field, &aliases.other, aliases.form, &mut own);
        own.iter_mut()
            .skip(before)
            .for_each(|found| found.rank += shift);
    }
    if own.is_empty() {
        own = of_last_part(step, field);
    }
    others::retain_own(step, field, &mut own);
    // Two aliases may be one word: each field counts once, in its best form.
    own.sort_unstable();
    let mut seen = std::collections::HashSet::with_capacity(own.len());
    own.retain(|found| seen.insert(found.node));
    own
}

/// Returns the values at a written path, such as `author.email`; none for a plain word.
fn written_path(nodes: &Nodes, field: &str) -> Vec<NodeId> {
    if !field.contains(['.', '[']) {
        return Vec::new();
    }
    let lower = field.to_lowercase();
    let mut walk = PathWalk {
        nodes,
        left: WALK_MAX,
    };
    let roots = nodes.roots().iter();
    roots
        .filter_map(|root| walk.to(*root, field).or_else(|| walk.to(*root, &lower)))
        .collect()
}

/// A walk along a written path.
struct PathWalk<'a> {
    nodes: &'a Nodes,
    left: u32,
}

impl PathWalk<'_> {
    fn to(&mut self, from: NodeId, path: &str) -> Option<NodeId> {
        if path.is_empty() {
            return Some(from).filter(|id| {
                self.nodes
                    .get(*id)
                    .is_some_and(|node| node.kind != Kind::Null)
            });
        }
        let nodes = self.nodes;
        for (id, node) in nodes.children(from) {
            self.left = self.left.checked_sub(1)?;
            let rest = match node.label {
                NodeLabel::Root => None,
                NodeLabel::Key(_) => nodes.key(node).and_then(|key| path.strip_prefix(key)),
                NodeLabel::Index(index) => path.strip_prefix(format!("[{index}]").as_str()),
            };
            let rest = match rest {
                Some(rest) if rest.is_empty() || rest.starts_with('[') => rest,
                Some(rest) => match rest.strip_prefix('.') {
                    Some(rest) => rest,
                    None => continue,
                },
                None => continue,
            };
            if let Some(found) = self.to(id, rest) {
                return Some(found);
            }
        }
        None
    }
}

/// Returns the fields under a name: by their key, the last word of a dotted key, or the end of their path.
pub(super) fn named(step: &StepData, field: &str) -> Vec<Match> {
    let (nodes, index) = (step.parsed().nodes(), step.parsed().index());
    let lower = field.to_lowercase();
    let found = |node: NodeId, by| Match {
        is_odd: false,
        depth: nodes.get(node).map_or(u16::MAX, |node| node.depth),
        by,
        item: None,
        rank: 0,
        node,
    };
    let by_key = index.under(nodes, field).map(|id| {
        let key = nodes.get(id).filter(|node| node.depth == 1);
        let key = key.and_then(|node| nodes.key(node));
        match key.is_some_and(|key| key == field || key == lower) {
            true => found(id, MatchedBy::Path),
            false => found(id, MatchedBy::Letters),
        }
    });
    let mut all: Vec<Match> = by_key.collect();
    let by_last_word = index.under_last_word(nodes, field);
    all.extend(by_last_word.map(|id| found(id, MatchedBy::LastWord)));
    for (head, tail) in splits(field) {
        // `LABEL_NAME` is also the `name` of one of the `labels`.
        let mut heads = words::plurals(&words::normalise(head));
        heads.push(words::normalise(head));
        let below = under(index, nodes, tail).filter(|id| is_below(nodes, *id, &heads));
        all.extend(below.map(|id| found(id, MatchedBy::Letters)));
    }
    all
}

/// Adds the fields under the aliases of a name, and those under an alias of one of its parts: `AUTHOR_EMAIL` is the
/// `email` of a `creator`, `ISSUE_TITLE` the `summary` of an `issue`.
fn aliased(
    step: &StepData,
    field: &str,
    aliases: &[String],
    form: FieldForm,
    all: &mut Vec<Match>,
) {
    let (nodes, index) = (step.parsed().nodes(), step.parsed().index());
    let mut add = |id: NodeId, rank, form: FieldForm| {
        let Some(node) = nodes.get(id) else {
            return;
        };
        all.push(Match {
            is_odd: !has_form(nodes, node, form),
            depth: node.depth,
            by: MatchedBy::Alias,
            item: items::outermost(nodes, id),
            rank,
            node: id,
        });
    };
    for (rank, alias) in aliases.iter().enumerate() {
        under(index, nodes, alias).for_each(|id| add(id, rank, form));
    }
    for (head, tail) in splits(field) {
        let of_head = step.set().aliases(head);
        let of_tail = step.set().aliases(tail);
        let mut heads = vec![words::normalise(head)];
        heads.extend(of_head.all().map(str::to_owned));
        let tails = std::iter::once(tail).chain(of_tail.all());
        for (rank, tail) in tails.enumerate() {
            let heads = match rank {
                // The name itself was looked up before.
                0 => heads.get(1..).unwrap_or_default(),
                _ => heads.as_slice(),
            };
            let form = match rank {
                0 => FieldForm::Any,
                _ => of_tail.form,
            };
            if !heads.is_empty() {
                under(index, nodes, tail)
                    .filter(|id| is_below(nodes, *id, heads))
                    .for_each(|id| add(id, rank, form));
            }
        }
    }
}

/// Returns whether a value has the form of a field.
fn has_form(nodes: &Nodes, node: &Node, form: FieldForm) -> bool {
    /// Digits of a year, or of a day and a month with a short year.
    const DATE_DIGITS_MIN: usize = 4;
    let is_text = matches!(node.kind, Kind::String | Kind::Number);
    match form {
        FieldForm::Any => true,
        FieldForm::Plain => is_text,
        FieldForm::Date => {
            let digits = nodes.text(node).bytes().filter(u8::is_ascii_digit);
            is_text && digits.take(DATE_DIGITS_MIN).count() == DATE_DIGITS_MIN
        }
    }
}

/// Returns the values under a key or the last word of a dotted key.
pub(super) fn under<'a>(
    index: &'a Index,
    nodes: &'a Nodes,
    word: &'a str,
) -> impl Iterator<Item = NodeId> + 'a {
    let by_key = index.under(nodes, word);
    by_key.chain(index.under_last_word(nodes, word))
}

/// Returns the ways to read a name as two words, the second of which is below the first.
pub(super) fn splits(field: &str) -> impl Iterator<Item = (&str, &str)> {
    let separators = field.char_indices().filter(|(_, c)| !c.is_alphanumeric());
    separators.filter_map(move |(at, _)| {
        let (head, tail) = (field.get(..at)?, field.get(at..)?);
        let is_word = |part| words::normal_chars(part).next().is_some();
        (is_word(head) && is_word(tail)).then_some((head, tail))
    })
}

/// Returns the fields that have the type: shallow ones first, then whole values of the type, then by their names.
fn typed(step: &StepData, of: Type, matches: &[Match]) -> Option<Hit> {
    let nodes = step.parsed().nodes();
    let mut bytes_left = FORMS_BYTES_MAX;
    let mut forms: Vec<(bool, Match, Value)> = matches
        .iter()
        .enumerate()
        .take_while(|(rank, found)| {
            // Objects within objects of the same name: each would be copied with all that is in it.
            let left = bytes_left.checked_sub(nodes.held_bytes(found.node));
            bytes_left = left.unwrap_or(bytes_left);
            left.is_some() || *rank == 0
        })
        .map(|(_, found)| found)
        .filter_map(|found| {
            let (is_whole, value) = form(step, of, found.node)?;
            Some((is_whole, *found, value))
        })
        .collect();
    forms.sort_by_key(|(is_whole, found, _)| {
        let Match {
            depth,
            by,
            item,
            rank,
            node,
            ..
        } = *found;
        (depth, !is_whole, by, item, rank, node)
    });
    let (_, best, _) = forms.first()?;
    let strategy = best.by.strategy(Some(of));
    let same = forms
        .into_iter()
        .filter(|(_, found, _)| found.by.strategy(Some(of)) == strategy);
    let values = same.map(|(_, found, value)| (found.node, value));
    let found = FieldValue::Forms(of, values.collect());
    Some(Hit { strategy, found })
}

/// Returns the values of a match, best first: all of them, or only the first.
pub(super) fn values(step: &StepData, found: &FieldValue, all: bool) -> Vec<Value> {
    let count = if all { usize::MAX } else { 1 };
    let parsed = step.parsed();
    match found {
        FieldValue::Fields(ids) => ids
            .iter()
            .take(count)
            .map(|id| parsed.nodes().value(*id))
            .collect(),
        FieldValue::Forms(_, values) => values
            .iter()
            .take(count)
            .map(|(_, value)| value.clone())
            .collect(),
        FieldValue::Extracts(of) => {
            let extracts: &[Extract] = step.extracted().of(step.set().name_of(*of));
            extracts
                .iter()
                .take(count)
                .map(|extract| extract.value(parsed))
                .collect()
        }
    }
}

/// Returns where the first value of a match is: its path, or the extractor with the place in the raw result.
pub(super) fn place(step: &StepData, found: &FieldValue) -> String {
    let nodes = step.parsed().nodes();
    match found {
        FieldValue::Fields(ids) => ids.first().map_or(String::new(), |id| nodes.path(*id)),
        FieldValue::Forms(_, values) => values
            .first()
            .map_or(String::new(), |(id, _)| nodes.path(*id)),
        FieldValue::Extracts(of) => {
            let name = step.set().name_of(*of);
            let first = step.extracted().of(name).first();
            let offset = first.map_or(0, |extract| extract.offset);
            format!("{name} extractor, byte {offset} of the result")
        }
    }
}

/// Returns the values of a match that have the shape of the first: fields on the same path, ignoring array indexes.
pub(super) fn peers(step: &StepData, found: &FieldValue) -> Vec<Value> {
    let nodes = step.parsed().nodes();
    match found {
        FieldValue::Fields(ids) => {
            let first = ids.first().copied().unwrap_or_default();
            let mut peers: Vec<NodeId> = ids
                .iter()
                .copied()
                .filter(|id| same_shape(nodes, first, *id))
                .collect();
            peers.sort_unstable();
            peers.into_iter().map(|id| nodes.value(id)).collect()
        }
        FieldValue::Forms(..) | FieldValue::Extracts(_) => values(step, found, true),
    }
}

pub(super) fn same_shape(nodes: &Nodes, left: NodeId, right: NodeId) -> bool {
    let (mut left, mut right) = (left, right);
    loop {
        let (Some(one), Some(other)) = (nodes.get(left), nodes.get(right)) else {
            return false;
        };
        let same = match (one.label, other.label) {
            (NodeLabel::Root, NodeLabel::Root) => return true,
            (NodeLabel::Key(_), NodeLabel::Key(_)) => nodes.key(one) == nodes.key(other),
            (NodeLabel::Index(_), NodeLabel::Index(_)) => true,
            (NodeLabel::Root | NodeLabel::Key(_) | NodeLabel::Index(_), _) => false,
        };
        if !same {
            return false;
        }
        (left, right) = (one.parent, other.parent);
    }
}
