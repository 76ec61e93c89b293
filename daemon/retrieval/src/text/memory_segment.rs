//! The in-memory segment: units that are searchable at once but not yet on disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::analyser::{Analyser, AnalysisMode};
use super::error::Error;
use super::indexed_text::{Class, IndexedText, NewText, key};
use super::postings::{CorpusCounts, Entry, Field, LivePart, PerField, PostingsPart, Removals};

/// Estimated overhead of a term and of a unit, in bytes.
const TERM_BYTES: usize = 120;
const UNIT_BYTES: usize = 240;
/// Estimated size of a posting and its copy in the list of its unit, in bytes.
const POSTING_BYTES: usize = 20;

/// Texts before others whose words are kept.
const BEFORE_MAX: usize = 256;

/// The distinct words of a text with their counts, and the length of the text in words.
#[derive(Default)]
pub struct WordCounts {
    counts: Vec<(Box<str>, u32)>,
    length: u32,
}

impl WordCounts {
    /// Counts the words of a text.
    pub fn of(text: &str, analyser: &mut Analyser) -> Self {
        let mut counts: FxHashMap<Box<str>, u32> = FxHashMap::default();
        // An estimate of the distinct words in a text of this length.
        counts.reserve(text.len().min(1 << 16) / 16);
        let mut length = 0_u32;
        analyser.tokens(text, AnalysisMode::Index, &mut |token| {
            length = length.saturating_add(u32::from(token.counted));
            match counts.get_mut(token.term) {
                Some(count) => *count = count.saturating_add(1),
                None => {
                    counts.insert(token.term.into(), 1);
                }
            }
            true
        });
        let counts = counts.into_iter().collect();
        Self { counts, length }
    }
}

/// The words of texts that stand before others: each text stands before two.
#[derive(Default)]
pub struct WordsBefore(FxHashMap<Arc<str>, Arc<WordCounts>>);

impl WordsBefore {
    fn of(&mut self, text: &Arc<str>, analyser: &mut Analyser) -> Arc<WordCounts> {
        if self.0.len() >= BEFORE_MAX && !self.0.contains_key(text) {
            self.0.clear();
        }
        let counted = self.0.entry(Arc::clone(text));
        let counted = counted.or_insert_with(|| Arc::new(WordCounts::of(text, analyser)));
        Arc::clone(counted)
    }
}

/// A unit with its words, analysed before any lock is taken.
pub struct AnalysedText {
    unit: IndexedText,
    own: WordCounts,
    /// The words of each text before it; `None` if the text alone is indexed.
    before: Option<Vec<Arc<WordCounts>>>,
}

impl AnalysedText {
    /// Analyses the texts of a unit.
    pub fn of(addition: &NewText, analyser: &mut Analyser, known: &mut WordsBefore) -> Self {
        let before = match addition.unit.kind.class() {
            Class::Documents => None,
            Class::Talk => addition.before.as_ref(),
        };
        let before = before.map(|texts| {
            let texts = texts.iter().map(|text| known.of(text, analyser));
            texts.collect()
        });
        Self {
            unit: addition.unit,
            own: WordCounts::of(&addition.text, analyser),
            before,
        }
    }

    pub fn unit(&self) -> &IndexedText {
        &self.unit
    }
}

/// Term numbers of a text with their counts.
type NumberedTerms = Box<[(u32, u32)]>;

/// Term dictionary and postings of a field.
#[derive(Default)]
struct Terms {
    numbers: FxHashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
    postings: Vec<Vec<(u32, u32)>>,
}

impl Terms {
    /// Adds the words of unit `at`, which are those of some texts, and returns them as term numbers.
    fn put(&mut self, at: u32, texts: &[&WordCounts], bytes: &mut usize) -> NumberedTerms {
        let words = texts.iter().map(|text| text.counts.len()).sum();
        let mut numbered = Vec::with_capacity(words);
        for (term, count) in texts.iter().flat_map(|text| &text.counts) {
            let number = match self.numbers.get(&**term) {
                Some(number) => *number,
                None => {
                    let number = self.names.len() as u32;
                    let name: Arc<str> = Arc::from(&**term);
                    *bytes += TERM_BYTES + name.len();
                    self.numbers.insert(name.clone(), number);
                    self.names.push(name);
                    self.postings.push(Vec::new());
                    number
                }
            };
            let Some(postings) = self.postings.get_mut(number as usize) else {
                continue;
            };
            match postings.last_mut() {
                // A text before has it, too.
                Some((last, known)) if *last == at => *known = known.saturating_add(*count),
                _ => {
                    postings.push((at, *count));
                    numbered.push((number, 0));
                }
            }
        }
        for (number, count) in &mut numbered {
            let postings = self.postings.get(*number as usize);
            let last = postings.and_then(|postings| postings.last());
            *count = last.map_or(0, |(_, count)| *count);
        }
        *bytes += numbered.len() * POSTING_BYTES;
        numbered.into()
    }
}

/// Units that are not on disk yet.
#[derive(Default)]
pub struct MemorySegment {
    units: Vec<IndexedText>,
    own_lengths: Vec<u32>,
    around_lengths: Vec<u32>,
    /// Words of each unit, own and around, so that a flush does not need the texts.
    words: Vec<[NumberedTerms; 2]>,
    terms: PerField<Terms>,
    by_key: BTreeMap<u64, u32>,
    by_group: FxHashMap<u64, Vec<u32>>,
    by_session: FxHashMap<u64, Vec<u32>>,
    bytes: usize,
}

