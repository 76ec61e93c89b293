//! The most relevant entities of a session, by the rule of context packs.

use super::relevance::{RankInputs, pack_score, rank};
use super::view::{EntityRow, get, ranked};
use crate::clock::Micros;
use crate::events::entities::EntityRef;
use crate::sessions::Line;
use crate::store::{Error, Rows};

/// An entity with what it scores.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredEntity {
    /// Which.
    pub entity: EntityRef,
    /// What is known of it.
    pub row: EntityRow,
    /// Its pack score.
    pub score: f64,
}

/// The `most` entities of the greatest pack score, the greatest first; `named` are those that the
/// current message names. Few rows are read, however many entities there are: of those with equal
/// mentions only the last mentioned can be among the greatest.
pub fn most_relevant(
    rows: &dyn Rows,
    lines: &[Line],
    named: &[EntityRef],
    most: usize,
    now: Micros,
) -> Result<Vec<ScoredEntity>, Error> {
    let is_enough = |found: &[(EntityRef, EntityRow)], fewer_than: u64| {
        let surpass = found
            .iter()
            .filter(|(_, row)| surpasses(row, fewer_than, now));
        surpass.count() >= most
    };
    let mut found = ranked(rows, lines, most, &is_enough)?;
    for entity in named {
        if !found.iter().any(|(known, _)| known == entity)
            && let Some(row) = get(rows, lines, entity)?
        {
            found.push((entity.clone(), row));
        }
    }
    let mut scored: Vec<ScoredEntity> = found
        .into_iter()
        .map(|(entity, row)| ScoredEntity {
            score: pack_score(row.mentions, row.last_at, named.contains(&entity), now),
            entity,
            row,
        })
        .collect();
    sort(&mut scored);
    scored.truncate(most);
    Ok(scored)
}

/// Whether an entity scores more than any can that has fewer mentions than so many and is not named.
#[must_use]
pub fn surpasses(row: &EntityRow, fewer_than: u64, now: Micros) -> bool {
    let others = pack_score(fewer_than.saturating_sub(1), now, false, now);
    pack_score(row.mentions, row.last_at, false, now) > others
}

/// Puts the greatest score first; of equal ones the last mentioned.
pub fn sort(scored: &mut [ScoredEntity]) {
    fn of(one: &ScoredEntity) -> RankInputs<'_> {
        RankInputs {
            score: one.score,
            last_mentioned: one.row.last_at,
            entity: (&one.entity.kind, &one.entity.key),
        }
    }
    scored.sort_by(|a, b| rank(&of(a), &of(b)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: Micros = 3600 * 1_000_000;
    const NOW: Micros = 100 * HOUR;

    proptest! {
        /// Nothing that has fewer mentions, however lately, scores as much as what surpasses it.
        #[test]
        fn what_surpasses_scores_more(mentions in 1..40_u64, fewer_than in 1..40_u64, hours in 0..9_u64) {
            let row = EntityRow {
                name: String::new(),
                id: None,
                slug: None,
                mentions,
                first: 1,
                first_at: 0,
                last: 1,
                last_at: NOW - hours * HOUR,
                relations: 0,
                parent: None,
                data: None,
                shared: None,
            };
            if surpasses(&row, fewer_than, NOW) {
                for mentions in 1..fewer_than {
                    let other = pack_score(mentions, NOW, false, NOW);
                    prop_assert!(pack_score(row.mentions, row.last_at, false, NOW) > other);
                }
            }
            // Of the same nearness, whoever has as many mentions surpasses all who have fewer.
            prop_assert!(hours > 1 || mentions < fewer_than || surpasses(&row, fewer_than, NOW));
        }
    }
}
