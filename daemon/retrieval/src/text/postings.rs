//! A part of an index: units in a fixed numbering, with their words. One part is in memory, the
//! others are tantivy's segments; all are searched and scored alike.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::error::Error;
use super::indexed_text::{Class, IndexedText, Kind};

/// What is indexed of a unit: each field has its own words and its own statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The text of a unit of [`Class::Documents`].
    Documents,
    /// The text of a unit of [`Class::Talk`].
    Talk,
    /// The same with the two texts before it.
    Around,
}

impl Field {
    pub const ALL: [Self; 3] = [Self::Documents, Self::Talk, Self::Around];

    /// The field of a class that holds the unit's own text.
    pub fn own(class: Class) -> Self {
        match class {
            Class::Documents => Self::Documents,
            Class::Talk => Self::Talk,
        }
    }

    /// All fields of a class.
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

/// Where a part keeps the units of one term.
#[derive(Clone, Debug)]
pub struct Entry {
    /// How many units have it, those that are gone included.
    pub units: u32,
    /// The part's own business.
    pub place: Range<usize>,
}

/// Units by number, from 0, and which of them have which words.
pub trait PostingsPart: Send + Sync {
    /// How many numbers there are, those that are gone included.
    fn units(&self) -> u32;
    /// The unit of a number.
    fn unit(&self, at: u32) -> IndexedText;
    /// Its key alone.
    fn key(&self, at: u32) -> u64;
    /// The number of a key.
    fn find(&self, key: u64) -> Option<u32>;
    /// The lengths of the units' texts, in words.
    fn lengths(&self, field: Field) -> &[u32];
    /// Where a term is kept.
    fn entry(&self, field: Field, term: &str) -> Result<Option<Entry>, Error>;
    /// Shows the numbers of the units that have a term, ascending, and how often each has it, in
    /// pieces.
    fn postings(
        &self,
        field: Field,
        entry: &Entry,
        visit: &mut dyn FnMut(&[u32], &[u32]),
    ) -> Result<(), Error>;
    /// Shows the terms that begin with `beginning`, and how many units have each.
    fn terms(
        &self,
        field: Field,
        beginning: &str,
        visit: &mut dyn FnMut(&str, u32),
    ) -> Result<(), Error>;
    /// The numbers of the units that removals are about, gone or not.
    fn targets(&self, removals: &Removals) -> Vec<u32>;
}

impl<P: PostingsPart> PostingsPart for std::sync::Arc<P> {
    fn units(&self) -> u32 {
        (**self).units()
    }

    fn unit(&self, at: u32) -> IndexedText {
        (**self).unit(at)
    }

    fn key(&self, at: u32) -> u64 {
        (**self).key(at)
    }

    fn find(&self, key: u64) -> Option<u32> {
        (**self).find(key)
    }

    fn lengths(&self, field: Field) -> &[u32] {
        (**self).lengths(field)
    }

    fn entry(&self, field: Field, term: &str) -> Result<Option<Entry>, Error> {
        (**self).entry(field, term)
    }

    fn postings(
        &self,
        field: Field,
        entry: &Entry,
        visit: &mut dyn FnMut(&[u32], &[u32]),
    ) -> Result<(), Error> {
        (**self).postings(field, entry, visit)
    }

    fn terms(
        &self,
        field: Field,
        beginning: &str,
        visit: &mut dyn FnMut(&str, u32),
    ) -> Result<(), Error> {
        (**self).terms(field, beginning, visit)
    }

    fn targets(&self, removals: &Removals) -> Vec<u32> {
        (**self).targets(removals)
    }
}

/// Removals that are looked for in one pass.
#[derive(Default)]
pub struct Removals {
    /// Groups, each with the position before which its units go.
    pub groups: FxHashMap<u64, u64>,
    /// Sessions, likewise.
    pub sessions: FxHashMap<u64, u64>,
    /// Positions.
    pub positions: FxHashSet<u64>,
}

impl Removals {
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.sessions.is_empty() && self.positions.is_empty()
    }

    /// Whether a unit is to go.
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

/// Which units of a part are gone: one bit a unit.
#[derive(Clone, Debug, Default)]
pub struct DeletionMask {
    words: Vec<u64>,
    count: u32,
}

impl DeletionMask {
    pub fn count(&self) -> u32 {
        self.count
    }

    pub fn has(&self, at: u32) -> bool {
        self.word(at as usize / 64) >> (at % 64) & 1 == 1
    }

    /// The bits of the units from 64 x `at` on.
    pub fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// Whether it was there before.
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

    /// Those gone here that are not gone there.
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

/// What is counted over the units that are there: the ground of all scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusCounts {
    /// How many units are of each kind, in the order of [`Kind::ALL`].
    pub kinds: [u64; Kind::ALL.len()],
    /// How long their texts are together, in words.
    pub lengths: PerField<u64>,
}

impl CorpusCounts {
    /// Adds a unit of a kind and the lengths of its own text and of what is around it.
    pub fn add(&mut self, kind: Kind, own: u32, around: u32) {
        self.change(
            kind,
            |count| *count += 1,
            |sum, by| *sum += u64::from(by),
            own,
            around,
        );
    }

    /// Takes it away again.
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

    /// Adds what another part counted.
    pub fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            *mine += theirs;
        }
        for field in Field::ALL {
            *self.lengths.get_mut(field) += other.lengths.get(field);
        }
    }

    /// How many units there are of a class.
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

/// A part with what was removed from it since it was made.
pub struct LivePart<P> {
    pub part: P,
    pub gone: DeletionMask,
    pub tally: CorpusCounts,
}

impl<P: PostingsPart> LivePart<P> {
    /// Takes a unit away; whether it was there.
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

    /// The number of a key, if its unit is there.
    pub fn find(&self, key: u64) -> Option<u32> {
        self.part.find(key).filter(|at| !self.gone.has(*at))
    }

    pub fn view(&self) -> View<'_> {
        View {
            part: &self.part,
            gone: &self.gone,
            tally: &self.tally,
        }
    }
}

/// A part as a search sees it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub part: &'a dyn PostingsPart,
    pub gone: &'a DeletionMask,
    pub tally: &'a CorpusCounts,
}

impl View<'_> {
    /// The number of a key, if its unit is there.
    pub fn find(&self, key: u64) -> Option<u32> {
        self.part.find(key).filter(|at| !self.gone.has(*at))
    }

    /// How many of the units that are there have the term of an entry.
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
