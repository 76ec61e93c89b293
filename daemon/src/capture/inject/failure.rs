//! A command failed: what mended the same failure earlier, in any session of the project.

use lored_moments::failures::{KnownFailure, match_failure};
use lored_moments::{Heading, Provenance, compose_lines, repair_line};

use super::{Draft, Project, Writer};
use crate::capture::memory::FailedCommand;
use crate::events::packs::Item;
use crate::locks::lock_unpoisoned;

/// Writes what helped; `None` if that is not known or not sure enough.
pub(super) fn write(
    writer: &Writer<'_>,
    project: &Project,
    line: &str,
    output: &str,
    budget: usize,
) -> Option<Draft> {
    let mut known: Vec<(String, FailedCommand)> = Vec::new();
    for trail in project.trails() {
        let mut trail = lock_unpoisoned(trail);
        let failures = trail.failures();
        let session = &trail.session;
        known.extend(failures.iter().map(|one| (session.clone(), one.clone())));
    }
    known.sort_by_key(|(_, one)| one.position);
    // The failure itself is the newest one, and was not mended.
    let failures: Vec<KnownFailure> = known.iter().map(|(_, one)| one.failure.clone()).collect();
    let found = match_failure(line, output, &failures)?;
    let (session, source) = known.get(found.known)?;
    let place = format!("step {}", source.step.0);
    let provenance = Provenance {
        agent: &source.agent,
        day: &writer.day(source.at),
        place: &place,
    };
    let line = repair_line(&found, &provenance);
    let text = compose_lines(Heading::Failure, &[line], &[], budget, &writer.count()).text;
    if text.is_empty() {
        return None;
    }
    Some(Draft {
        text,
        sources: vec![(
            session.clone(),
            Item::Step {
                step: source.step.0,
                attempt: source.step.1,
            },
        )],
        notes: Vec::new(),
    })
}
