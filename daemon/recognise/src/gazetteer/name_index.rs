//! One part of a gazetteer: an automaton over many names, and a filter before it.

use super::{KnownName, is_searched};
use crate::edges::{Edges, is_word};
use crate::names::canonical_key;
use crate::partial::{Run, is_misspelt, runs};
use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::Hasher as _;
use std::ops::Range;
use std::sync::OnceLock;

/// Filter bits per name; at most one word in 16 is a false positive.
const FILTER_BITS_PER_NAME: usize = 16;
/// Limit on the names that are compared with a partial one. A run that more names
/// share identifies none of them.
const SIMILAR_MAX: usize = 1000;
/// Smallest size of the filter, in bits.
const FILTER_BITS_MIN: usize = 1 << 12;

/// Names that share an automaton.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    names: Vec<KnownName>,
    /// Matches the folded names that are searched in texts, from their first words on; `None` if there are none.
    automaton: Option<NFA>,
    /// Indices of the names of each automaton pattern.
    patterns: Vec<Vec<u32>>,
    /// Indices of the names by the hash of the alias's canonical key.
    by_key: FxHashMap<u64, Vec<u32>>,
    /// What partial names are compared with; built when one is looked up first.
    runs: OnceLock<NameRuns>,
    /// A bit set over the hashes of the names' first words.
    filter: Vec<u64>,
}

/// The runs of names.
#[derive(Debug)]
struct NameRuns {
    by_run: ByRun,
    /// The runs of each name, up to a colon.
    of_names: Vec<Box<[Run]>>,
}

impl NameIndex {
    pub(super) fn new(names: Vec<KnownName>) -> Self {
        let mut by_key: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        let mut by_folded: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        for (at, name) in (0_u32..).zip(&names) {
            let key = canonical_key(&name.kind, &name.alias);
            by_key.entry(hash(&key)).or_default().push(at);
            if is_searched(&name.alias) {
                let (_, stem) = split(&name.alias);
                by_folded.entry(folded(stem)).or_default().push(at);
            }
        }
        let mut folded: Vec<(String, Vec<u32>)> = by_folded.into_iter().collect();
        folded.sort_unstable(); // so that equal names build equal automata
        let bits = (folded.len() * FILTER_BITS_PER_NAME).next_power_of_two();
        let mut part = Self {
            names,
            automaton: None,
            patterns: Vec::with_capacity(folded.len()),
            by_key,
            runs: OnceLock::new(),
            filter: vec![0; bits.max(FILTER_BITS_MIN) / 64],
        };
        let automaton = NFA::builder()
            .match_kind(MatchKind::Standard)
            .prefilter(false)
            .build(folded.iter().map(|(name, _)| name.as_bytes()));
        // The build fails if the names exceed the automaton's state ids (beyond 2^31 bytes). Then none is searched.
        part.automaton = automaton.ok().filter(|_| !folded.is_empty());
        for (stem, targets) in folded {
            words(&stem, |start, hash| {
                if start == 0 {
                    part.put(hash);
                }
            });
            part.patterns.push(targets);
        }
        part
    }

    pub(super) fn names(&self) -> &[KnownName] {
        &self.names
    }

