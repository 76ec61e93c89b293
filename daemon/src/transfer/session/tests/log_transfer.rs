//! Export, import and a second export of a whole store give the same lines.

use serde_json::{Value, json};

use super::super::ExportSource;
use super::{Fixture, StoryTeller, stories};
use crate::engine::tests::TestCall;
use crate::error::{Code, Refusal};
use crate::transfer::log_transfer::{
    Export, ImportProjects, PageStart as At, Report, Scope, prepare, read, schema,
};
use proptest::prelude::*;

const PROJECTS: [&str; 2] = ["web-1a2b3c4d", "desk-0f"];
const TYPES: [&str; 2] = ["mental_model", "bugs"];
const CHANGES: [&str; 5] = ["updated", "appended", "edited", "merged", "cleared"];

/// A version: index of project, file and kind of change, content length, number of forgotten versions before it.
type Version = (usize, usize, usize, usize, u64);

fn versions() -> impl Strategy<Value = Vec<Version>> {
    let length = prop_oneof![0..200_usize, Just(70_000)];
    let gap = prop_oneof![3 => Just(0), 1 => 1..4_u64];
    proptest::collection::vec((0..2_usize, 0..2_usize, 0..5_usize, length, gap), 0..12)
}

/// Builds the lines of an export.
fn whole(versions: &[Version], sessions: &[String]) -> String {
    let mut lines = vec![json!({"format": "lore-export", "version": 1})];
    let at = |n: usize| format!("2026-01-31T12:00:00.{n:06}Z");
    for (n, project) in PROJECTS.iter().enumerate() {
        let payload = json!({"project": project, "name": format!("{project} ä"), "path": format!("/home/ada/{project}")});
        lines.push(json!({"at": at(n), "agent": "claude", "kind": "Project", "payload": payload}));
    }
    let mut counts = [[0_u64; 2]; 2];
    for (n, (project, file, change, length, gap)) in versions.iter().enumerate() {
        counts[*project][*file] += 1 + gap;
        let version = counts[*project][*file];
        let mut payload = json!({"project": PROJECTS[*project], "file_type": TYPES[*file], "version": version, "change": CHANGES[*change]});
        if CHANGES[*change] != "cleared" {
            payload["content"] = json!(format!("# {n}\n{}", "ö|\n".repeat(*length / 4)));
            payload["reason"] = json!("because");
        }
        if n % 3 == 0 {
            payload["flaws"] = json!([1, 2]);
            payload["attempt"] = json!(3);
        }
        lines.push(json!({"at": at(n + 5), "kind": "ContextVersion", "payload": payload}));
    }
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    text.extend(sessions.iter().map(String::as_str));
    let count = text.lines().count();
    text + &format!("{{\"end\":{{\"lines\":{count}}}}}\n")
}

impl Fixture {
    pub(super) fn import_whole(&mut self, text: &str) -> Result<(u64, u64, u64), Refusal> {
        let part = read(text, 1)?;
        let clock = &self.fixture.clock;
        let ready = prepare(part.outside, &self.blobs, || clock.random()).unwrap();
        let report = Report::default();
        let command = ImportProjects::new(ready, std::sync::Arc::clone(&report));
        let decided = self.fixture.one(TestCall::new(command).by("importer"));
        let count = *report.lock().unwrap();
        if count.lines == 0 || count.events > 0 {
            decided?;
        }
        for session in &part.sessions {
            self.import(&session.text, None)?;
        }
        Ok((count.projects, count.versions, count.there))
    }

    pub(super) fn export_whole(&self, scope: &Scope, bytes_max: usize) -> String {
        self.pages_of_whole(scope, bytes_max).concat()
    }

