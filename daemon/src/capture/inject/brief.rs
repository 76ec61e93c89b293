//! A host's session starts: what the user wants kept, what the last sessions of the project were asked, did and left
//! open, and who else works here now.

use std::collections::BTreeSet;

use lored_moments::failures::command;
use lored_moments::{
    BriefInput, BriefSection, CUE_COUNTS, DurableKind, NoteEntry, SessionEntry, Speaker, Versions,
    asks_to_remember, brief, one_line, other_line,
};

use super::notes::NotePassage;
use super::sources::{ShownItems, message_item, step_item};
use super::{BYTES_MAX, Draft, Project, WorkStart, Writer};
use crate::capture::intents::is_at_work;
use crate::capture::memory::{CallEnd, KnownSentence, Trail, TrailEntry, TrailEvent};
use crate::clock::Micros;
use crate::events::packs::{Item, PackDependency};
use crate::locks::lock_unpoisoned;
use crate::sessions::SessionRow;

/// Standing rules that are listed.
const RULES_MAX: usize = 20;
/// Rules whose versions are compared for these: what was asked to be remembered, then the newest.
const RULES_COMPARED_MAX: usize = 500;
/// Files that are named as edited.
const FILES_MAX: usize = 6;
/// Commands that are named as done.
const COMMANDS_MAX: usize = 3;
/// Words from which on a prompt says by itself what is wanted.
const WORDS_MIN: usize = 4;
/// Bytes of a token, about: a text that is too long in bytes is written again with fewer tokens.
const TOKEN_BYTES: usize = 4;

/// A session as the brief describes it.
struct Described {
    agent: String,
    branch: String,
    day: String,
    age_days: f32,
    asked: Vec<String>,
    did: Vec<String>,
    left_open: Vec<String>,
    files: Vec<String>,
    sources: Vec<(String, Item)>,
}

/// Writes the brief; `None` if nothing is known. What the session itself did is left out, and after a resumption also
/// what was there before.
pub(super) fn write(
    writer: &Writer<'_>,
    project: &Project,
    work: &WorkStart,
    notes: &[NotePassage],
    (since, shown): (Micros, &ShownItems),
    budget: usize,
) -> Option<Draft> {
    let mut rules: Vec<(KnownSentence, String)> = Vec::new();
    let (mut sessions, mut others) = (Vec::new(), Vec::new());
    let parent = project.own_trail(|own| own.parent.clone()).flatten();
    for (row, trail) in &project.sessions {
        let trail = lock_unpoisoned(trail);
        // Its subagents report to it, and it hands its task to them.
        let is_its_subagent = trail.parent.as_ref() == Some(&project.own);
        if trail.session == project.own
            || is_its_subagent
            || parent.as_ref() == Some(&trail.session)
        {
            continue;
        }
        let kept = trail
            .known
            .iter()
            .filter(|one| !one.is_remembered && one.at > since && is_rule(one))
            .filter(|one| !shown.has_said(&trail.session, one));
        rules.extend(kept.map(|one| (one.clone(), trail.session.clone())));
        let described = (row.last_activity > since)
            .then(|| described(writer, row, &trail))
            .flatten();
        // A session is described once: what it was asked and did says more than that it is at work.
        if described.is_none() && is_at_work(writer.processes, &trail, writer.now) {
            let line = at_work(writer, row, &trail);
            others.extend(line.map(|line| (trail.session.clone(), line)));
        }
        sessions.extend(described);
    }
    let remembered = project.remembered.iter();
    let remembered =
        remembered.filter(|one| one.known.at > since && !shown.has_said(&one.session, &one.known));
    rules.extend(remembered.map(|one| (one.known.clone(), one.session.clone())));
    let is_remembered =
        |one: &KnownSentence| one.is_remembered || one.sentence.kind == DurableKind::Remember;
    rules.sort_by_key(|(one, _)| std::cmp::Reverse((is_remembered(one), one.at)));
    rules.truncate(RULES_COMPARED_MAX);
    let mut rules = current(rules);
    rules.sort_by_key(|one| std::cmp::Reverse((is_remembered(&one.known), one.known.at)));
    let mut said = BTreeSet::new();
    rules.retain(|one| said.insert(one.known.sentence.text.to_lowercase()));
    rules.truncate(RULES_MAX);
    compose(writer, (work, notes), &rules, &sessions, &others, budget)
}

