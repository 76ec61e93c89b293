//! Variants of a rare term: longer terms with the same beginning, and terms one typo away. They depend only on the
//! live units.

use std::collections::{BTreeMap, BTreeSet};

use super::super::analyser::{Analyser, neighbours};
use super::super::error::Error;
use super::super::postings::Field;
use super::term_stats::TermStats;
use super::words::{MatchQuality, Variant, Word};

/// Limit on the units that have a rare word. A more frequent word gets no variants.
const RARE_UNITS_MAX: u64 = 2;

/// Limits on the variants with the same beginning and on typo variants, for each word.
const BEGINNINGS_MAX: usize = 8;
const TYPOS_MAX: usize = 4;

/// Shorter words share their beginning, or all but one letter, with too many terms.
const BEGINNING_CHARACTERS_MIN: usize = 3;
const TYPO_CHARACTERS_MIN: usize = 4;

/// Longer words have too many neighbours: a word of 24 letters has about 1300 in one script. Many words have too
/// many as well, and other queries wait meanwhile.
const TYPO_CHARACTERS_MAX: usize = 24;
pub const TYPO_WORDS_MAX: usize = 16;

/// From this character on, scripts have no spaces, and a pair of characters is as specific as a word.
const FIRST_UNSPACED: char = '\u{e00}';

/// Limit on the letters cut from a word to find its stem: `configurat` begins with `configur`.
const ENDING_CHARACTERS_MAX: usize = 5;

/// Returns the variants of a rare word, most frequent first; none if the word is not rare. Typos are looked up
/// only for the first `typos_left` words that have neighbours.
pub fn variants(
    stats: &mut TermStats<'_>,
    fields: &[Field],
    word: &Word,
    analyser: &mut Analyser,
    typos_left: &mut usize,
) -> Result<Vec<Variant>, Error> {
    if word.units > RARE_UNITS_MAX {
        return Ok(Vec::new());
    }
    let mut found = Candidates { stats, fields };
    let beginnings = found.beginnings(word)?;
    let mut variants = found.best(beginnings, MatchQuality::Beginning, BEGINNINGS_MAX)?;
    if variants.is_empty() && word.units == 0 {
        variants.extend(found.beginning_of(word)?);
    }
    if *typos_left == 0 || !may_be_typo(&word.written) {
        return Ok(variants);
    }
    *typos_left -= 1;
    let mut typos = found.typos(word, analyser)?;
    typos.retain(|term, _| variants.iter().all(|known| known.term != *term));
    variants.extend(found.best(typos, MatchQuality::Typo, TYPOS_MAX)?);
    Ok(variants)
}

/// Whether a word may be a typing error: only letters, neither short nor long.
fn may_be_typo(written: &str) -> bool {
    let characters = written.chars().take(TYPO_CHARACTERS_MAX + 1).count();
    (TYPO_CHARACTERS_MIN..=TYPO_CHARACTERS_MAX).contains(&characters)
        && written.chars().all(char::is_alphabetic)
}

struct Candidates<'a, 'b> {
    stats: &'a mut TermStats<'b>,
    fields: &'a [Field],
}

impl Candidates<'_, '_> {
    /// Returns the terms that begin with the word's term, each with an upper bound of its units.
    fn beginnings(&self, word: &Word) -> Result<BTreeMap<String, u64>, Error> {
        let mut found = BTreeMap::new();
        let spaced = word.term.chars().all(|one| one < FIRST_UNSPACED);
        if spaced && word.term.chars().count() < BEGINNING_CHARACTERS_MIN {
            return Ok(found);
        }
        for view in self.stats.views() {
            for field in self.fields {
                view.part.terms(*field, &word.term, &mut |term, units| {
                    if term != word.term {
                        *found.entry(term.to_owned()).or_default() += u64::from(units);
                    }
                })?;
            }
        }
        Ok(found)
    }

    /// Returns the longest term that equals the word without its last letters.
    fn beginning_of(&mut self, word: &Word) -> Result<Option<Variant>, Error> {
        let ends = word.written.char_indices().rev().map(|(end, _)| end);
        for end in ends.take(ENDING_CHARACTERS_MAX) {
            let term = word.written.get(..end).unwrap_or_default();
            if term == word.term || term.chars().count() < TYPO_CHARACTERS_MIN {
                continue;
            }
            let units = self.stats.living(self.fields, term)?;
            if units > 0 {
                return Ok(Some(Variant {
                    term: term.to_owned(),
                    quality: MatchQuality::Beginning,
                    units,
                }));
            }
        }
        Ok(None)
    }

    /// Returns the terms of all words one edit away from the word as written.
    fn typos(&self, word: &Word, analyser: &mut Analyser) -> Result<BTreeMap<String, u64>, Error> {
        let mut found = BTreeMap::new();
        let mut near = BTreeSet::new();
        neighbours(&word.written, &mut |edited| {
            let term = analyser.stem(edited);
            if term != word.term && !near.contains(term) {
                near.insert(term.to_owned());
            }
        });
        for term in near {
            self.note(&term, &mut found)?;
        }
        Ok(found)
    }

    /// Adds a term to `found` if any segment has it.
    fn note(&self, term: &str, found: &mut BTreeMap<String, u64>) -> Result<(), Error> {
        let mut units = 0;
        for view in self.stats.views() {
            for field in self.fields {
                let entry = view.part.entry(*field, term)?;
                units += entry.map_or(0, |entry| u64::from(entry.units));
            }
        }
        if units > 0 {
            found.insert(term.to_owned(), units);
        }
        Ok(())
    }

    /// Returns the terms with the most live units; ties go to the alphabetically first. `found` has upper bounds that
    /// include deleted units, so live units are counted for as few terms as possible.
    fn best(
        &mut self,
        found: BTreeMap<String, u64>,
        quality: MatchQuality,
        limit: usize,
    ) -> Result<Vec<Variant>, Error> {
        let mut candidates: Vec<(String, u64)> = found.into_iter().collect();
        candidates.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let mut best: Vec<Variant> = Vec::new();
        for (term, at_most) in candidates {
            let full = best.len() >= limit;
            if full && best.last().is_some_and(|last| last.units > at_most) {
                break;
            }
            let units = self.stats.living(self.fields, &term)?;
            if units == 0 {
                continue;
            }
            let variant = Variant {
                term,
                quality,
                units,
            };
            let order = |known: &Variant| {
                known.units > units || known.units == units && known.term < variant.term
            };
            let place = best.partition_point(order);
            best.insert(place, variant);
            best.truncate(limit);
        }
        Ok(best)
    }
}