    /// Returns whether no name is searched in texts.
    pub(super) fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }

    pub(super) fn has(&self, name: &KnownName) -> bool {
        let key = canonical_key(&name.kind, &name.alias);
        self.of_hash(hash(&key)).any(|known| known == name)
    }

    /// Returns the names of a kind whose alias has this canonical key.
    pub(super) fn lookup(&self, kind: &str, key: &str) -> impl Iterator<Item = &KnownName> {
        self.of_hash(hash(key))
            .filter(move |name| &*name.kind == kind && canonical_key(kind, &name.alias) == key)
    }

    /// Calls `found` with the names that have the rarest number of a query, or its longest run of letters or one spelt alike, and
    /// with their runs up to a colon.
    pub(super) fn similar<'a>(
        &'a self,
        query: &[Run],
        found: &mut dyn FnMut(&'a KnownName, &'a [Run]),
    ) {
        let NameRuns { by_run, of_names } = self.runs.get_or_init(|| NameRuns::new(&self.names));
        let mut left = SIMILAR_MAX;
        let mut visit = |names: &[u32]| {
            for name in names.iter().take(left) {
                let at = *name as usize;
                if let (Some(name), Some(runs)) = (self.names.get(at), of_names.get(at)) {
                    found(name, runs);
                }
            }
            left = left.saturating_sub(names.len());
        };
        by_run.each_like(query.iter(), &mut |names| {
            visit(names);
            true
        });
    }

    /// Whether [`NameIndex::similar`] finds names for the runs of one or two words.
    pub(super) fn has_similar<'r>(&self, query: impl Iterator<Item = &'r Run> + Clone) -> bool {
        let runs = self.runs.get_or_init(|| NameRuns::new(&self.names));
        let mut is_found = false;
        runs.by_run.each_like(query, &mut |names| {
            is_found |= !names.is_empty();
            !is_found
        });
        is_found
    }

    fn of_hash(&self, hash: u64) -> impl Iterator<Item = &KnownName> {
        let found = self.by_key.get(&hash).map(Vec::as_slice);
        let names = found.unwrap_or_default().iter();
        names.filter_map(|at| self.names.get(*at as usize))
    }

    fn put(&mut self, hash: u64) {
        let (word, bit) = self.place(hash);
        if let Some(word) = self.filter.get_mut(word) {
            *word |= bit;
        }
    }

    /// Returns whether a name may begin with a word of this hash.
    pub(super) fn may_begin(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.filter.get(word).is_some_and(|word| word & bit != 0)
    }

    fn place(&self, hash: u64) -> (usize, u64) {
        // The upper bits of the hash are the best mixed. The filter length is a power of two.
        let at = (hash >> 26) as usize & (self.filter.len() * 64).saturating_sub(1);
        (at / 64, 1 << (at % 64))
    }

    /// Follows the automaton from a word and calls `found` with the start and end of each name that stands alone.
    pub(super) fn walk<'a>(
        &'a self,
        text: &str,
        start: usize,
        mut found: impl FnMut(usize, usize, &'a KnownName),
    ) {
        let Some(automaton) = &self.automaton else {
            return;
        };
        let Ok(mut state) = automaton.start_state(Anchored::Yes) else {
            return;
        };
        let rest = text.get(start..).unwrap_or_default();
        let mut followed = 0;
        for (at, character) in rest.char_indices() {
            each_folded_byte(character, |byte| {
                state = automaton.next_state(Anchored::Yes, state, byte);
                followed += 1;
            });
            if automaton.is_dead(state) {
                return;
            }
            if automaton.is_match(state) {
                let end = start + at + character.len_utf8();
                for name in self.targets(automaton, state, followed) {
                    let (prefix, _) = split(&name.alias);
                    let before = text.get(..start).unwrap_or_default();
                    let start = start.saturating_sub(prefix.len());
                    if before.ends_with(prefix) && Edges::Alone.allow(text, start, end) {
                        found(start, end, name);
                    }
                }
            }
        }
    }

    /// Returns the names that match in a state after `followed` bytes. The state also matches patterns that are
    /// only a suffix of these bytes; they are filtered out.
    fn targets<'a>(
        &'a self,
        automaton: &'a NFA,
        state: StateID,
        followed: usize,
    ) -> impl Iterator<Item = &'a KnownName> {
        (0..automaton.match_len(state))
            .map(move |index| automaton.match_pattern(state, index))
            .filter(move |pattern| automaton.pattern_len(*pattern) == followed)
            .filter_map(|pattern| self.patterns.get(pattern.as_usize()))
            .flatten()
            .filter_map(|at| self.names.get(*at as usize))
    }
}

/// Indices of names by their runs of letters and digits.
#[derive(Debug)]
struct ByRun {
    /// In the order of the runs.
    runs: Vec<(Box<str>, Vec<u32>)>,
    /// Where the runs with a first character are.
    by_first: FxHashMap<char, Range<usize>>,
}

