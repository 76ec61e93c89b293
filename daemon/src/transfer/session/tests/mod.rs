//! Export, import and a second export give the same lines, and sessions look the same, for any
//! history.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod log_transfer;
mod page;
mod refusals;
mod story;
mod uploads;

use crate::engine::tests::history::ViewRows;
use std::ops::ControlFlow;

use proptest::prelude::*;
use tempfile::TempDir;

use super::{
    Export, ExportSource, ImportContext, ImportSession, PreparedEvents, RenamedCheckpoints,
    markdown, read,
};
use crate::cache::Cache;
use crate::checkpoints::decided::{
    DeleteCheckpoints, Report, critical_keys, empty_body, place_of, walk,
};
use crate::checkpoints::{self, DeletionCause, Limits, RetainedObjects};
use crate::engine::tests::{Fixture as EngineFixture, TestCall, folded_anew};
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::log::{Log, Position};
use crate::sessions::{self, CreateSession, Parent, SessionCreated, lineage};
use crate::store::{Blobs, Direction, Error, RowsMut};
use crate::tokens::Tokens;
use crate::{entities, messages, steps};
use story::{StoryStep, StoryTeller, happens, stories};

/// An in-memory store with blobs on disk.
struct Fixture {
    fixture: EngineFixture,
    blobs: Blobs,
    cache: Cache,
    tokens: Tokens,
    _folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            fixture: EngineFixture::new(),
            blobs: Blobs::open(&folder.path().join("blobs")).unwrap(),
            cache: Cache::new(1 << 20),
            tokens: Tokens::default(),
            _folder: folder,
        }
    }

    fn prepare(&self, text: &str) -> PreparedEvents {
        let imported = read(text).unwrap_or_else(|refusal| panic!("{refusal:?}\n{text}"));
        let import_context = ImportContext {
            blobs: &self.blobs,
            clock: &self.fixture.clock,
            tokens: &self.tokens,
            limits: &Limits::default(),
        };
        import_context.prepare(imported, &[]).unwrap()
    }

    /// Imports a text, as this session or under its own id.
    fn import(&mut self, text: &str, session: Option<&str>) -> Result<Vec<String>, Refusal> {
        let header = read(text)?.header;
        let renamed = RenamedCheckpoints::default();
        let command = ImportSession {
            session: session.map_or(header.session, str::to_owned),
            project: header.project,
            ready: self.prepare(text),
            renamed: std::sync::Arc::clone(&renamed),
            seen: None,
            keeping: RetainedObjects::default(),
        };
        self.fixture.one(TestCall::new(command).by("importer"))?;
        let renamed = renamed.lock().unwrap();
        Ok(renamed.iter().map(|(was, _)| was.to_string()).collect())
    }

    /// Records the events of a text in a session, with the current time.
    fn live(&mut self, session: &str, project: Option<&str>, text: &str, is_new: bool) {
        let live = LiveRecorder {
            session: session.to_owned(),
            project: project.map(str::to_owned),
            ready: self.prepare(text),
            is_new,
            keeping: RetainedObjects::default(),
        };
        // A text with only a creation adds nothing to an existing session.
        let _ = self.fixture.one(TestCall::new(live).by("claude"));
    }

    fn fork(&mut self, parent: &str, at: Position, session: &str) {
        let body = SessionCreated {
            title: Some("a fork".to_owned()),
            ..SessionCreated::default()
        };
        let create = CreateSession {
            session: session.to_owned(),
            project: None,
            user: None,
            parent: Some(Parent {
                session: parent.to_owned(),
                position: at.0,
                last_step: 0,
            }),
            host: None,
            body: body.prepare([1; 16]),
        };
        self.fixture
            .one(TestCall::new(create).by("forker"))
            .unwrap();
    }

    /// Deletes a checkpoint as the operation does: its critical keys move to the newest remaining one.
    fn delete(&mut self, session: &str, exporter: &StoryTeller, which: usize) {
        let Some((checkpoint, _)) = exporter.saved.get(which) else {
            return;
        };
        let rows = &self.fixture.rows;
        let Some((_, position)) = place_of(rows, checkpoint).unwrap() else {
            return;
        };
        let left = exporter
            .saved
            .iter()
            .rev()
            .filter(|(id, _)| id != checkpoint);
        let newest = |key: &str| {
            let mut holding = left
                .clone()
                .filter(|(_, context)| context.get(key).is_some());
            let place = holding.find_map(|(id, _)| place_of(rows, id).unwrap());
            place.map_or(0, |(_, position)| position.0)
        };
        let held = critical_keys(rows, session).unwrap().into_iter();
        let held = held.filter(|(_, holder)| *holder == position);
        let holders = held.map(|(key, _)| (key.clone(), newest(&key))).collect();
        let delete = DeleteCheckpoints {
            session: session.to_owned(),
            checkpoints: vec![*checkpoint],
            cause: DeletionCause::Asked,
            holders,
            body: Some(empty_body([2; 16])),
            report: Report::default(),
            let_go: Vec::new(),
        };
        self.fixture.one(TestCall::new(delete)).unwrap();
    }

    fn export(&self, session: &str, bytes_max: usize) -> String {
        self.pages(session, |export, from| export.page(from, bytes_max))
    }

    fn document(&self, session: &str, bytes_max: usize) -> String {
        self.pages(session, |export, from| markdown(export, from, bytes_max))
    }

    fn pages(
        &self,
        session: &str,
        page: impl Fn(&Export<'_>, Option<super::PageCursor>) -> Result<super::write::Page, Refusal>,
    ) -> String {
        let lines = lineage(&self.fixture.rows, session).unwrap();
        let export = Export {
            shelf: ExportSource {
                rows: &self.fixture.rows,
                blobs: &self.blobs,
                cache: &self.cache,
            },
            session,
            lines: &lines,
            up_to: self.fixture.tail.position,
        };
        let (mut text, mut from) = (String::new(), None);
        loop {
            let next = page(&export, from).unwrap();
            assert_eq!(next.warnings, [""; 0]);
            text += &next.content;
            match next.next {
                Some(place) => from = Some(place),
                None => return text,
            }
        }
    }

    /// Renders a session without positions.
    fn lines(&self, session: &str) -> Vec<String> {
        let rows = &self.fixture.rows;
        let lines = lineage(rows, session).unwrap();
        let row = sessions::get(rows, session).unwrap().unwrap();
        let mut details = sessions::details(rows, session).unwrap();
        details.parent = None;
        // These fields are positions.
        (details.preferred, details.topic_at) = (0, 0);
        let totals = messages::totals(rows, &lines).unwrap();
        let mut shown = vec![
            format!("{details:?} {totals:?}"),
            format!("{} {} {:?}", row.created_at, row.closed > 0, row.project),
            format!("{:?}", entities::kinds(rows, &lines).unwrap()),
            format!("{:?}", entities::recent(rows, &lines).unwrap()),
        ];
        messages::oldest(rows, &lines, Position(0), &mut |row| {
            shown.push(format!(
                "{} {:?} {:?} {} {}",
                row.id, row.sender, row.kind, row.has_tools, row.has_entities
            ));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        let log = Log::new(rows);
        for mut one in messages::executions(rows, &log, &lines, None, 1000).unwrap() {
            one.position = Position(0);
            shown.push(format!("{one:?}"));
        }
        for step in (1..6).chain([1_000_000]) {
            if let Some(found) = steps::answering(rows, &lines, step).unwrap() {
                let attempt = found.attempt;
                shown.push(format!("{step} {} {:?}", found.attempts, attempt.attempt));
            }
        }
        entities::walk(rows, &lines, None, &mut |entity, row| {
            let data = row.data.map(|data| (data.expires, data.resolver));
            shown.push(format!(
                "{entity:?} {} {:?} {:?} {} {} {} {} {:?} {data:?}",
                row.name,
                row.id,
                row.slug,
                row.mentions,
                row.first_at,
                row.last_at,
                row.relations,
                row.parent
            ));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        shown.sort();
        shown
    }

    /// Renders the checkpoints of a session and the holders of its critical keys.
    fn checkpoints(&self, session: &str) -> Vec<String> {
        let rows = &self.fixture.rows;
        let mut shown = Vec::new();
        let mut at = std::collections::HashMap::new();
        walk(rows, session, None, Direction::Forward, &mut |row| {
            at.insert(row.position, row.checkpoint);
            shown.push(format!("{} {} {}", row.checkpoint, row.hash, row.is_kept));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        for (key, holder) in critical_keys(rows, session).unwrap() {
            shown.push(format!("{key} {:?}", at.get(&holder)));
        }
        shown
    }

    /// Checks that a refold gives the same rows and that needed objects are retained.
    fn check(&self) {
        self.fixture.events();
        assert_eq!(
            folded_anew(&self.fixture).rows_of_views(),
            self.fixture.rows.rows_of_views()
        );
        checkpoints::check_objects(&self.fixture.rows, &self.blobs, &mut |fault| {
            panic!("{}", fault.what);
        })
        .unwrap();
    }
}

/// Command that records events with the current time.
struct LiveRecorder {
    session: String,
    project: Option<String>,
    ready: PreparedEvents,
    is_new: bool,
    keeping: RetainedObjects,
}

impl Command for LiveRecorder {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let ready = std::mem::take(&mut self.ready);
        let renamed = RenamedCheckpoints::default();
        let (events, keeping) =
            ready.decide(on, &self.session, self.project.as_deref(), &renamed)?;
        self.keeping = keeping;
        let skipped = usize::from(!self.is_new);
        let live = |event| NewEvent {
            origin: None,
            ..event
        };
        let events: Vec<NewEvent> = events.into_iter().skip(skipped).map(live).collect();
        match events.is_empty() {
            true => Err(Refusal::new(Code::Internal, "nothing happens")),
            false => Ok(events),
        }
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        self.keeping.keep(rows)
    }
}

/// Replaces the session's id in an export.
fn renamed(text: &str, from: &str, to: &str) -> String {
    let of = |session: &str| format!("\"session\":\"{session}\"");
    text.replacen(&of(from), &of(to), 1)
}

fn without_checkpoints(story: &[StoryStep]) -> Vec<StoryStep> {
    let is_other = |happens: &&StoryStep| {
        !matches!(happens, StoryStep::Saved { .. } | StoryStep::Marked { .. })
    };
    story.iter().filter(is_other).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Lines of any program survive a round trip at any page size, with times and authors. The same holds under another
    /// id in the same store, where checkpoints get new ids.
    #[test]
    fn lines_come_back(story in stories(), bytes_max in prop_oneof![1..400_usize, Just(1 << 20)]) {
        let exporter = StoryTeller::from_steps('a', &story);
        let text = exporter.text("s-1", Some("p-1"));
        let mut place = Fixture::new();
        prop_assert_eq!(place.import(&text, None).unwrap(), [""; 0]);
        prop_assert_eq!(&place.export("s-1", bytes_max), &text);

        let taken = place.import(&text, None).unwrap_err();
        prop_assert_eq!(taken.code, Code::Conflict);
        prop_assert!(taken.hint.unwrap().plain().contains("another id as `session`"));

        let fresh = place.import(&text, Some("s-2")).unwrap();
        prop_assert_eq!(fresh.len(), exporter.saved.len());
        let again = place.export("s-2", bytes_max);
        let no_ids = |text: &str| {
            let mut text = renamed(text, "s-2", "s-1");
            for line in text.clone().lines() {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                for name in ["checkpoint", "forked_from"] {
                    if let Some(id) = line["payload"][name].as_str() {
                        text = text.replace(id, "id");
                    }
                }
            }
            text
        };
        prop_assert_eq!(no_ids(&again), no_ids(&text));
        prop_assert_eq!(place.lines("s-2"), place.lines("s-1"));
        place.check();
    }

    /// For any history, deletions included, the export creates an equal session elsewhere, with the same
    /// export.
    #[test]
    fn a_session_lives_on_elsewhere(
        story in stories(),
        deletions in proptest::collection::vec(0..8_usize, 0..4),
    ) {
        let mut here = Fixture::new();
        let exporter = StoryTeller::from_steps('a', &story);
        here.live("s-1", Some("p-1"), &exporter.text("s-1", None), true);
        for which in deletions {
            here.delete("s-1", &exporter, which);
        }
        let text = here.export("s-1", 1000);
        let mut there = Fixture::new();
        there.import(&text, None).unwrap();
        prop_assert_eq!(there.export("s-1", 300), text);
        prop_assert_eq!(there.lines("s-1"), here.lines("s-1"));
        prop_assert_eq!(there.checkpoints("s-1"), here.checkpoints("s-1"));
        there.check();
    }

    /// A fork of a fork is exported with exactly the past that it shares, however its ancestors continued.
    #[test]
    fn a_fork_is_exported_whole(
        first in stories(),
        later in stories(),
        own in stories(),
        at in any::<prop::sample::Index>(),
    ) {
        let mut here = Fixture::new();
        let exporter = StoryTeller::from_steps('a', &first);
        here.live("s-1", None, &exporter.text("s-1", None), true);
        here.fork("s-1", Position(at.index(here.fixture.tail.position.0 as usize) as u64 + 1), "s-2");
        let own = StoryTeller::from_steps('b', &without_checkpoints(&own)).text("s-2", None);
        // Later events of its ancestors are not part of its past.
        let later = StoryTeller::from_steps('c', &without_checkpoints(&later)).text("s-1", None);
        here.live("s-1", None, &later, false);
        let forked = here.fixture.tail.position;
        here.fork("s-2", forked, "s-3");
        let text = here.export("s-3", 500);
        here.live("s-2", None, &own, false);
        let grown = here.export("s-2", 500);
        prop_assert!(!grown.contains("m-c"));
        prop_assert_eq!(here.export("s-3", 1 << 20), text.clone());
        for (session, text) in [("s-2", grown), ("s-3", text)] {
            let mut there = Fixture::new();
            there.import(&text, None).unwrap();
            prop_assert_eq!(there.export(session, 1 << 20), text);
        }
    }

    /// A document is the same at any page size.
    #[test]
    fn documents_are_whole(story in stories(), bytes_max in 1..2000_usize) {
        let mut place = Fixture::new();
        place.import(&StoryTeller::from_steps('a', &story).text("s-1", Some("p-1")), None).unwrap();
        let text = place.document("s-1", bytes_max);
        prop_assert_eq!(&place.document("s-1", usize::MAX), &text);
        prop_assert!(text.starts_with("# Größe \\| \\`x\\`\n") || text.starts_with("# "));
        let is_hidden = |c: char| c != '\n' && c != '\t' && crate::sanitize::is_hidden(c);
        prop_assert!(!text.contains(is_hidden));
    }

    /// Any change of a text is refused or accepted, without a panic.
    #[test]
    fn changed_texts_never_panic(
        story in proptest::collection::vec(happens(), 0..6),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..6),
    ) {
        let text = StoryTeller::from_steps('a', &story).text("s-1", None);
        let mut changed: Vec<char> = text.chars().collect();
        for (at, to) in changes {
            let at = at.index(changed.len());
            changed[at] = to;
        }
        let _ = read(&changed.into_iter().collect::<String>());
    }
}
