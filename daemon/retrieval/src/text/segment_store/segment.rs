//! A tantivy segment: postings and columns are memory-mapped; only lengths are held in memory, from the first
//! search on.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use tantivy::columnar::ColumnValues;
use tantivy::index::{SegmentId, SegmentReader};
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, Opstamp};

use super::super::error::Error;
use super::super::indexed_text::{IndexedText, Kind};
use super::super::postings::{
    CorpusCounts, Entry, Field, LivePart, PerField, PostingsPart, Removals, UnitMask,
};
use super::schema::Fields;

/// Number of column values read at once.
const PIECE: usize = 1024;

type Column = Arc<dyn ColumnValues<u64>>;

/// An open tantivy segment.
pub struct Segment {
    id: SegmentId,
    deletions: Option<Opstamp>,
    deleted: UnitMask,
    units: u32,
    words: PerField<Arc<InvertedIndexReader>>,
    columns: Columns,
    own_lengths: OnceLock<Vec<u32>>,
    around_lengths: OnceLock<Vec<u32>>,
    by_key: OnceLock<Vec<u32>>,
}

struct Columns {
    key: Column,
    kind: Column,
    group: Column,
    session: Column,
    number: Column,
    time: Column,
    length: Column,
    around: Column,
}

impl Segment {
    /// Opens a segment and counts its live units.
    pub fn open(segment: &tantivy::Segment, fields: &Fields) -> Result<LivePart<Self>, Error> {
        let reader = SegmentReader::open(segment)?;
        let column = |name: &str| -> Result<Column, Error> {
            Ok(reader.fast_fields().u64(name)?.first_or_default_col(0))
        };
        let mut deleted = UnitMask::default();
        if let Some(alive) = reader.alive_bitset() {
            let dead = (0..reader.max_doc()).filter(|at| !alive.is_alive(*at));
            dead.for_each(|at| {
                deleted.put(at);
            });
        }
        let gone = deleted.clone();
        let part = Self {
            deleted,
            id: segment.id(),
            deletions: segment.meta().delete_opstamp(),
            units: reader.max_doc(),
            words: PerField {
                documents: reader.inverted_index(*fields.words.get(Field::Documents))?,
                talk: reader.inverted_index(*fields.words.get(Field::Talk))?,
                around: reader.inverted_index(*fields.words.get(Field::Around))?,
            },
            columns: Columns {
                key: column("key")?,
                kind: column("kind")?,
                group: column("group")?,
                session: column("session")?,
                number: column("number")?,
                time: column("time")?,
                length: column("length")?,
                around: column("around")?,
            },
            own_lengths: OnceLock::new(),
            around_lengths: OnceLock::new(),
            by_key: OnceLock::new(),
        };
        let tally = part.count(&gone)?;
        let part = Arc::new(part);
        Ok(LivePart {
            part,
            gone,
            tally,
            selections: Default::default(),
        })
    }

    /// Whether this is the same segment in the same state.
    pub fn is(&self, segment: &tantivy::Segment) -> bool {
        self.id == segment.id() && self.deletions == segment.meta().delete_opstamp()
    }

    /// Returns the units that are already deleted on disk.
    pub fn deleted(&self) -> &UnitMask {
        &self.deleted
    }

    /// Frees caches that can be read again.
    pub fn release(&mut self) {
        self.own_lengths.take();
        self.around_lengths.take();
        self.by_key.take();
    }

    fn count(&self, gone: &UnitMask) -> Result<CorpusCounts, Error> {
        let mut tally = CorpusCounts::default();
        let mut at = 0;
        let columns = [
            &self.columns.kind,
            &self.columns.length,
            &self.columns.around,
        ];
        let mut unknown = None;
        read(columns, 0..self.units, |[kind, own, around]| {
            match Kind::of_code(kind) {
                Some(kind) if !gone.has(at) => tally.add(kind, length(own), length(around)),
                Some(_) => {}
                None => unknown = Some(kind),
            }
            at += 1;
        });
        match unknown {
            Some(kind) => Err(Error::Damaged(format!("a unit of kind {kind}"))),
            None => Ok(tally),
        }
    }

    fn by_key(&self) -> &[u32] {
        self.by_key.get_or_init(|| {
            let mut keys = Vec::with_capacity(self.units as usize);
            read([&self.columns.key], 0..self.units, |[key]| keys.push(key));
            if keys.is_sorted() {
                return Vec::new(); // common case: units are in log order
            }
            let mut order: Vec<u32> = (0..self.units).collect();
            order.sort_by_key(|at| keys.get(*at as usize).copied());
            order
        })
    }
}

impl PostingsPart for Segment {
    fn units(&self) -> u32 {
        self.units
    }

