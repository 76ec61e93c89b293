//! Selection of the most relevant entities of a session by pack score.

use super::relevance::{RankInputs, pack_score, rank};
use super::view::{EntityRow, get, ranked, roots};
use crate::clock::Micros;
use crate::events::entities::EntityRef;
use crate::sessions::Line;
use crate::store::{Error, Rows};

/// Entity with its pack score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredEntity {
    /// The scored entity.
    pub entity: EntityRef,
    /// Row of the entity.
    pub row: EntityRow,
    /// Pack score of the entity.
    pub score: f64,
}

/// Returns the `most` entities with the greatest pack scores, the greatest first. `named` lists the entities
/// that the current message names. Few rows are read: of entities with equal mentions, only the last mentioned
/// ones can be among the greatest.
pub fn most_relevant(
    rows: &dyn Rows,
    lines: &[Line],
    named: &[EntityRef],
    most: usize,
    now: Micros,
) -> Result<Vec<ScoredEntity>, Error> {
    let named = &*roots(rows, lines, named)?;
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

/// Returns whether an entity scores more than every unnamed entity with fewer than `fewer_than` mentions.
#[must_use]
pub fn surpasses(row: &EntityRow, fewer_than: u64, now: Micros) -> bool {
    let others = pack_score(fewer_than.saturating_sub(1), now, false, now);
    pack_score(row.mentions, row.last_at, false, now) > others
}

/// Sorts by descending score; of equal scores the last mentioned comes first.
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
        /// An entity with fewer mentions, however recent, never scores as much as one that surpasses it.
        #[test]
        fn what_surpasses_scores_more(mentions in 1..40_u64, fewer_than in 1..40_u64, hours in 0..9_u64) {
            let row = EntityRow {
                name: String::new(),
                id: None,
                slug: None,
                aliases: Vec::new(),
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
            // At equal recency, an entity with as many mentions surpasses all with fewer.
            prop_assert!(hours > 1 || mentions < fewer_than || surpasses(&row, fewer_than, NOW));
        }
    }
}
