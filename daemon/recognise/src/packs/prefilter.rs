//! Finds where in a text which rules may match, in one pass over its words and one over the starts of phrases.
//! Rules are tried only there. The cost of a rule therefore depends on how often a text resembles its matches.

use super::facts::{Kinds, MatchLocation};
use super::rule::Rule;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use rustc_hash::FxHashMap;

/// Limit on the starts for a DFA: one step per byte, some 100 KB. More starts use a smaller automaton.
const STARTS_FAST_MAX: usize = 256;

/// The rules of a set, grouped by where they may match.
#[derive(Clone, Debug)]
pub(super) struct Prefilter {
    /// The kind of each byte.
    kinds: [Kinds; 256],
    /// Indices of the rules whose matches are within words.
    of_words: Vec<usize>,
    /// Finds the starts of other rules' matches; `of_starts` has the rules of each start.
    starts: Option<AhoCorasick>,
    of_starts: Vec<Vec<usize>>,
    /// Indices of all other rules.
    of_texts: Vec<usize>,
}

impl Prefilter {
    pub(super) fn of(rules: &[Rule]) -> Self {
        let (mut of_words, mut of_texts) = (Vec::new(), Vec::new());
        let mut by_start: FxHashMap<&[u8], Vec<usize>> = FxHashMap::default();
        for (at, rule) in rules.iter().enumerate() {
            match &rule.facts.place {
                MatchLocation::Word => of_words.push(at),
                MatchLocation::Text => of_texts.push(at),
                MatchLocation::Start(starts) => {
                    for start in starts {
                        by_start.entry(start).or_default().push(at);
                    }
                }
            }
        }
        let (starts, mut of_starts): (Vec<&[u8]>, Vec<Vec<usize>>) = by_start.into_iter().unzip();
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind((starts.len() <= STARTS_FAST_MAX).then_some(AhoCorasickKind::DFA))
            .build(&starts);
        let automaton = automaton.ok().filter(|_| !starts.is_empty());
        if automaton.is_none() {
            // The starts exceed the automaton's capacity, so their rules search the whole text.
            of_texts.extend(of_starts.drain(..).flatten());
            of_texts.sort_unstable();
            of_texts.dedup();
        }
        Self {
            kinds: std::array::from_fn(|byte| Kinds::of(u8::try_from(byte).unwrap_or(u8::MAX))),
            of_words,
            starts: automaton,
            of_starts,
            of_texts,
        }
    }

    /// Returns the spans that rules find in a text, ordered by rule index and position.
    pub(super) fn search(&self, rules: &[Rule], text: &str) -> Vec<(usize, (usize, usize))> {
        let mut found = Vec::new();
        let in_text = self.search_words(rules, text, &mut found);
        self.search_starts(rules, text, &mut found);
        for (at, rule) in of(rules, &self.of_texts) {
            if rule.facts.fit_kinds(in_text) {
                found.extend(rule.find(text, 0..text.len()).map(|span| (at, span)));
            }
        }
        found.sort_unstable();
        found
    }

    /// Tries each rule on the words that have the required byte kinds. Returns the kinds of all words.
    fn search_words(
        &self,
        rules: &[Rule],
        text: &str,
        found: &mut Vec<(usize, (usize, usize))>,
    ) -> Kinds {
        let mut in_text = Kinds::SPACE;
        // A cache, because a text's words have few combinations of kinds.
        let mut fitting: FxHashMap<Kinds, Vec<(usize, &Rule)>> = FxHashMap::default();
        self.words(text, |start, end, kinds| {
            let fitting = fitting.entry(kinds).or_insert_with(|| {
                in_text = in_text.with(kinds);
                let fit = |(_, rule): &(usize, &Rule)| rule.facts.fit_kinds(kinds);
                of(rules, &self.of_words).filter(fit).collect()
            });
            for (at, rule) in fitting {
                if rule.facts.fit_bytes(end - start) {
                    found.extend(rule.find(text, start..end).map(|span| (*at, span)));
                }
            }
        });
        in_text
    }

    /// Tries each rule where its match may start.
    fn search_starts(&self, rules: &[Rule], text: &str, found: &mut Vec<(usize, (usize, usize))>) {
        let Some(automaton) = &self.starts else {
            return;
        };
        let mut places: Vec<(usize, usize)> = Vec::new();
        for start in automaton.find_overlapping_iter(text) {
            let of_start = self.of_starts.get(start.pattern().as_usize());
            let of_start = of_start.map(Vec::as_slice).unwrap_or_default();
            places.extend(of_start.iter().map(|at| (*at, start.start())));
        }
        places.sort_unstable();
        let mut from = (0, 0);
        for (at, start) in places {
            // The start is within the rule's previous match.
            if (at, start) < from {
                continue;
            }
            if let Some(matched) = rules.get(at).and_then(|rule| rule.find_at(text, start)) {
                from = (at, matched.end);
                found.extend(matched.name.map(|span| (at, span)));
            }
        }
    }

    /// Calls `visit` with the start, the end and the byte kinds of each word. ASCII white space separates words.
    fn words(&self, text: &str, mut visit: impl FnMut(usize, usize, Kinds)) {
        let (mut start, mut kinds) = (0, Kinds::default());
        for (at, byte) in text.bytes().enumerate() {
            let kind = self.kinds.get(usize::from(byte)).copied();
            let kind = kind.unwrap_or_default();
            if kind != Kinds::SPACE {
                kinds = kinds.with(kind);
                continue;
            }
            if at > start {
                visit(start, at, kinds);
            }
            (start, kinds) = (at + 1, Kinds::default());
        }
        if text.len() > start {
            visit(start, text.len(), kinds);
        }
    }
}

fn of<'r>(rules: &'r [Rule], places: &'r [usize]) -> impl Iterator<Item = (usize, &'r Rule)> {
    let rules = places.iter().map(|at| (*at, rules.get(*at)));
    rules.filter_map(|(at, rule)| Some((at, rule?)))
}