    fn unit(&self, at: u32) -> IndexedText {
        let columns = &self.columns;
        IndexedText {
            key: columns.key.get_val(at),
            // Validated when the segment was opened.
            kind: Kind::of_code(columns.kind.get_val(at)).unwrap_or(Kind::Document),
            group: columns.group.get_val(at),
            session: columns.session.get_val(at),
            number: length(columns.number.get_val(at)),
            time: columns.time.get_val(at),
        }
    }

    fn each(&self, from: u32, visit: &mut dyn FnMut(u32, IndexedText)) {
        let columns = &self.columns;
        let all = [
            &columns.key,
            &columns.kind,
            &columns.group,
            &columns.session,
            &columns.number,
            &columns.time,
        ];
        let mut at = from;
        read(
            all,
            from..self.units,
            |[key, kind, group, session, number, time]| {
                let unit = IndexedText {
                    key,
                    kind: Kind::of_code(kind).unwrap_or(Kind::Document),
                    group,
                    session,
                    number: length(number),
                    time,
                };
                visit(at, unit);
                at += 1;
            },
        );
    }

    fn key(&self, at: u32) -> u64 {
        self.columns.key.get_val(at)
    }

    fn find(&self, key: u64) -> Option<u32> {
        let order = self.by_key();
        let placed = |place: u32| order.get(place as usize).copied().unwrap_or(place);
        let (mut low, mut high) = (0, self.units);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(placed(middle)) < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let at = placed(low);
        (low < self.units && self.key(at) == key).then_some(at)
    }

    fn lengths(&self, field: Field) -> &[u32] {
        let (held, column) = match field {
            Field::Documents | Field::Talk => (&self.own_lengths, &self.columns.length),
            Field::Around => (&self.around_lengths, &self.columns.around),
        };
        held.get_or_init(|| {
            let mut lengths = Vec::with_capacity(self.units as usize);
            read([column], 0..self.units, |[value]| {
                lengths.push(length(value))
            });
            lengths
        })
    }

    fn entry(&self, field: Field, term: &str) -> Result<Option<Entry>, Error> {
        let found = self.words.get(field).terms().get(term.as_bytes())?;
        Ok(found.map(|info| Entry {
            units: info.doc_freq,
            place: info.postings_range,
        }))
    }

    fn postings(
        &self,
        field: Field,
        entry: &Entry,
        visit: &mut dyn FnMut(&[u32], &[u32]),
    ) -> Result<(), Error> {
        let info = TermInfo {
            doc_freq: entry.units,
            postings_range: entry.place.clone(),
            positions_range: 0..0,
        };
        let words = self.words.get(field);
        let option = IndexRecordOption::WithFreqs;
        let mut blocks = words.read_block_postings_from_terminfo(&info, option)?;
        while blocks.block_len() > 0 {
            visit(blocks.docs(), blocks.freqs());
            blocks.advance();
        }
        Ok(())
    }

    fn terms(
        &self,
        field: Field,
        beginning: &str,
        visit: &mut dyn FnMut(&str, u32),
    ) -> Result<(), Error> {
        let mut stream = self
            .words
            .get(field)
            .terms()
            .range()
            .ge(beginning.as_bytes())
            .into_stream()?;
        while stream.advance() && stream.key().starts_with(beginning.as_bytes()) {
            if let Ok(term) = std::str::from_utf8(stream.key()) {
                visit(term, stream.value().doc_freq);
            }
        }
        Ok(())
    }

    fn targets(&self, removals: &Removals) -> Vec<u32> {
        let mut targets = Vec::new();
        let columns = &self.columns;
        let columns = [&columns.group, &columns.session, &columns.key];
        let mut at = 0;
        read(columns, 0..self.units, |[group, session, key]| {
            let unit = IndexedText {
                key,
                group,
                session,
                ..IndexedText::default()
            };
            if removals.mean(&unit) {
                targets.push(at);
            }
            at += 1;
        });
        targets
    }
}

/// Calls `visit` with the values of some columns, unit by unit.
fn read<const N: usize>(columns: [&Column; N], units: Range<u32>, mut visit: impl FnMut([u64; N])) {
    let mut pieces = [[0_u64; PIECE]; N];
    for start in units.clone().step_by(PIECE) {
        let length = PIECE.min((units.end - start) as usize);
        for (column, piece) in columns.iter().zip(pieces.iter_mut()) {
            if let Some(piece) = piece.get_mut(..length) {
                column.get_range(u64::from(start), piece);
            }
        }
        for at in 0..length {
            visit(std::array::from_fn(|column| {
                let piece = pieces.get(column);
                piece.and_then(|piece| piece.get(at)).copied().unwrap_or(0)
            }));
        }
    }
}

/// Converts a stored number that was written as 32 bits.
fn length(stored: u64) -> u32 {
    u32::try_from(stored).unwrap_or(u32::MAX)
}
