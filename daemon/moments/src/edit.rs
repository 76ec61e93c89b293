//! Which items the edit of a file needs: decisions and findings about this very file.

use crate::durable::DurableKind;
use crate::items::{Item, ItemSource, Items, best_match};
use crate::prompt::{ScoredItem, Selection};
use crate::text::paths;
use crate::text::words::{Term, terms};

/// Items for an edit.
const SELECTED_MAX: usize = 2;

/// The score from which on an item is said.
const THRESHOLD: f32 = 0.4;

/// Bytes of the new text that are compared.
const TEXT_BYTES_MAX: usize = 6_000;

/// Bytes of the new text that are embedded: what it is about stands at its beginning.
const SUBJECT_BYTES_MAX: usize = 400;

/// Cosine at which a decision about the subject of an edit may be said, although neither its file nor its words name it.
const SUBJECT: f32 = 0.5;

/// An edit that is about to happen, prepared for matching.
#[derive(Clone, Debug)]
pub struct EditQuery {
    path: String,
    name: String,
    stem: Vec<Term>,
    folder: Vec<Term>,
    text: Vec<(Term, f32)>,
}

/// What a match of an edit and an item consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EditFeatures {
    /// Whether the item names the file.
    pub is_named: bool,
    /// Share of the words of the file's name that the item has.
    pub stem: f32,
    /// Share of the words of the folder's name that the item has.
    pub folder: f32,
    /// 1 by the number of files of the item's turn, if this file is one of them; else 0.
    pub turn: f32,
    /// Sum of the weights of the words that the item shares with the new text.
    pub overlap: f32,
}

impl EditQuery {
    /// Prepares an edit: the path, and the new text as far as known.
    #[must_use]
    pub fn new(path: &str, new_text: &str, items: &Items) -> Self {
        let weigh = |term: Term| {
            let weight = items.vocabulary().weight(&term);
            (term, weight)
        };
        Self {
            name: paths::file_name(path).to_lowercase(),
            stem: paths::stem_terms(path),
            folder: paths::folder_terms(path),
            text: terms(crate::text::beginning(new_text, TEXT_BYTES_MAX))
                .into_iter()
                .map(weigh)
                .collect(),
            path: path.to_owned(),
        }
    }

    /// Compares the edit with an item.
    #[must_use]
    pub fn features(&self, item: &Item, items: &Items) -> EditFeatures {
        let mut made = EditFeatures {
            is_named: self.name.len() > 2 && names(&item.lower, &self.name),
            ..EditFeatures::default()
        };
        made.stem = share(&self.stem, item, items);
        made.folder = share(&self.folder, item, items);
        if item.touched(&self.path) {
            made.turn = 1.0 / item.files.len().max(1) as f32;
        }
        for (term, weight) in &self.text {
            if let Some(quality) = best_match(term, &item.terms) {
                made.overlap += weight * quality.worth() * items.sharpness(term, quality);
            }
        }
        made
    }
}

/// Returns what an edit is about, to be embedded: the words of the file's name and folder, and the beginning of the new text, whose
/// names are taken apart.
///
/// ```
/// use lored_moments::edit_subject;
///
/// assert_eq!(edit_subject("app/vault/release.py", "def openSafe(nurse):"), "vault release def open Safe nurse");
/// ```
#[must_use]
pub fn edit_subject(path: &str, new_text: &str) -> String {
    let file = paths::file_name(path);
    let stem = file.split('.').find(|part| !part.is_empty());
    let folder = path
        .strip_suffix(file)
        .map(|path| path.trim_end_matches('/'));
    let folder = folder.map_or("", paths::file_name);
    let text = crate::text::beginning(new_text, SUBJECT_BYTES_MAX);
    let mut subject = String::new();
    for part in [folder, stem.unwrap_or_default(), text] {
        let words = part.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            push_apart(&mut subject, word);
        }
    }
    subject
}

/// Appends a word; one in camel case as its parts.
fn push_apart(subject: &mut String, word: &str) {
    let mut before = None;
    for c in word.chars() {
        let is_start = before.is_none_or(|before: char| before.is_lowercase() && c.is_uppercase());
        if is_start && !subject.is_empty() {
            subject.push(' ');
        }
        subject.push(c);
        before = Some(c);
    }
}

