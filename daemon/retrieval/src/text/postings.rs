//! A segment of an index: numbered units with their words. One segment is in memory, the others are tantivy's;
//! all are searched and scored alike.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::error::Error;
use super::indexed_text::{Class, IndexedText, Kind};
use super::selection::Selections;

/// An indexed field of a unit, with its own words and statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The text of a unit of [`Class::Documents`].
    Documents,
    /// The text of a unit of [`Class::Talk`].
    Talk,
    /// The text of a unit of [`Class::Talk`], with the two texts before it.
    Around,
}

impl Field {
    pub const ALL: [Self; 3] = [Self::Documents, Self::Talk, Self::Around];

    /// Returns the field with the own text of a class's units.
    pub fn own(class: Class) -> Self {
        match class {
            Class::Documents => Self::Documents,
            Class::Talk => Self::Talk,
        }
    }

    /// Returns all fields of a class.
    pub fn of(class: Class) -> &'static [Self] {
        match class {
            Class::Documents => &[Self::Documents],
            Class::Talk => &[Self::Talk, Self::Around],
        }
    }

    pub fn class(self) -> Class {
        match self {
            Self::Documents => Class::Documents,
            Self::Talk | Self::Around => Class::Talk,
        }
    }
}

/// One value for each field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerField<T> {
    pub documents: T,
    pub talk: T,
    pub around: T,
}

impl<T> PerField<T> {
    pub fn get(&self, field: Field) -> &T {
        match field {
            Field::Documents => &self.documents,
            Field::Talk => &self.talk,
            Field::Around => &self.around,
        }
    }

    pub fn get_mut(&mut self, field: Field) -> &mut T {
        match field {
            Field::Documents => &mut self.documents,
            Field::Talk => &mut self.talk,
            Field::Around => &mut self.around,
        }
    }
}

/// Location of a term's postings in a segment.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Number of units with the term, including deleted ones.
    pub units: u32,
    /// Location, in a form private to the segment.
    pub place: Range<usize>,
}

/// A segment: units numbered from 0, and their postings.
pub trait PostingsPart: Send + Sync {
    /// Returns the number of units, including deleted ones.
    fn units(&self) -> u32;
    /// Returns the unit with a number.
    fn unit(&self, at: u32) -> IndexedText;
    /// Calls `visit` with each unit from a number on, in the order of their numbers, including deleted ones.
    fn each(&self, from: u32, visit: &mut dyn FnMut(u32, IndexedText));
    /// Returns only the key of a unit.
    fn key(&self, at: u32) -> u64;
    /// Returns the number of the unit with a key, even if deleted.
    fn find(&self, key: u64) -> Option<u32>;
    /// Returns the text lengths of all units, in words.
    fn lengths(&self, field: Field) -> &[u32];
    /// Looks up a term.
    fn entry(&self, field: Field, term: &str) -> Result<Option<Entry>, Error>;
    /// Calls `visit` with the numbers of the units that have a term, ascending, and its count in each, in batches.
    fn postings(
        &self,
        field: Field,
        entry: &Entry,
        visit: &mut dyn FnMut(&[u32], &[u32]),
    ) -> Result<(), Error>;
    /// Calls `visit` with each term that begins with `beginning`, and the number of its units.
    fn terms(
        &self,
        field: Field,
        beginning: &str,
        visit: &mut dyn FnMut(&str, u32),
    ) -> Result<(), Error>;
    /// Returns the numbers of the units that removals select, including deleted ones.
    fn targets(&self, removals: &Removals) -> Vec<u32>;
}

/// Removals that one pass over the units applies.
#[derive(Default)]
pub struct Removals {
    /// Groups, each with the position before which its units are removed.
    pub groups: FxHashMap<u64, u64>,
    /// Sessions, each with the position before which its units are removed.
    pub sessions: FxHashMap<u64, u64>,
    /// Positions whose units are all removed.
    pub positions: FxHashSet<u64>,
}

impl Removals {
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.sessions.is_empty() && self.positions.is_empty()
    }

    /// Whether the removals select a unit.
    pub fn mean(&self, unit: &IndexedText) -> bool {
        let position = unit.position();
        let within = |of: &FxHashMap<u64, u64>, hash: u64| {
            of.get(&hash).is_some_and(|before| position < *before)
        };
        within(&self.groups, unit.group)
            || within(&self.sessions, unit.session)
            || self.positions.contains(&position)
    }
}

/// Some units of a segment, one bit for each unit.
#[derive(Clone, Debug, Default)]
pub struct UnitMask {
    words: Vec<u64>,
    count: u32,
}

impl UnitMask {
    pub fn count(&self) -> u32 {
        self.count
    }

    pub fn has(&self, at: u32) -> bool {
        self.word(at as usize / 64) >> (at % 64) & 1 == 1
    }

