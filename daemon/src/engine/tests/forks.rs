//! The events that a fork shares, checked for every session at every moment of every history.

use std::ops::ControlFlow;

use proptest::prelude::*;

use super::history::{histories, live};
use super::session_actions::{lines_up_to, name};
use crate::engine::Fold;
use crate::entities;
use crate::events::Event;
use crate::events::trust::TrustEvent;
use crate::log::{Log, Position};
use crate::messages;
use crate::projections::Projections;
use crate::sessions::{self, Line, lineage};
use crate::steps;
use crate::store::{MemoryStore, Rows};

/// Lists everything that readers see along these lines, but for entities.
fn seen(rows: &dyn Rows, lines: &[Line]) -> Vec<String> {
    let mut seen = Vec::new();
    let go_on = ControlFlow::Continue(());
    messages::oldest(rows, lines, Position(0), &mut |row| {
        let by_id = messages::by_id(rows, lines, &row.id)?;
        seen.push(format!("{row:?} {by_id:?}"));
        Ok(go_on)
    })
    .unwrap();
    messages::newest(rows, lines, None, &mut |row| {
        seen.push(format!("{row:?}"));
        Ok(go_on)
    })
    .unwrap();
    messages::uses(rows, lines, None, &mut |one| {
        seen.push(format!("{one:?}"));
        Ok(go_on)
    })
    .unwrap();
    for id in 0..4 {
        let execution = messages::execution(rows, lines, &format!("t-{id}")).unwrap();
        seen.push(format!("{execution:?}"));
    }
    seen.push(format!("{:?}", messages::totals(rows, lines).unwrap()));
    for step in steps::list(rows, lines, 0, 1000).unwrap() {
        let answering = steps::answering(rows, lines, step.attempt.step).unwrap();
        seen.push(format!("{step:?} {answering:?}"));
    }
    let last = steps::last_before(rows, lines, u32::MAX).unwrap();
    seen.push(format!("{last:?}"));
    seen
}

/// Lists everything known of entities along these lines.
fn known(rows: &dyn Rows, lines: &[Line]) -> Vec<String> {
    let mut all = Vec::new();
    entities::walk(rows, lines, None, &mut |entity, row| {
        all.push((entity, row));
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut seen = Vec::new();
    for (entity, row) in &all {
        assert_eq!(
            entities::get(rows, lines, entity).unwrap().as_ref(),
            Some(row)
        );
        let mentions = entities::mentions_of(rows, lines, entity, usize::MAX).unwrap();
        assert_eq!(mentions.len() as u64, row.mentions, "{entity:?} {row:?}");
        let related = entities::related(rows, lines, entity, usize::MAX).unwrap();
        assert_eq!(
            related.len() as u64,
            row.relations,
            "{entity:?} {row:?} {related:?}"
        );
        seen.push(format!("{entity:?} {row:?} {mentions:?} {related:?}"));
    }
    let mut ranked = entities::ranked(rows, lines, usize::MAX, &|_, _| false).unwrap();
    ranked.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert_eq!(ranked, all);
    seen.push(format!("{:?}", entities::kinds(rows, lines).unwrap()));
    seen.push(format!("{:?}", entities::recent(rows, lines).unwrap()));
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A fork sees exactly the parent's state at the fork moment, however the parent continues. The test forks every
    /// session, forks included, at every moment and compares with the rows folded up to then. Only entities change: they are
    /// without what is undone.
    #[test]
    fn a_fork_sees_its_parent_as_it_was(history in histories()) {
        let (fixture, _) = live(&history);
        let mut then = MemoryStore::new();
        let mut moments = Vec::new();
        let mut undoings = Vec::new();
        let log = Log::new(&fixture.rows);
        log.walk(Position(1), &mut |event, record| {
                let meta = Event::of(&event)?;
                Projections.apply(&mut then, &log, &event, meta.as_ref(), record)?;
                moments.push((event.position(), then.clone()));
                if matches!(meta, Some(Event::Trust(TrustEvent::Undone(_) | TrustEvent::Redone(_)))) {
                    undoings.push((event.position(), event.header.session));
                }
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        for session in (0..8).map(name) {
            if !sessions::exists(&fixture.rows, &session).unwrap() {
                continue;
            }
            for (position, then) in &moments {
                if !sessions::exists(then, &session).unwrap() {
                    continue;
                }
                let mut lines = vec![Line {
                    session: "f-none".to_owned(),
                    up_to: Position(u64::MAX),
                }];
                lines.extend(lines_up_to(&fixture.rows, &session, *position));
                let of_parent = lineage(then, &session).unwrap();
                prop_assert_eq!(
                    seen(&fixture.rows, &lines),
                    seen(then, &of_parent),
                    "{} at {}", session, position
                );
                // What is undone leaves the entities that forks share, too.
                let is_undone_later = undoings.iter().any(|(at, of)| {
                    let mut shared = lines.iter().map(|line| line.session.as_str());
                    at > position && shared.any(|one| Some(one) == of.as_deref())
                });
                if !is_undone_later {
                    prop_assert_eq!(
                        known(&fixture.rows, &lines),
                        known(then, &of_parent),
                        "entities of {} at {}", session, position
                    );
                }
            }
        }
    }
}
