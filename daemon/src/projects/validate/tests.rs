//! Realistic notes with their expected diagnostics, and properties that hold for every text.
//!
//! In `cases/` each `name.md` has a `name.flaws` next to it: the template on the first line, then a line
//! `<line> <severity> <kind> <section or -> <message>` for each diagnostic.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::projects::append;
use crate::projects::changes::{both_changed, changed_sections};
use crate::projects::guide::{Submission, guide};
use crate::projects::template::{Layer, Layers, Source};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The templates of the cases: the built-in ones and the ones in the folder of the cases.
static TEMPLATES: LazyLock<Layers> = LazyLock::new(|| {
    let files: Vec<(String, String)> = files("toml")
        .into_iter()
        .map(|path| (name(&path), fs::read_to_string(&path).unwrap()))
        .collect();
    let sources = files.iter().map(|(file, text)| Source {
        layer: Layer::User,
        file,
        text: Ok(text),
    });
    let layers = Layers::load(&sources.collect::<Vec<_>>(), None);
    assert_eq!(layers.broken(), []);
    layers
});

fn template(name: &str) -> &'static Template {
    &TEMPLATES.get(name).unwrap().template
}

fn files(extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/projects/validate/cases");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|one| one == extension))
        .collect();
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn render(diagnostic: &Diagnostic) -> String {
    format!(
        "{} {} {} {} {}",
        diagnostic.line,
        diagnostic.severity.word(),
        diagnostic.kind.word(),
        diagnostic.section.as_deref().unwrap_or("-"),
        diagnostic.message
    )
}

#[test]
fn real_notes_have_the_flaws_they_have() {
    let mut wrong = Vec::new();
    let cases = files("md");
    assert!(cases.len() >= 40, "only {} cases", cases.len());
    for case in &cases {
        let content = fs::read_to_string(case).unwrap();
        let diagnostics = fs::read_to_string(case.with_extension("flaws")).unwrap();
        let (kind, expected) = diagnostics.split_once('\n').unwrap();
        let validation = validate(&content, template(kind));
        let found: Vec<String> = validation.errors.iter().map(render).collect();
        let found = found.join("\n");
        if found.trim() != expected.trim() {
            wrong.push(format!(
                "{}:\n{found}\n-- expected:\n{expected}",
                name(case)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_example_is_valid_without_a_flaw() {
    for in_force in TEMPLATES.all() {
        for example in &in_force.template.examples {
            let validation = validate(example, &in_force.template);
            let reported: Vec<String> = validation.errors.iter().map(render).collect();
            assert!(reported.is_empty(), "{}: {reported:#?}", in_force.file);
            assert!(validation.valid);
            assert!((validation.confidence - 1.0).abs() < f64::EPSILON);
        }
    }
}

#[test]
fn a_skeleton_is_told_to_be_one() {
    for in_force in TEMPLATES.all() {
        let skeleton = in_force.template.skeleton();
        let validation = validate(&skeleton, &in_force.template);
        assert!(!validation.valid, "{skeleton}");
        let is_told =
            |diagnostic: &Diagnostic| diagnostic.message.starts_with("Placeholder text: <");
        assert!(validation.errors.iter().any(is_told), "{skeleton}");
        let is_missing = |diagnostic: &Diagnostic| diagnostic.kind == FlawKind::MissingSection;
        assert!(!validation.errors.iter().any(is_missing), "{skeleton}");
    }
}

#[test]
fn a_part_of_the_example_among_other_text_is_left_over_and_all_of_it_is_not() {
    let template = template("features");
    let (first, second) = template.examples[0].split_once("\n## Dead jobs").unwrap();
    let own = "\n## Ours\n\nStatus: active\nConfidence: low\nLast verified: 2025-01-02\nDescription: a\nImplementation: b\nUsage: c\n";
    let validation = validate(&format!("{first}{own}"), template);
    assert!(!validation.valid);
    assert!(
        validation.errors[0]
            .message
            .ends_with("lines of the template's own example")
    );
    let all = format!("{first}{own}\n## Dead jobs{second}");
    assert!(validate(&all, template).valid);
}

/// Every diagnostic with an edit is gone after the edit is applied.
#[test]
fn what_is_shown_as_the_fix_mends_the_flaw() {
    let mut count = 0;
    for case in files("md") {
        let content = fs::read_to_string(&case).unwrap();
        let diagnostics = fs::read_to_string(case.with_extension("flaws")).unwrap();
        let template = template(diagnostics.lines().next().unwrap());
        let all = validate(&content, template).errors;
        for diagnostic in &all {
            let Some(edit) = &diagnostic.edit else {
                continue;
            };
            let mended = edit.apply(&content);
            let alike = |diagnostics: &[Diagnostic]| {
                let is_it = |one: &&Diagnostic| {
                    (one.kind, &one.section, &one.message)
                        == (diagnostic.kind, &diagnostic.section, &diagnostic.message)
                };
                diagnostics.iter().filter(is_it).count()
            };
            let (before, after) = (alike(&all), alike(&validate(&mended, template).errors));
            assert!(
                after < before,
                "{}: {}\n{mended}",
                name(&case),
                render(diagnostic)
            );
            count += 1;
        }
    }
    assert!(count > 50, "only {count} flaws are shown mended");
}

/// Fields on one line, in the ways that people and agents write them. Each case is a component; it has all its fields.
#[test]
fn fields_on_one_line_are_found() {
    let model = template("mental_model").examples[0].clone();
    let (before, rest) = model.split_once("## Components\n\n").unwrap();
    let (_, behind) = rest.split_once("\n## Data Flow").unwrap();
    let cases = [
        "- **web**: purpose: serves pages; location: web/; dependencies: db; key functions: `main()`; last verified: 2025-06-30",
        "- **web**: Purpose: serves pages, Location: web/, Dependencies: db, Key Functions: `main()`, Last Verified: 2025-06-30",
        "- **web** - Purpose: serves pages; Location: web/; Dependencies: db; Key Functions: main; Last Verified: 2025-06-30",
        "- **web** — Purpose: serves pages — Location: web/ — Dependencies: db — Key Functions: main — Last Verified: 2025-06-30",
        "- web - purpose: serves pages - location: web/ - dependencies: db - key functions: main - last verified: 2025-06-30",
        "- web (purpose: serves pages, location: web/, dependencies: db, key functions: main, last verified: 2025-06-30)",
        "- web: purpose: serves pages. Location: web/. Dependencies: db. Key functions: main. Last verified: 2025-06-30.",
        "- **web** | **Purpose**: serves pages | **Location**: web/ | **Dependencies**: db | **Key Functions**: main | **Last Verified**: 2025-06-30",
        "- **web**, **purpose:** serves pages, **location:** web/, **dependencies:** db, **key functions:** main, **last verified:** 2025-06-30",
        "- Name: web; Purpose: serves pages; Location: web/; Dependencies: db; Key Functions: main; Last Verified: 2025-06-30",
        "1. **web**: purpose: serves pages,\n   location: web/,\n   dependencies: db; key functions: main,\n   last verified: 2025-06-30",
        "* __web__: _purpose_: serves pages;location: web/;dependencies: db;key functions: main;last verified: 2025-06-30",
        "### web\n\nPurpose: serves pages; Location: web/; Dependencies: db; Key Functions: main; Last Verified: 2025-06-30",
    ];
    for item in cases {
        let content = format!("{before}## Components\n\n{item}\n\n## Data Flow{behind}");
        let found: Vec<String> = validate(&content, template("mental_model"))
            .errors
            .iter()
            .map(render)
            .collect();
        let found: Vec<&String> = found
            .iter()
            .filter(|one| !one.contains("own example"))
            .collect();
        assert!(found.is_empty(), "{item}\n{found:#?}");
        let lacking = content
            .replace("location", "place")
            .replace("Location", "Place");
        let errors = validate(&lacking, template("mental_model")).errors;
        let is_it = |one: &Diagnostic| {
            one.message
                .starts_with("Components, `web` has no `Location`")
        };
        assert!(errors.iter().any(is_it), "{item}\n{errors:#?}");
    }
    // A name within a value is no field.
    let item = "- **web**\n  - **Purpose**: says what the location is, and who\n  - **Notes**: the `x; location: y` of it, not: the place";
    let content = format!("{before}## Components\n\n{item}\n\n## Data Flow{behind}");
    let errors = validate(&content, template("mental_model")).errors;
    assert!(
        errors
            .iter()
            .any(|one| one.message == "Components, `web` has no `Location`"),
        "{errors:#?}"
    );
}

#[test]
fn many_flaws_are_counted_and_the_worst_are_told() {
    let content = "# Mental Model\n\n## Components\n\n".to_owned() + &"- TODO\n".repeat(3_000);
    let validation = validate(&content, template("mental_model"));
    assert_eq!(validation.errors.len(), FLAWS_MAX);
    // 3 000 placeholders, four sections, and two fields of each item.
    assert_eq!(validation.error_count, 3_000 + 4 + 6_000);
    let missing = validation.errors.iter();
    let missing = missing.filter(|diagnostic| diagnostic.kind == FlawKind::MissingSection);
    assert_eq!(missing.count(), 4);
    assert!(validation.confidence.abs() < f64::EPSILON);
    let lines: Vec<u32> = validation
        .errors
        .iter()
        .map(|diagnostic| diagnostic.line)
        .collect();
    assert!(lines.is_sorted());
}

#[test]
fn confidence_falls_by_errors_and_warnings() {
    let of = |case: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/projects/validate/cases");
        let content = fs::read_to_string(path.join(case)).unwrap();
        let validation = validate(&content, template("mental_model"));
        (validation.valid, validation.confidence)
    };
    assert_eq!(of("mm_todo_lines.md"), (false, 0.78)); // 2 errors, 1 warning
    assert_eq!(of("mm_setext_and_star_lists.md"), (true, 0.88)); // 6 warnings
    assert_eq!(of("mm_plain_labels_without_bold.md"), (true, 1.0));
}

/// Generates a piece of Markdown that is often malformed.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,30}",
        any::<String>(),
        prop::sample::select(vec![
            "```",
            "~~~",
            "# ",
            "## ",
            "### ",
            "---",
            "===",
            "- ",
            "1. ",
            "> ",
            "| a | b |",
            "|---|---|",
            "\n",
            "\r\n",
            "\r",
            "<!--",
            "-->",
            "<pre>",
            "**",
            "`",
            "TODO",
            "{{x}}",
            "<fill in>",
            "[description]",
            "Purpose:",
            "**Status**: ",
            "## Data Flow",
            "## Components\n",
            "### BUG-1: a (2025-01-01)\n",
            "## 2025-01-01\n",
            "\u{feff}",
            "\t",
            "    ",
        ])
        .prop_map(str::to_owned),
    ]
}

fn text() -> impl Strategy<Value = String> {
    (
        prop::collection::vec(piece(), 0..25),
        prop::sample::select(vec!["", "\n", "\n\n", " "]),
    )
        .prop_map(|(pieces, between)| pieces.join(between))
}

/// Generates the sections of an example, some of them missing, with other text inserted.
fn torn() -> impl Strategy<Value = (&'static Template, String)> {
    let name = prop::sample::select(vec!["mental_model", "bugs", "runbook"]);
    (name, any::<u64>(), text(), 0_usize..8).prop_map(|(name, kept, text, at)| {
        let template = template(name);
        let parts: Vec<&str> = template.examples[0].split("\n## ").collect();
        let mut all = String::new();
        for (number, part) in parts.iter().enumerate() {
            if number == at % parts.len() {
                all.push_str(&text);
                all.push('\n');
            }
            if number == 0 {
                all.push_str(part);
            } else if kept >> number & 1 == 1 {
                all.push_str("\n## ");
                all.push_str(part);
            }
        }
        (template, all)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every text is validated, with bounded results.
    #[test]
    fn any_text_is_checked(text in text(), other in text()) {
        for in_force in TEMPLATES.all() {
            let template = &in_force.template;
            let validation = validate(&text, template);
            prop_assert_eq!(validation.valid, validation.error_count == 0);
            prop_assert!((0.0..=1.0).contains(&validation.confidence));
            let lines = u32::try_from(text.lines().count() + text.matches('\r').count() + 1).unwrap();
            for diagnostic in &validation.errors {
                prop_assert!((1..=lines).contains(&diagnostic.line), "{}", render(diagnostic));
            }
            let guidance = guide(&validation, template, &text, Submission::File);
            prop_assert_eq!(guidance.is_none(), validation.errors.is_empty());
            if let Ok(entry) = append::prepare(&text, &other, template, "2025-01-01") {
                let _ = append::append(&text, &entry, template);
                for found in append::check(&text, &entry, template).errors {
                    if let Some(edit) = found.edit {
                        prop_assert!(entry.text.get(edit.range).is_some());
                    }
                }
            }
        }
        prop_assert!(changed_sections(&text, &text).is_empty());
        prop_assert!(both_changed(&text, &other, &other).is_empty());
    }

    /// A missing section exists after its example fix is applied.
    #[test]
    fn a_missing_section_is_mended((template, text) in torn()) {
        let validation = validate(&text, template);
        let errors = validation.errors.iter();
        let missing = errors.filter(|diagnostic| diagnostic.kind == FlawKind::MissingSection);
        let sections: Vec<&Option<String>> = missing.map(|diagnostic| &diagnostic.section).collect();
        if let Some(first) = sections.first() {
            let mut errors = validation.errors.iter();
            let found = errors.find(|one| one.kind == FlawKind::MissingSection).unwrap();
            let mended = found.edit.as_ref().unwrap().apply(&text);
            let again = validate(&mended, template);
            let is_it = |diagnostic: &Diagnostic| {
                diagnostic.kind == FlawKind::MissingSection && diagnostic.section == **first
            };
            prop_assert!(!again.errors.iter().any(is_it), "{mended}");
        }
    }

    /// Line endings, a byte order mark and trailing white space do not affect validity.
    #[test]
    fn a_valid_example_stays_valid_in_other_clothes(mark in any::<bool>(), ends in "[\n ]{0,4}") {
        for in_force in TEMPLATES.all() {
            let example = in_force.template.examples[0].trim_end().to_owned() + &ends;
            let mark = if mark { "\u{feff}" } else { "" };
            let text = format!("{mark}{}", example.replace('\n', "\r\n"));
            let validation = validate(&text, &in_force.template);
            let found: Vec<String> = validation.errors.iter().map(render).collect();
            prop_assert!(found.is_empty(), "{found:?}");
        }
    }
}