/// Returns the share of words that an item has.
fn share(words: &[Term], item: &Item, items: &Items) -> f32 {
    let worth = words.iter().filter_map(|term| {
        best_match(term, &item.terms)
            .map(|quality| quality.worth() * items.sharpness(term, quality))
    });
    worth.sum::<f32>().max(0.0) / words.len().max(1) as f32
}

/// Returns whether a sentence names a file, by the last part of its path.
///
/// ```
/// use lored_moments::cites;
///
/// assert!(cites("The cause is that src/cart.rs rounds twice.", "/home/ada/shop/src/cart.rs"));
/// assert!(!cites("The cart rounds twice.", "/home/ada/shop/src/cart.rs"));
/// ```
#[must_use]
pub fn cites(sentence: &str, path: &str) -> bool {
    let name = crate::text::beginning(paths::file_name(path), 200).to_lowercase();
    // Without a dot it may be any word.
    name.len() > 2
        && name.contains('.')
        && names(
            &crate::text::beginning(sentence, 2_000).to_lowercase(),
            &name,
        )
}

/// Whether a text names a file, not as a part of a longer name.
fn names(text: &str, name: &str) -> bool {
    let is_part =
        |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().chars().next_back();
        let after = text
            .get(at + name.len()..)
            .unwrap_or_default()
            .chars()
            .next();
        !is_part(before) && !is_part(after)
    })
}

/// Returns the score of an item for an edit, 0 to 1.
#[must_use]
pub fn edit_score(features: &EditFeatures, item: &Item, cosine: Option<f32>) -> f32 {
    let is_related = features.is_named || features.stem > 0.0 || features.turn > 0.0;
    let cosine = cosine.filter(|cosine| cosine.is_finite());
    if !is_related {
        return cosine.map_or(0.0, |cosine| subject_score(features, item, cosine));
    }
    let kind = match item.kind {
        DurableKind::Finding => 0.6,
        DurableKind::Rule
        | DurableKind::Decision
        | DurableKind::Choice
        | DurableKind::Correction
        | DurableKind::Remember => 0.4,
        DurableKind::Preference | DurableKind::Fact => 0.0,
    };
    let source = match item.source {
        ItemSource::User | ItemSource::Note => 0.3,
        ItemSource::Agent => 0.0,
        ItemSource::Tool => -1.0,
    };
    let mut logit = -3.4
        + 2.6 * f32::from(u8::from(features.is_named))
        + 2.2 * features.stem
        + features.folder
        + 2.6 * features.turn
        + 0.6 * f32::from(u8::from(features.turn > 0.0))
        + 1.8 * features.overlap.min(1.5)
        + 0.5 * item.cue.min(2.0)
        + kind
        + source
        + item.worth();
    if let Some(cosine) = cosine {
        logit += (2.8 * (cosine - 0.25)).clamp(-0.5, 1.5);
    }
    1.0 / (1.0 + (-logit).exp())
}

/// Returns the score of an item that has nothing in common with a file's name, by what it and the new text are about.
fn subject_score(features: &EditFeatures, item: &Item, cosine: f32) -> f32 {
    let source = match item.source {
        ItemSource::User | ItemSource::Note => 0.3,
        ItemSource::Agent => 0.0,
        ItemSource::Tool => return 0.0,
    };
    let logit = -1.4
        + 12.0 * (cosine - SUBJECT)
        + 1.2 * features.overlap.min(1.0)
        + 0.3 * item.cue.min(2.0)
        + source
        + item.worth();
    1.0 / (1.0 + (-logit).exp())
}

/// Returns the items that an edit needs, at most two. `is_shown` says what the session has already seen; `cosine` returns the
/// cosine of an item and of the file's name with the new text, if the caller has it.
#[must_use]
pub fn select_for_edit(
    path: &str,
    new_text: &str,
    items: &Items,
    is_shown: &dyn Fn(usize) -> bool,
    cosine: &dyn Fn(usize) -> Option<f32>,
) -> Selection {
    let query = EditQuery::new(path, new_text, items);
    let mut made = Selection::default();
    for (index, item) in items.iter().enumerate() {
        let score = edit_score(&query.features(item, items), item, cosine(index));
        made.top = made.top.max(score);
        if score >= THRESHOLD && !is_shown(index) {
            made.items.push(ScoredItem { index, score });
        }
    }
    made.items
        .sort_by(|one, other| other.score.total_cmp(&one.score));
    made.items.truncate(SELECTED_MAX);
    made
}