    fn pages_of_whole(&self, scope: &Scope, bytes_max: usize) -> Vec<String> {
        let export = Export {
            shelf: ExportSource {
                rows: &self.fixture.rows,
                blobs: &self.blobs,
                cache: &self.cache,
            },
            scope: scope.clone(),
            up_to: self.fixture.tail.position,
        };
        let (mut pages, mut from) = (Vec::new(), At::default());
        loop {
            let page = export.page(from, bytes_max).unwrap();
            pages.push(page.content);
            match page.next {
                Some(place) => from = At::of_key(&place.key()).unwrap(),
                None => return pages,
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// For any history, the export creates an equal store elsewhere, with the same export at any page size.
    /// Existing data is not recorded twice.
    #[test]
    fn everything_lives_on_elsewhere(
        versions in versions(),
        reported in proptest::collection::vec(stories(), 0..4),
        bytes_max in prop_oneof![1..900_usize, Just(1 << 20)],
    ) {
        let sessions: Vec<String> = reported
            .iter()
            .enumerate()
            .map(|(n, story)| {
                // Checkpoint ids count up from the letter, so these are far apart.
                let letter = ['0', 'I', 'b'][n];
                let project = PROJECTS.get(n).copied();
                StoryTeller::from_steps(letter, story).text(&format!("s-{n}"), project)
            })
            .collect();
        let text = whole(&versions, &sessions);
        let mut here = Fixture::new();
        let count = here.import_whole(&text).unwrap();
        prop_assert_eq!(count, (2, versions.len() as u64, 0));
        prop_assert_eq!(&here.export_whole(&Scope::default(), bytes_max), &text);
        let outside = whole(&versions, &[]);
        let again = here.import_whole(&outside).unwrap();
        prop_assert_eq!(again, (0, 0, 2 + versions.len() as u64));
        let project = Some(PROJECTS[0].to_owned());
        let alone = here.export_whole(&Scope { project, session: None }, bytes_max);
        prop_assert!(!alone.contains(PROJECTS[1]));
        let first = sessions.first().map_or("", String::as_str);
        prop_assert!(alone.contains(first));
        let mut there = Fixture::new();
        there.import_whole(&alone).unwrap();
        prop_assert_eq!(there.export_whole(&Scope::default(), bytes_max), alone);
        here.check();
    }

    /// Any change of a text is refused with its line or accepted, without a panic.
    #[test]
    fn changed_texts_never_panic(
        versions in versions(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..4),
    ) {
        let mut changed: Vec<char> = whole(&versions, &[]).chars().collect();
        for (at, to) in changes {
            let at = at.index(changed.len());
            changed[at] = to;
        }
        if let Err(refusal) = read(&changed.into_iter().collect::<String>(), 1) {
            prop_assert!(refusal.message.starts_with("line "), "{}", refusal.message);
        }
    }
}

/// A page ends by content size: contents stored outside the log count in full. A content larger than a page is sent
/// alone.
#[test]
fn pages_end_by_what_they_hold() {
    let text = whole(&[(0, 0, 0, 70_000, 0); 100], &[]);
    let longest = text.lines().map(str::len).max().unwrap() + 1;
    let mut here = Fixture::new();
    here.import_whole(&text).unwrap();
    for bytes_max in [1, longest - 1, 3 * longest] {
        let pages = here.pages_of_whole(&Scope::default(), bytes_max);
        assert_eq!(pages.concat(), text);
        for page in &pages {
            let all_but_last = page.trim_end().rfind('\n').map_or(0, |end| end + 1);
            assert!(all_but_last < bytes_max.max(longest), "{}", page.len());
        }
    }
}

/// Asserts the error of a valid export with one replacement; each case is the old text, the new text and the error.
pub(super) fn assert_each_is_named(good: &str, cases: &[(&str, &str, &str)]) {
    for (from, to, message) in cases {
        let broken = good.replacen(from, to, 1);
        assert_ne!(broken, good, "{from}");
        let refusal = read(&broken, 1).unwrap_err();
        assert!(refusal.message.contains(message), "{}", refusal.message);
    }
}

/// Each invalid line is named with its error and the expected form; nothing is recorded.
#[test]
fn broken_lines_are_named() {
    let good = whole(&[(0, 0, 0, 9, 0), (0, 0, 0, 12, 0)], &[]);
    let cases = [
        (
            "\"version\":1}",
            "\"version\":3}",
            "line 1: `version` is \"3\"",
        ),
        (
            "lore-export",
            "lore-dump",
            "line 1: `format` is \"lore-dump\"",
        ),
        (
            "\"kind\":\"Project\"",
            "\"kind\":\"Projekt\"",
            "near to it: Project",
        ),
        (
            "\"project\":\"desk-0f\"",
            "\"project\":\"../x\"",
            "line 3: `project` is",
        ),
        (
            "\"change\":\"updated\"",
            "\"change\":\"painted\"",
            "line 4: unknown variant `painted`",
        ),
        (
            "\"lines\":5",
            "\"lines\":6",
            "line 6: 6 lines were exported and 5 are here",
        ),
        (
            "2026-01-31T12:00:00.000001Z",
            "yesterday",
            "line 3: `at` is not a valid time",
        ),
    ];
    assert_each_is_named(&good, &cases);
    let mut place = Fixture::new();
    let numbered = |first: u64, second: u64| {
        let second = good.replacen("\"version\":2,", &format!("\"version\":{second},"), 1);
        second.replacen(
            "\"version\":1,\"change",
            &format!("\"version\":{first},\"change"),
            1,
        )
    };
    for (text, message) in [
        (
            numbered(2, 1),
            "line 5: the context file web-1a2b3c4d/mental_model has version 2 and no version 1",
        ),
        (
            numbered(1, u64::MAX),
            "line 5: `version` is 18446744073709551615; versions count from 1",
        ),
    ] {
        let refusal = place.import_whole(&text).unwrap_err();
        assert!(refusal.message.contains(message), "{}", refusal.message);
    }
    assert_eq!(place.fixture.tail.position.0, 0);
    place.import_whole(&good).unwrap();
    let other = good.replacen("# 0", "# other", 1);
    let refusal = place.import_whole(&other).unwrap_err();
    assert_eq!(refusal.code, Code::Conflict);
    assert!(refusal.message.contains("line 4"), "{}", refusal.message);
}

/// docs/export-format.schema.json matches the types; `UPDATE_DOCS=1` rewrites it. The page names
/// every field.
#[test]
fn the_page_and_the_schema_are_those_of_the_types() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let path = docs.join("export-format.schema.json");
    let made = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == made,
        "run this test with `UPDATE_DOCS=1` and commit {path:?}"
    );
    let page = std::fs::read_to_string(docs.join("export-format.md")).unwrap();
    let schema = schema();
    let kinds = [
        "Project",
        "ContextVersion",
        "Source",
        "Document",
        "DocumentPart",
    ];
    let mut named = 0;
    for line in schema["anyOf"].as_array().unwrap() {
        let kind = line["properties"]["kind"]["const"].as_str();
        if !kind.is_some_and(|kind| kinds.contains(&kind)) {
            continue;
        }
        for name in line["properties"]["payload"]["properties"]
            .as_object()
            .unwrap()
            .keys()
        {
            assert!(page.contains(&format!("| `{name}` |")), "{kind:?} {name}");
            named += 1;
        }
        let of_kind = |kind: Value| kind.as_str().map(str::to_owned).unwrap();
        assert!(page.contains(&format!("### {}\n", of_kind(Value::from(kind.unwrap())))));
    }
    assert!(named > 10);
}