fn compose(
    writer: &Writer<'_>,
    (work, notes): (&WorkStart, &[NotePassage]),
    rules: &[Rule],
    sessions: &[Described],
    others: &[(String, String)],
    budget: usize,
) -> Option<Draft> {
    let lines: Vec<String> = rules
        .iter()
        .map(|one| {
            let other = one.other.as_ref();
            let other = other.map(|(other, is_disputed)| (other, *is_disputed));
            super::items::line(writer, &one.known, None, other)
        })
        .collect();
    let refs = |all: &[String]| -> Vec<String> { all.to_vec() };
    let parts: Vec<[Vec<String>; 4]> = sessions
        .iter()
        .map(|one| [&one.asked, &one.did, &one.left_open, &one.files].map(|all| refs(all)))
        .collect();
    let parts: Vec<[Vec<&str>; 4]> = parts
        .iter()
        .map(|all| {
            all.each_ref()
                .map(|one| one.iter().map(String::as_str).collect())
        })
        .collect();
    let entries: Vec<SessionEntry<'_>> = sessions
        .iter()
        .zip(&parts)
        .map(|(one, [asked, did, left_open, files])| SessionEntry {
            agent: &one.agent,
            day: &one.day,
            age_days: one.age_days,
            branch: &one.branch,
            asked,
            did,
            left_open,
            files,
        })
        .collect();
    let said: Vec<NoteEntry<'_>> = notes
        .iter()
        .map(|one| NoteEntry {
            title: &one.title,
            text: &one.text,
        })
        .collect();
    let input = BriefInput {
        branch: &work.branch,
        topic: &work.topic,
        notes: &said,
        rules: &lines.iter().map(String::as_str).collect::<Vec<_>>(),
        sessions: &entries,
        others: &others
            .iter()
            .map(|(_, line)| line.as_str())
            .collect::<Vec<_>>(),
        ..BriefInput::default()
    };
    let mut budget = budget;
    let written = loop {
        let written = brief(&input, budget, &writer.count());
        let over = written.text.len().saturating_sub(BYTES_MAX);
        if over == 0 {
            break written;
        }
        budget = budget.checked_sub(over / TOKEN_BYTES + 1)?;
    };
    if written.text.is_empty() {
        return None;
    }
    let sources = |(section, at): &(BriefSection, usize)| -> Vec<PackDependency> {
        let of_session = |(session, item)| PackDependency {
            session: Some(session),
            item,
        };
        match section {
            BriefSection::Rules => {
                let rule = rules.get(*at).into_iter();
                let said = rule.map(|one| (one.session.clone(), message_item(&one.known.message)));
                said.map(of_session).collect()
            }
            BriefSection::Sessions => {
                let session = sessions.get(*at).into_iter();
                let sources = session.flat_map(|one| one.sources.clone());
                sources.map(of_session).collect()
            }
            BriefSection::Notes => {
                let file = notes.get(*at).map(|one| one.source.clone());
                let file = file.map(|item| PackDependency {
                    session: None,
                    item,
                });
                file.into_iter().collect()
            }
            BriefSection::Others => Vec::new(),
        }
    };
    let mut draft = Draft {
        text: written.text,
        sessions: others.iter().map(|(session, _)| session.clone()).collect(),
        ..Draft::default()
    };
    let of_rules = rules.iter().filter_map(|rule| rule.other_session.clone());
    draft.sessions.extend(of_rules);
    for (piece, range) in &written.ranges {
        for source in sources(piece) {
            draft.sessions.extend(source.session.clone());
            draft.sources.push((source, range.clone()));
        }
    }
    draft.left_out = written.left_out.iter().flat_map(sources).collect();
    Some(draft)
}

