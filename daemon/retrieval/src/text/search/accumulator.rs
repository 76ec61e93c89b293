//! The scores of one segment's units, accumulated term by term.

use super::super::error::Error;
use super::super::postings::{PerField, UnitMask, View};
use super::scoring::{Clause, LengthNorm};
use crate::top_hits::TopHits;

/// If fewer than one unit in this many matches, the matches are listed instead of found by a scan of all scores.
const LISTED_SHARE: usize = 32;

/// Number of units scored at once: a block of postings.
const PIECE: usize = 128;

/// Number of units in a block of scores; the number of bits in a word of [`UnitMask`].
const BLOCK: usize = 64;

/// Score buffers for a segment; reused between searches, all zero in between.
#[derive(Default)]
pub struct ScoreAccumulator {
    scores: Vec<f32>,
    /// The highest score of each block, so that most blocks are skipped.
    highest: Vec<f32>,
    /// The matching units, if there are few.
    listed: Vec<u32>,
    lists: bool,
    /// Units and scores of a word with variants.
    several: Vec<(u32, f32)>,
}

impl ScoreAccumulator {
    /// Adds up the scores of all units of segment number `at`, including deleted units.
    pub fn add_up(
        &mut self,
        view: &View<'_>,
        at: usize,
        clauses: &[Clause],
        norms: &PerField<LengthNorm>,
    ) -> Result<(), Error> {
        let units = view.part.units() as usize;
        if self.scores.len() < units {
            self.scores.resize(units, 0.0);
            self.highest.resize(units.div_ceil(BLOCK), 0.0);
        }
        let entries = clauses.iter().flat_map(|clause| &clause.query_terms);
        let entries = entries.filter_map(|term| term.entries.get(at)?.as_ref());
        let postings: usize = entries.map(|entry| entry.units as usize).sum();
        self.lists = postings < units / LISTED_SHARE;
        for clause in clauses {
            let norm = *norms.get(clause.field);
            match clause.query_terms.as_slice() {
                [one] => {
                    if let Some(Some(entry)) = one.entries.get(at) {
                        let lengths = view.part.lengths(clause.field);
                        let weight = one.weight;
                        view.part
                            .postings(clause.field, entry, &mut |units, counts| {
                                self.add(units, counts, lengths, weight, norm);
                            })?;
                    }
                }
                _ => self.add_best(view, at, clause, norm)?,
            }
        }
        Ok(())
    }

    /// Returns whether many units of the segment match.
    pub fn has_many(&self) -> bool {
        !self.lists
    }

    /// Returns a unit's score; 0 if it does not match.
    pub fn score(&self, unit: u32) -> f32 {
        self.scores.get(unit as usize).copied().unwrap_or(0.0)
    }

    /// Calls `show` with each live matching unit and its score, and resets all scores to zero.
    ///
    /// Unless `all` is set, units below the bar of `best` may be skipped. Returns the number of skipped units.
    pub fn drain(
        &mut self,
        gone: &UnitMask,
        all: bool,
        best: &mut TopHits<()>,
        mut show: impl FnMut(&mut TopHits<()>, u32, f32),
    ) -> u64 {
        if self.lists {
            for unit in self.listed.drain(..) {
                let score = self.scores.get_mut(unit as usize).map(std::mem::take);
                if let Some(highest) = self.highest.get_mut(unit as usize / BLOCK) {
                    *highest = 0.0;
                }
                if !gone.has(unit) {
                    show(best, unit, score.unwrap_or(0.0));
                }
            }
            return 0;
        }
        let mut counted = 0;
        let blocks = self.scores.chunks_mut(BLOCK).zip(&mut self.highest);
        for (at, (scores, highest)) in blocks.enumerate() {
            let highest = std::mem::take(highest);
            if highest == 0.0 {
                continue;
            }
            let gone = gone.word(at);
            if !all && gone == 0 && highest < best.bar() {
                let matching = scores.iter().map(|score| u32::from(*score > 0.0));
                counted += u64::from(matching.sum::<u32>());
            } else {
                for (bit, score) in scores.iter().enumerate() {
                    if *score > 0.0 && gone >> bit & 1 == 0 {
                        show(best, (at * BLOCK + bit) as u32, *score);
                    }
                }
            }
            scores.fill(0.0);
        }
        counted
    }

    /// Adds a term's scores in three passes over pieces, so that the middle pass, with the divisions, handles several
    /// units at once.
    fn add(
        &mut self,
        units: &[u32],
        counts: &[u32],
        lengths: &[u32],
        weight: f32,
        norm: LengthNorm,
    ) {
        for (units, counts) in units.chunks(PIECE).zip(counts.chunks(PIECE)) {
            let (mut found, mut scores) = ([0; PIECE], [0.0; PIECE]);
            for (length, unit) in found.iter_mut().zip(units) {
                *length = lengths.get(*unit as usize).copied().unwrap_or(0);
            }
            for ((score, length), count) in scores.iter_mut().zip(found).zip(counts) {
                *score = norm.score(weight, *count, length);
            }
            for (unit, score) in units.iter().zip(scores) {
                self.raise(*unit, score);
            }
        }
    }

    #[inline]
    fn raise(&mut self, unit: u32, by: f32) {
        let at = unit as usize;
        if let (Some(sum), Some(highest)) =
            (self.scores.get_mut(at), self.highest.get_mut(at / BLOCK))
        {
            if self.lists && *sum == 0.0 {
                self.listed.push(unit);
            }
            *sum += by;
            *highest = highest.max(*sum);
        }
    }

    /// Adds the best score among a word's terms to each unit that has one of them.
    fn add_best(
        &mut self,
        view: &View<'_>,
        at: usize,
        clause: &Clause,
        norm: LengthNorm,
    ) -> Result<(), Error> {
        let lengths = view.part.lengths(clause.field);
        let mut several = std::mem::take(&mut self.several);
        for term in &clause.query_terms {
            let Some(Some(entry)) = term.entries.get(at) else {
                continue;
            };
            view.part
                .postings(clause.field, entry, &mut |units, counts| {
                    several.extend(units.iter().zip(counts).map(|(unit, count)| {
                        let length = lengths.get(*unit as usize).copied().unwrap_or(0);
                        (*unit, norm.score(term.weight, *count, length))
                    }));
                })?;
        }
        several.sort_unstable_by(|one, other| {
            one.0.cmp(&other.0).then_with(|| other.1.total_cmp(&one.1))
        });
        several.dedup_by_key(|(unit, _)| *unit);
        for (unit, score) in several.drain(..) {
            self.raise(unit, score);
        }
        self.several = several;
        Ok(())
    }
}