impl ByRun {
    /// Calls `visit` with the names of the rarest number of a query, or else of each run that is like its longest run of letters,
    /// until it returns false.
    fn each_like<'r>(
        &self,
        query: impl Iterator<Item = &'r Run> + Clone,
        visit: &mut dyn FnMut(&[u32]) -> bool,
    ) {
        let letters = query.clone().filter(|run| !run.is_number);
        let longest = letters.max_by_key(|run| run.text.len());
        // Numbers never differ.
        let numbers = query.filter(|run| run.is_number);
        let numbers = numbers.map(|run| self.equal_to(&run.text));
        let rarest = numbers.min_by_key(|names| names.len());
        match (rarest, longest) {
            (Some(rarest), Some(longest)) => {
                let mut is_like = false;
                self.each_near(longest, &mut |_| {
                    is_like = true;
                    false
                });
                if is_like {
                    visit(rarest);
                }
            }
            (Some(rarest), None) => {
                visit(rarest);
            }
            (None, Some(longest)) => self.each_near(longest, visit),
            (None, None) => {}
        }
    }

    /// Calls `visit` with the names of each run that a run of letters begins or misspells, until it returns false.
    fn each_near(&self, letters: &Run, visit: &mut dyn FnMut(&[u32]) -> bool) {
        // A misspelling keeps the first letter.
        for (run, names) in self.beginning_as(&letters.text) {
            let is_like = run.starts_with(&letters.text) || is_misspelt(&letters.text, run);
            if is_like && !visit(names) {
                return;
            }
        }
    }

    /// Returns the names with a run.
    fn equal_to(&self, run: &str) -> &[u32] {
        let alike = self.beginning_as(run);
        let at = alike.binary_search_by(|(known, _)| (**known).cmp(run));
        let found = at.ok().and_then(|at| alike.get(at));
        found.map_or(&[], |(_, names)| names)
    }

    /// Returns the runs with the first character of a text.
    fn beginning_as(&self, text: &str) -> &[(Box<str>, Vec<u32>)] {
        let first = text.chars().next();
        let range = first.and_then(|first| self.by_first.get(&first));
        range
            .and_then(|range| self.runs.get(range.clone()))
            .unwrap_or_default()
    }
}

impl From<BTreeMap<Box<str>, Vec<u32>>> for ByRun {
    fn from(runs: BTreeMap<Box<str>, Vec<u32>>) -> Self {
        let runs: Vec<(Box<str>, Vec<u32>)> = runs.into_iter().collect();
        let mut by_first: FxHashMap<char, Range<usize>> = FxHashMap::default();
        for (at, (run, _)) in runs.iter().enumerate() {
            if let Some(first) = run.chars().next() {
                by_first.entry(first).or_insert(at..at).end = at + 1;
            }
        }
        Self { runs, by_first }
    }
}

impl NameRuns {
    fn new(names: &[KnownName]) -> Self {
        let mut by_run: BTreeMap<Box<str>, Vec<u32>> = BTreeMap::new();
        for (at, name) in (0_u32..).zip(names) {
            for run in runs(&name.alias) {
                let of_run = by_run.entry(run.text.into()).or_default();
                if of_run.last() != Some(&at) {
                    of_run.push(at);
                }
            }
        }
        let head = |name: &KnownName| runs(name.alias.split(": ").next().unwrap_or_default());
        let of_names = names.iter().map(|name| head(name).into()).collect();
        Self {
            by_run: by_run.into(),
            of_names,
        }
    }
}

/// Calls `begin` with the offset and the hash of each word of a text.
pub(super) fn words(text: &str, mut begin: impl FnMut(usize, u64)) {
    let mut word: Option<(usize, u64)> = None;
    for (at, character) in text.char_indices() {
        if is_word(character) {
            let (_, state) = word.get_or_insert((at, 0));
            each_folded_byte(character, |byte| *state = mixed(*state, byte));
        } else if let Some((start, state)) = word.take() {
            begin(start, spread(state));
        }
    }
    if let Some((start, state)) = word {
        begin(start, spread(state));
    }
}

/// Splits a name before its first word.
fn split(name: &str) -> (&str, &str) {
    let first = name.find(is_word).unwrap_or(name.len());
    name.split_at_checked(first).unwrap_or((name, ""))
}

/// Mixes a byte into a word's hash as cheaply as possible. The filter tolerates collisions.
const fn mixed(state: u64, byte: u8) -> u64 {
    (state.wrapping_add(byte as u64 + 1)).wrapping_mul(0xf135_7aea_2e62_a9c5)
}

const fn spread(state: u64) -> u64 {
    state ^ (state >> 29)
}

/// Lower-cases a name for comparison; white space is unchanged.
fn folded(name: &str) -> String {
    name.chars().flat_map(char::to_lowercase).collect()
}

fn each_folded_byte(character: char, mut take: impl FnMut(u8)) {
    if character.is_ascii() {
        take((character as u8).to_ascii_lowercase());
        return;
    }
    let mut buffer = [0; 4];
    for lower in character.to_lowercase() {
        lower.encode_utf8(&mut buffer).bytes().for_each(&mut take);
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}
