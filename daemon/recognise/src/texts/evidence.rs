//! Evidence that a word is a name where it stands: marks, words beside it, and its spelling.

use super::TextSearch;
use crate::KnownName;
use crate::edges::is_word;
use crate::everyday::{is_bare, is_everyday};
use crate::partial::runs;

impl<'a> TextSearch<'a> {
    /// Returns whether a word marked as code is the name of a file that the session knows, without its ending.
    pub(super) fn is_known_part(&self, word: &str) -> bool {
        let query = runs(word);
        let mut is_known = false;
        for layer in self.knowledge.gazetteers {
            layer.similar(&query, &mut |name, _| {
                let file = name.alias.rsplit('/').next().unwrap_or_default();
                let stem = file.split('.').next().unwrap_or_default();
                is_known |= &*name.kind == "file_path" && stem.eq_ignore_ascii_case(word);
            });
        }
        is_known
    }

    /// Returns whether a known name is evident where its words stand.
    pub(super) fn is_evident(
        &self,
        span: (usize, usize),
        name: &KnownName,
        is_project: bool,
    ) -> bool {
        let word = self.text.get(span.0..span.1).unwrap_or_default();
        let alias = &*name.alias;
        let mut parts = alias.split_whitespace();
        let are_everyday = alias
            .chars()
            .all(|c| c.is_alphabetic() || c.is_whitespace())
            && parts.all(|part| is_everyday(&part.to_lowercase()));
        if !is_bare(alias) {
            // "Winter reading" in its own spelling, but not "winter reading".
            return !are_everyday || (word == alias && word.chars().any(char::is_uppercase));
        }
        if is_project {
            return false;
        }
        if self.is_marked(span) || self.is_beside_kind_word(span, &name.kind) {
            return true;
        }
        if are_everyday && word == alias && self.knowledge.is_confirmed(name) {
            return true;
        }
        if are_everyday {
            let before = self.before(span.0);
            let is_person = matches!(&*name.kind, "person" | "contact" | "author");
            let is_branch = &*name.kind == "branch"
                && matches!(before, "on" | "onto" | "into" | "from" | "against" | "with")
                && self.ends_phrase(span.1);
            let is_capital = word.starts_with(char::is_uppercase) && word == alias;
            return is_branch || (is_person && is_capital && !before.is_empty());
        }
        // "NetBox" is not the machine "netbox".
        let has_inner = |text: &str| text.chars().skip(1).any(char::is_uppercase);
        word == alias || !has_inner(word) || has_inner(alias)
    }

    /// Returns whether a span is marked as code or quoted.
    pub(super) fn is_marked(&self, (start, end): (usize, usize)) -> bool {
        let before = self
            .text
            .get(..start)
            .and_then(|text| text.chars().next_back());
        let after = self.text.get(end..).and_then(|text| text.chars().next());
        before.is_some() && before == after && matches!(before, Some('`' | '"'))
    }

    /// Returns whether a word for the kind is beside a span: "branch main", "the main branch".
    pub(super) fn is_beside_kind_word(&self, span: (usize, usize), kind: &str) -> bool {
        let is_of = |word: &str| {
            let word = word.to_lowercase();
            let known = self.packs.kind_words.get(&word);
            let known = known.and_then(|known| self.packs.kinds.get(known.kind));
            known.is_some_and(|of| &*of.name == kind) || word == kind
        };
        is_of(self.before(span.0)) || is_of(self.after(span.1))
    }

    pub(super) fn before(&self, at: usize) -> &'a str {
        let text = self.text.get(..at).unwrap_or_default();
        let text = text.trim_end_matches(['`', '"', '\'']);
        let trimmed = text.trim_end_matches(' ');
        if trimmed.len() == text.len() {
            return "";
        }
        let start = trimmed.rfind(|c| !is_word(c)).map_or(0, |at| {
            at + trimmed
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .map_or(1, char::len_utf8)
        });
        trimmed.get(start..).unwrap_or_default()
    }

    pub(super) fn after(&self, at: usize) -> &'a str {
        let text = self.text.get(at..).unwrap_or_default();
        let text = text.trim_start_matches(['`', '"', '\'']);
        let Some(rest) = text.strip_prefix(' ') else {
            return "";
        };
        rest.get(..rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
            .unwrap_or_default()
    }

    pub(super) fn ends_phrase(&self, at: usize) -> bool {
        let after = self.after(at);
        after.is_empty()
            || matches!(
                after,
                "and"
                    | "or"
                    | "but"
                    | "is"
                    | "was"
                    | "has"
                    | "by"
                    | "in"
                    | "with"
                    | "for"
                    | "again"
                    | "now"
                    | "please"
            )
    }
}