/// A standing rule, with another version of it, and whether the two are in dispute.
struct Rule {
    known: KnownSentence,
    session: String,
    other: Option<(KnownSentence, bool)>,
    /// The session of the other version.
    other_session: Option<String>,
}

/// Returns the rules that stand: without those that a later one replaced or repeats.
fn current(mut rules: Vec<(KnownSentence, String)>) -> Vec<Rule> {
    rules.sort_by_key(|(one, _)| one.position);
    let versions = versions_of(&rules.iter().map(|(one, _)| one).collect::<Vec<_>>());
    let other = |place: usize| {
        let disputed = versions.disputes(place).last().map(|other| (*other, true));
        let replaced = versions.replaced_by(place).last();
        let (other, is_disputed) = disputed.or(replaced.map(|other| (*other, false)))?;
        let (other, session) = rules.get(other)?;
        Some(((other.clone(), is_disputed), session.clone()))
    };
    let standing = rules.iter().enumerate();
    let standing = standing.filter(|(place, _)| versions.is_current(*place));
    standing
        .map(|(place, (known, session))| {
            let (other, other_session) = other(place).unzip();
            Rule {
                known: known.clone(),
                session: session.clone(),
                other,
                other_session,
            }
        })
        .collect()
}

/// Returns statements with their versions. They are in the order in which they were made.
pub(super) fn versions_of(statements: &[&KnownSentence]) -> Versions {
    let mut versions = Versions::default();
    for one in statements {
        let earlier = match one.replaces.is_empty() {
            true => 0,
            false => versions.len(),
        };
        let earlier = statements.iter().enumerate().take(earlier);
        let named = earlier.filter(|(_, other)| one.replaces.contains(&other.position.0));
        let named: Vec<usize> = named.map(|(place, _)| place).collect();
        versions.add(&one.sentence.text, one.speaker, &one.agent, &named);
    }
    for (place, one) in statements.iter().enumerate() {
        if one.is_accepted {
            versions.accept(place);
        }
    }
    versions
}

/// Whether a sentence is worth telling at each start: what the user decided, or asked to be remembered.
fn is_rule(one: &KnownSentence) -> bool {
    one.speaker == Speaker::User
        && one.sentence.cue >= CUE_COUNTS
        && one.sentence.kind != DurableKind::Finding
}

/// Describes a session by what it was asked, did, and left open.
fn described(writer: &Writer<'_>, row: &SessionRow, trail: &Trail) -> Option<Described> {
    let (message, _) = request(trail)?;
    let prompts = super::compaction::prompts(trail);
    let mut sources = vec![(trail.session.clone(), message_item(message))];
    let files = edited(writer, trail);
    let mut did = Vec::new();
    if !files.is_empty() {
        let named: Vec<&str> = files.iter().take(FILES_MAX).map(String::as_str).collect();
        did.push(format!("edited {}", named.join(", ")));
    }
    if let Some((message, answer)) = last_answer(trail) {
        did.push(format!("it ended with \"{}\"", one_line(answer)));
        sources.push((trail.session.clone(), message_item(message)));
    }
    let changes = super::compaction::calls(trail).filter(|call| {
        let line = call.command.as_deref().unwrap_or_default();
        !call.is_failure && command(line).effect() == lored_moments::failures::Effect::Changes
    });
    let mut changes: Vec<String> = changes
        .filter_map(|call| Some(format!("`{}`", one_line(call.command.as_deref()?))))
        .collect();
    changes.reverse();
    changes.truncate(COMMANDS_MAX);
    did.extend(changes);
    let mut left_open = Vec::new();
    if let Some(call) = open_failure(trail) {
        let line = call.command.as_deref().unwrap_or_default();
        left_open.push(format!("`{}` failed", one_line(line)));
        if call.step > 0 {
            sources.push((trail.session.clone(), step_item(call)));
        }
    }
    let (plan, _) = super::compaction::plan(trail);
    left_open.extend(
        plan.into_iter()
            .filter(|item| !is_done(&item.state))
            .map(|item| item.text),
    );
    // What was asked to be remembered is among the rules.
    if did.is_empty()
        && left_open.is_empty()
        && prompts.iter().all(|(_, text)| asks_to_remember(text))
    {
        return None;
    }
    let age = writer.now.saturating_sub(row.last_activity);
    Some(Described {
        agent: match is_at_work(writer.processes, trail, writer.now) {
            true => format!("{}, at work now", agent(trail)),
            false => agent(trail),
        },
        branch: trail.branch.clone().unwrap_or_default(),
        day: writer.day(row.last_activity),
        age_days: age as f32 / 86_400_000_000.0,
        asked: prompts.iter().map(|(_, text)| one_line(text)).collect(),
        did,
        left_open,
        files,
        sources,
    })
}

