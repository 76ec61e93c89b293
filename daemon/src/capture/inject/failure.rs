//! A command failed: what mended the same failure earlier, in any session of the project, or the name that it misses, as another
//! command printed it.

use lored_moments::failures::{KnownFailure, match_failure};
use lored_moments::{Heading, Provenance, compose_lines, repair_line};

use super::sources::ShownItems;
use super::{Draft, Project, Writer};
use crate::capture::memory::FailedCommand;
use crate::events::packs::Item;
use crate::locks::lock_unpoisoned;

/// Writes what helped after the same failure, else the name that the command misses as another command printed it; `None` if
/// neither is known or sure enough.
pub(super) fn write(
    writer: &Writer<'_>,
    project: &Project,
    (line, output): (&str, &str),
    shown: &ShownItems,
    budget: usize,
) -> Option<Draft> {
    let (line, source) = repair(writer, project, line, output)
        .or_else(|| printed_name(writer, project, (line, output), shown))?;
    let composed = compose_lines(Heading::Failure, &[line], &[], budget, &writer.count());
    let range = composed.ranges.into_iter().next()?;
    let mut draft = Draft {
        text: composed.text,
        ..Draft::default()
    };
    draft.rests_on(source, range);
    Some(draft)
}

/// Returns the line that has the name which a command misses, nearly.
fn printed_name(
    writer: &Writer<'_>,
    project: &Project,
    failure: (&str, &str),
    shown: &ShownItems,
) -> Option<(String, (String, Item))> {
    let mut knowledge = lock_unpoisoned(&project.knowledge);
    knowledge.catch_up(project, None);
    knowledge.printed.quote_for_failure(writer, failure, shown)
}

/// Returns the line of what helped.
fn repair(
    writer: &Writer<'_>,
    project: &Project,
    line: &str,
    output: &str,
) -> Option<(String, (String, Item))> {
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
    let step = Item::Step {
        step: source.step.0,
        attempt: source.step.1,
    };
    Some((repair_line(&found, &provenance), (session.clone(), step)))
}