    /// Returns the bits of 64 units, from number 64 x `at` on.
    pub fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// Adds a unit; returns `false` if it was there already.
    pub fn put(&mut self, at: u32) -> bool {
        let (word, bit) = (at as usize / 64, 1_u64 << (at % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let Some(word) = self.words.get_mut(word) else {
            return false;
        };
        let fresh = *word & bit == 0;
        *word |= bit;
        self.count += u32::from(fresh);
        fresh
    }

    /// Returns the units that are deleted here but not in `other`.
    pub fn beyond<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u32> + 'a {
        let words = self.words.iter().enumerate();
        words.flat_map(|(at, word)| {
            let mut left = word & !other.word(at);
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(at as u32 * 64 + bit)
            })
        })
    }
}

/// Counts over the live units, on which all scores are based.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusCounts {
    /// Number of units of each kind, in the order of [`Kind::ALL`].
    pub kinds: [u64; Kind::ALL.len()],
    /// Total length of the units' texts, in words.
    pub lengths: PerField<u64>,
}

impl CorpusCounts {
    /// Adds a unit, with the lengths of its own and its surrounding text.
    pub fn add(&mut self, kind: Kind, own: u32, around: u32) {
        self.change(
            kind,
            |count| *count += 1,
            |sum, by| *sum += u64::from(by),
            own,
            around,
        );
    }

    /// Subtracts a unit.
    pub fn subtract(&mut self, kind: Kind, own: u32, around: u32) {
        let less = |sum: &mut u64, by: u32| *sum = sum.saturating_sub(u64::from(by));
        self.change(
            kind,
            |count| *count = count.saturating_sub(1),
            less,
            own,
            around,
        );
    }

    /// Adds the counts of another segment.
    pub fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            *mine += theirs;
        }
        for field in Field::ALL {
            *self.lengths.get_mut(field) += other.lengths.get(field);
        }
    }

    /// Returns the number of units of a class.
    pub fn units(&self, class: Class) -> u64 {
        let counted = Kind::ALL.into_iter().zip(self.kinds);
        let of_class = counted.filter(|(kind, _)| kind.class() == class);
        of_class.map(|(_, count)| count).sum()
    }

    fn change(
        &mut self,
        kind: Kind,
        count: impl Fn(&mut u64),
        length: impl Fn(&mut u64, u32),
        own: u32,
        around: u32,
    ) {
        if let Some(of_kind) = self.kinds.get_mut(kind.code() as usize) {
            count(of_kind);
        }
        match kind.class() {
            Class::Documents => length(&mut self.lengths.documents, own),
            Class::Talk => {
                length(&mut self.lengths.talk, own);
                length(&mut self.lengths.around, around);
            }
        }
    }
}

/// A segment with the units deleted from it since it was written.
pub struct LivePart<P> {
    /// Shared only while a flush writes it.
    pub part: Arc<P>,
    pub gone: UnitMask,
    pub tally: CorpusCounts,
    pub selections: Selections,
}

impl<P: PostingsPart> LivePart<P> {
    /// Removes a unit; returns whether it was live.
    pub fn remove(&mut self, at: u32) -> bool {
        let fresh = self.gone.put(at);
        if fresh {
            let kind = self.part.unit(at).kind;
            let length = |field| self.part.lengths(field).get(at as usize).copied();
            let own = length(Field::own(kind.class())).unwrap_or(0);
            let around = length(Field::Around).unwrap_or(0);
            self.tally.subtract(kind, own, around);
        }
        fresh
    }

    /// Removes the units that removals select, and appends their keys to `removed`.
    pub fn remove_all(&mut self, removals: &Removals, removed: &mut Vec<u64>) {
        for at in self.part.targets(removals) {
            if self.remove(at) {
                removed.push(self.part.key(at));
            }
        }
    }

    pub fn view(&self) -> View<'_> {
        View {
            part: &*self.part,
            gone: &self.gone,
            tally: &self.tally,
            selections: &self.selections,
        }
    }
}

/// A read-only view of a segment for a search.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub part: &'a dyn PostingsPart,
    pub gone: &'a UnitMask,
    pub tally: &'a CorpusCounts,
    pub selections: &'a Selections,
}

impl View<'_> {
    /// Returns the number of the unit with a key, if it is live.
    pub fn find(&self, key: u64) -> Option<u32> {
        self.part.find(key).filter(|at| !self.gone.has(*at))
    }

    /// Counts the live units that have an entry's term.
    pub fn living(&self, field: Field, entry: &Entry) -> Result<u64, Error> {
        if self.gone.count() == 0 {
            return Ok(u64::from(entry.units));
        }
        let mut living = 0;
        self.part.postings(field, entry, &mut |units, _| {
            living += units.iter().filter(|at| !self.gone.has(**at)).count() as u64;
        })?;
        Ok(living)
    }
}