/// Says what another agent is working on; `None` if that is not known.
fn at_work(writer: &Writer<'_>, row: &SessionRow, trail: &Trail) -> Option<String> {
    let files = edited(writer, trail);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let task = request(trail).map(|(_, text)| text);
    let task = task
        .filter(|task| !asks_to_remember(task))
        .unwrap_or_default();
    let since = writer.ago(row.last_activity);
    let is_known = !files.is_empty() || !task.is_empty();
    is_known.then(|| other_line(&agent(trail), &since, &files, task))
}

/// Returns the last prompt that says by itself what is wanted: message ID and text.
pub(super) fn request(trail: &Trail) -> Option<(&str, &str)> {
    let prompts = super::compaction::prompts(trail);
    let is_full = |(_, text): &&(&str, &str)| text.split_whitespace().count() >= WORDS_MIN;
    prompts
        .iter()
        .rev()
        .find(is_full)
        .or(prompts.last())
        .copied()
}

/// Returns the last answer: message ID and text.
pub(super) fn last_answer(trail: &Trail) -> Option<(&str, &str)> {
    trail
        .happened
        .iter()
        .rev()
        .find_map(|one| match &one.event {
            TrailEvent::Answer { message, text } => Some((message.as_str(), text.as_str())),
            _ => None,
        })
}

/// Returns the agent of a session.
pub(super) fn agent(trail: &Trail) -> String {
    let named = trail.happened.iter().rev().map(|one| one.agent.as_str());
    let mut named = named.filter(|agent| !agent.is_empty());
    named.next().unwrap_or("an agent").to_owned()
}

/// Returns the files that a session changed, the last changed first.
fn edited(writer: &Writer<'_>, trail: &Trail) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let calls: Vec<&CallEnd> = super::compaction::calls(trail).collect();
    for call in calls.into_iter().rev().filter(|call| !call.is_failure) {
        for path in &call.edits {
            let path = writer.shown_path(path).to_owned();
            if !files.contains(&path) {
                files.push(path);
            }
        }
    }
    files
}

/// Returns the last command that failed and did not succeed since.
fn open_failure(trail: &Trail) -> Option<&CallEnd> {
    let calls: Vec<&CallEnd> = super::compaction::calls(trail).collect();
    let mut succeeded = Vec::new();
    for call in calls.into_iter().rev().filter(|call| !call.is_interrupted) {
        let Some(line) = &call.command else {
            continue;
        };
        let run = command(line);
        if !call.is_failure {
            succeeded.push(run);
        } else if !succeeded
            .iter()
            .any(|later| later.is_same_program(&run) && later.covers(&run))
        {
            return Some(call);
        }
    }
    None
}

fn is_done(state: &str) -> bool {
    matches!(
        state,
        "completed" | "done" | "cancelled" | "canceled" | "deleted"
    )
}

/// Returns the time up to which a session that starts again knows what others did: that of its last event before the
/// start. A new session knows nothing. The start of some hosts is a prompt.
pub(super) fn known_until(own: &Trail) -> Micros {
    let is_start = |one: &&TrailEntry| {
        matches!(
            one.event,
            TrailEvent::Started | TrailEvent::Shown(_) | TrailEvent::Prompt { .. }
        )
    };
    let mut before = own.happened.iter().rev().skip_while(is_start);
    before.next().map_or(0, |one| one.at)
}