impl MemorySegment {
    /// Returns the estimated memory use, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the lengths of a unit's own text and of its surrounding text, in words.
    pub fn lengths_of(&self, at: u32) -> [u32; 2] {
        let length = |lengths: &[u32]| lengths.get(at as usize).copied().unwrap_or(0);
        [length(&self.own_lengths), length(&self.around_lengths)]
    }

    /// Calls `visit` with each term of a unit's field, and its count.
    pub fn words_of(&self, at: u32, field: Field, visit: &mut dyn FnMut(&str, u32)) {
        let Some([own, around]) = self.words.get(at as usize) else {
            return;
        };
        let words = match field {
            Field::Documents | Field::Talk => own,
            Field::Around => around,
        };
        for (number, count) in words {
            if let Some(name) = self.terms.get(field).names.get(*number as usize) {
                visit(name, *count);
            }
        }
    }
}

impl LivePart<MemorySegment> {
    /// Creates an empty segment.
    pub fn empty() -> Self {
        Self {
            part: Arc::default(),
            gone: Default::default(),
            tally: CorpusCounts::default(),
            selections: Default::default(),
        }
    }

    /// Adds a unit.
    pub fn add(&mut self, prepared: AnalysedText) {
        let AnalysedText { unit, own, before } = prepared;
        let mut around: Vec<&WordCounts> = Vec::new();
        if let Some(before) = &before {
            around.extend(before.iter().map(|text| &**text));
            around.push(&own);
        }
        let around_length = around
            .iter()
            .fold(0_u32, |sum, text| sum.saturating_add(text.length));
        let Some(fresh) = Arc::get_mut(&mut self.part) else {
            unreachable!("no flush writes the segment that receives units");
        };
        let at = fresh.units.len() as u32;
        self.tally.add(unit.kind, own.length, around_length);
        fresh.own_lengths.push(own.length);
        fresh.around_lengths.push(around_length);
        fresh.bytes += UNIT_BYTES;
        let around = fresh.terms.around.put(at, &around, &mut fresh.bytes);
        let own = {
            let terms = fresh.terms.get_mut(Field::own(unit.kind.class()));
            terms.put(at, &[&own], &mut fresh.bytes)
        };
        fresh.words.push([own, around]);
        fresh.by_key.insert(unit.key, at);
        fresh.by_group.entry(unit.group).or_default().push(at);
        fresh.by_session.entry(unit.session).or_default().push(at);
        fresh.units.push(unit);
    }
}

impl PostingsPart for MemorySegment {
    fn units(&self) -> u32 {
        self.units.len() as u32
    }

    fn unit(&self, at: u32) -> IndexedText {
        // The default is never used, because numbers come from this segment's own postings and lists.
        self.units.get(at as usize).copied().unwrap_or_default()
    }

    fn each(&self, from: u32, visit: &mut dyn FnMut(u32, IndexedText)) {
        let units = self.units.get(from as usize..).unwrap_or_default();
        for (at, unit) in (from..).zip(units) {
            visit(at, *unit);
        }
    }

    fn key(&self, at: u32) -> u64 {
        self.unit(at).key
    }

    fn find(&self, key: u64) -> Option<u32> {
        self.by_key.get(&key).copied()
    }

    fn lengths(&self, field: Field) -> &[u32] {
        match field {
            Field::Documents | Field::Talk => &self.own_lengths,
            Field::Around => &self.around_lengths,
        }
    }

    fn entry(&self, field: Field, term: &str) -> Result<Option<Entry>, Error> {
        let terms = self.terms.get(field);
        let Some(number) = terms.numbers.get(term).map(|number| *number as usize) else {
            return Ok(None);
        };
        let units = terms.postings.get(number).map_or(0, Vec::len) as u32;
        let place = number..number + 1;
        Ok(Some(Entry { units, place }))
    }

    fn postings(
        &self,
        field: Field,
        entry: &Entry,
        visit: &mut dyn FnMut(&[u32], &[u32]),
    ) -> Result<(), Error> {
        let postings = self.terms.get(field).postings.get(entry.place.start);
        for piece in postings.map(Vec::as_slice).unwrap_or_default().chunks(128) {
            let (mut units, mut counts) = ([0; 128], [0; 128]);
            let room = units.iter_mut().zip(counts.iter_mut());
            for ((unit, count), (at, often)) in room.zip(piece) {
                (*unit, *count) = (*at, *often);
            }
            let length = piece.len();
            if let (Some(units), Some(counts)) = (units.get(..length), counts.get(..length)) {
                visit(units, counts);
            }
        }
        Ok(())
    }

    fn terms(
        &self,
        field: Field,
        beginning: &str,
        visit: &mut dyn FnMut(&str, u32),
    ) -> Result<(), Error> {
        let terms = self.terms.get(field);
        for (name, postings) in terms.names.iter().zip(&terms.postings) {
            if name.starts_with(beginning) {
                visit(name, postings.len() as u32);
            }
        }
        Ok(())
    }

    fn targets(&self, removals: &Removals) -> Vec<u32> {
        let of = |lists: &FxHashMap<u64, Vec<u32>>, hash: &u64| -> Vec<u32> {
            lists.get(hash).cloned().unwrap_or_default()
        };
        let groups = removals
            .groups
            .keys()
            .flat_map(|hash| of(&self.by_group, hash));
        let sessions = removals.sessions.keys();
        let sessions = sessions.flat_map(|hash| of(&self.by_session, hash));
        let positions = removals.positions.iter().flat_map(|position| {
            let range = key(*position, 0)..key(position + 1, 0);
            self.by_key.range(range).map(|(_, at)| *at)
        });
        let found = groups.chain(sessions).chain(positions);
        found.filter(|at| removals.mean(&self.unit(*at))).collect()
    }
}
