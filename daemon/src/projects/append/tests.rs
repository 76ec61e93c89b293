//! Tests of appends: where an entry goes, what is put into form, and whose the errors are.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::projects::template::Layers;

fn appended(name: &str, content: &str, entry: &str) -> Result<String, AppendError> {
    let layers = Layers::built_in();
    let template = &layers.get(name).unwrap().template;
    append(
        content,
        &prepare(content, entry, template, TODAY)?,
        template,
    )
}

const TODAY: &str = "2026-11-24";
const BUG: &str = "### BUG-1: a (2025-01-01)\n\nx\n";

#[test]
fn an_entry_goes_where_the_template_says() {
    let cases = [
        // Below Open Issues, after its introduction, before the existing entries.
        (
            "bugs",
            "# Bugs\n\n## Open Issues\n\nBy date.\n\n### BUG-0: z (2025-01-01)\n\nz\n\n## Resolved Issues\n",
            BUG,
            "# Bugs\n\n## Open Issues\n\nBy date.\n\n### BUG-1: a (2025-01-01)\n\nx\n\n### BUG-0: z (2025-01-01)\n\nz\n\n## Resolved Issues\n",
        ),
        // Replaces "none".
        (
            "bugs",
            "# Bugs\n\n## Open Issues\n\n_None yet_\n\n## Resolved Issues\n\nNone.\n",
            BUG,
            "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nx\n\n## Resolved Issues\n\nNone.\n",
        ),
        (
            "bugs",
            "# Bugs\n\n## Open Issues\n## Resolved Issues\n",
            BUG,
            "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nx\n\n## Resolved Issues\n",
        ),
        (
            "bugs",
            "# Bugs\n\n## Open Issues",
            BUG,
            "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nx\n",
        ),
        // Adds the section, in the order of the template.
        (
            "bugs",
            "# Bugs\n\n## Resolved Issues\n\nNone.\n",
            BUG,
            "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nx\n\n## Resolved Issues\n\nNone.\n",
        ),
        (
            "bugs",
            "\n",
            BUG,
            "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nx\n\n## Resolved Issues\n\nNone.\n",
        ),
        // The newest first.
        (
            "session_summary",
            "# S\n\nLog.\n\n## 2025-01-01\n\n### Added\n\n- a\n",
            "## 2025-01-02\n\n### Fixed\n\n- b",
            "# S\n\nLog.\n\n## 2025-01-02\n\n### Fixed\n\n- b\n\n## 2025-01-01\n\n### Added\n\n- a\n",
        ),
        (
            "session_summary",
            "",
            "\n\n## 2025-01-02\n\n### Fixed\n\n- b\n\n",
            "# Session Summary\n\n## 2025-01-02\n\n### Fixed\n\n- b\n",
        ),
        (
            "session_summary",
            "# S",
            "## 2025-01-02\n\n### Fixed\n- b",
            "# S\n\n## 2025-01-02\n\n### Fixed\n- b\n",
        ),
        // At the end.
        (
            "features",
            "# F\n\n## A\n\na",
            "## B\n\nb",
            "# F\n\n## A\n\na\n\n## B\n\nb\n",
        ),
        (
            "features",
            "# F\r\n\r\n## A\r\n\r\na\r\n",
            "## B\n\nb",
            "# F\r\n\r\n## A\r\n\r\na\r\n\r\n## B\r\n\r\nb\r\n",
        ),
    ];
    for (name, content, entry, wanted) in cases {
        assert_eq!(
            appended(name, content, entry).unwrap(),
            wanted,
            "{content:?}"
        );
    }
}

/// Appends an entry to a file with one entry: the heading that it gets, and the errors of the entry.
fn added(name: &str, content: &str, entry: &str) -> (String, Vec<String>) {
    let layers = Layers::built_in();
    let template = &layers.get(name).unwrap().template;
    let prepared = prepare(content, entry, template, TODAY).unwrap();
    let again = prepare(content, &prepared.text, template, TODAY).unwrap();
    assert_eq!(again.text, prepared.text, "it is in its form");
    let errors = check(content, &prepared, template).errors.into_iter();
    let errors = errors.filter(|one| one.severity == Severity::Error);
    let heading = prepared.text.lines().next().unwrap().to_owned();
    let whole = append(content, &prepared, template).unwrap();
    assert!(whole.contains(&heading), "{whole}");
    (heading, errors.map(|one| one.message).collect())
}

/// People and agents write entries in many ways; what is certain is put into the form of the template.
#[test]
fn entries_in_many_styles_are_appended() {
    const BUGS: &str = "# Bugs\n\n## Open Issues\n\n### BUG-7: z (2025-01-01)\n\nz\n\n## Resolved Issues\n\nNone.\n";
    const FEATURES: &str = "# Features\n\n## Search\n\n- **Status**: Active\n";
    let cases = [
        (
            "bugs",
            BUGS,
            "Login fails on Safari",
            "### BUG-8: Login fails on Safari (2026-11-24)",
        ),
        (
            "bugs",
            "",
            "Login fails on Safari",
            "### BUG-1: Login fails on Safari (2026-11-24)",
        ),
        (
            "bugs",
            "# Bugs\n\n## Open Issues\n\n### #41 z (2025-01-01)\n\nz\n",
            "x breaks",
            "### #42: x breaks (2026-11-24)",
        ),
        (
            "bugs",
            BUGS,
            "- fixed a thing",
            "### BUG-8: fixed a thing (2026-11-24)",
        ),
        (
            "bugs",
            BUGS,
            "Bug: login fails",
            "### BUG-8: login fails (2026-11-24)",
        ),
        (
            "bugs",
            BUGS,
            "### Bug: login fails\n\nOn Safari.",
            "### BUG-8: login fails (2026-11-24)",
        ),
        (
            "bugs",
            BUGS,
            "### Login fails\n\nOn Safari.",
            "### BUG-8: Login fails (2026-11-24)",
        ),
        (
            "bugs",
            BUGS,
            "# BUG-9: Login fails",
            "### BUG-9: Login fails (2026-11-24)",
        ),
        (
            "bugs",
            BUGS,
            "## BUG-9: Login fails (2026-11-20)\n\n### Context\n\nSafari",
            "### BUG-9: Login fails (2026-11-20)",
        ),
        (
            "bugs",
            BUGS,
            "#### BUG-9: Login fails (2026-11-20)\n\nx",
            "### BUG-9: Login fails (2026-11-20)",
        ),
        (
            "bugs",
            BUGS,
            "# Bugs\n\n## Open Issues\n\n### BUG-9: a (2026-11-20)\n\nx",
            "### BUG-9: a (2026-11-20)",
        ),
        (
            "bugs",
            BUGS,
            "## Resolved Issues\n\n### BUG-9: a (2026-11-20)\n\nx",
            "### BUG-9: a (2026-11-20)",
        ),
        (
            "bugs",
            BUGS,
            "**Login fails**\n\nOn Safari, since Monday.",
            "### BUG-8: Login fails (2026-11-24)",
        ),
        (
            "bugs",
            BUGS,
            "Login fails - Context: Safari; Status: Identified",
            "### BUG-8: Login fails (2026-11-24)",
        ),
        (
            "bugs",
            BUGS,
            "```markdown\n### BUG-9: a (2026-11-20)\n\nx\n```",
            "### BUG-9: a (2026-11-20)",
        ),
        ("features", FEATURES, "Dark mode", "## Dark mode"),
        ("features", "", "Dark mode", "## Dark mode"),
        ("features", FEATURES, "## Dark mode", "## Dark mode"),
        ("features", FEATURES, "* Dark mode", "## Dark mode"),
        (
            "features",
            FEATURES,
            "### Dark mode\n\n- **Status**: Planned",
            "## Dark mode",
        ),
        (
            "features",
            FEATURES,
            "# Dark mode\n\nStatus: Planned, Confidence: Low",
            "## Dark mode",
        ),
        (
            "features",
            FEATURES,
            "Dark mode\n=========\n\nStatus: Planned",
            "## Dark mode",
        ),
        (
            "features",
            FEATURES,
            "**Dark mode**: Status: Planned; Confidence: Low; Usage: the switch",
            "## Dark mode",
        ),
        (
            "features",
            FEATURES,
            "Dark mode (Status: Planned, Confidence: Low)",
            "## Dark mode",
        ),
        (
            "features",
            FEATURES,
            "- **Dark mode** - Status: In development | Confidence: High",
            "## Dark mode",
        ),
        (
            "features",
            FEATURES,
            "Dark mode\n- Status: Planned\n- Confidence: Low",
            "## Dark mode",
        ),
        (
            "session_summary",
            "",
            "## Leases are renewed\n\n### Fixed\n\n- x",
            "## 2026-11-24: Leases are renewed",
        ),
        (
            "session_summary",
            "",
            "### 2026-11-20\n\n#### Fixed\n\n- x",
            "## 2026-11-20",
        ),
    ];
    for (name, content, entry, wanted) in cases {
        let (heading, errors) = added(name, content, entry);
        assert_eq!((&*heading, errors), (wanted, vec![]), "{entry:?}");
    }
}

/// What is wrong in an entry, or unknown, is an error of the entry, at its line.
#[test]
fn entries_that_do_not_fit_are_refused() {
    const BUGS: &str = "# Bugs\n\n## Open Issues\n\n### BUG-7: z (2025-01-01)\n\nz\n";
    let cases = [
        (
            "features",
            "",
            "## A\n\n- **Status**: Done",
            "The feature `A`: `Status` is \"Done\"; it must be one of Active, In development, Planned, Deprecated",
        ),
        (
            "features",
            "# F\n\n## A\n\nx\n",
            "## a",
            "There is a feature a already, on line 3 of the file",
        ),
        (
            "features",
            "",
            "## A\n\n- **Usage**: TODO",
            "Placeholder text: TODO",
        ),
        (
            "features",
            "",
            "Status: Planned\nUsage: a switch",
            "Placeholder text: <name of the feature>",
        ),
        (
            "bugs",
            BUGS,
            "BUG-7: Login fails",
            "There is a bug bug-7 already, on line 5 of the file",
        ),
        (
            "bugs",
            BUGS,
            "<fill in>",
            "The heading `<fill in>` is not the bug's id, its title and the date it was found, as \
             `BUG-12: Queue stalls (2025-06-30)`",
        ),
        (
            "session_summary",
            "",
            "## 2026-11-20\n\nWe did a lot.",
            "The session `2026-11-20` has none of Added, Changed, Deprecated, Removed, Fixed, Security",
        ),
    ];
    for (name, content, entry, wanted) in cases {
        let (_, errors) = added(name, content, entry);
        assert!(
            errors.iter().any(|error| error == wanted),
            "{entry:?}: {errors:?}"
        );
    }
}

/// What is broken elsewhere in a file is not the entry's, wherever the entry goes.
#[test]
fn errors_of_the_file_are_not_those_of_an_entry() {
    let layers = Layers::built_in();
    let entry = "## Mine\n\n- **Status**: Active";
    for broken in [
        "# Features\n\n## Broken\n\n- **Status**: Done\n",
        "# Features\n\n## Broken\n\n- **Usage**: TODO\n\n## Broken\n\nx\n",
        "no heading at all\n",
    ] {
        let template = &layers.get("features").unwrap().template;
        let prepared = prepare(broken, entry, template, TODAY).unwrap();
        assert!(check(broken, &prepared, template).valid);
        let whole = append(broken, &prepared, template).unwrap();
        let others = others(validate(&whole, template), &whole, &prepared);
        let before = validate(broken, template);
        if broken.contains("Broken") {
            let lines = |found: &[Diagnostic]| found.iter().map(|one| one.line).collect::<Vec<_>>();
            assert_eq!(lines(&others), lines(&before.errors), "{whole}");
        }
    }
    let template = &layers.get("bugs").unwrap().template;
    let broken = "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nStatus: done\n";
    let prepared = prepare(broken, "Login fails", template, TODAY).unwrap();
    let whole = append(broken, &prepared, template).unwrap();
    let others = others(validate(&whole, template), &whole, &prepared);
    assert!(
        others
            .iter()
            .any(|one| one.message.contains("`Solution Status` is \"done\""))
    );
    assert!(
        others
            .iter()
            .any(|one| one.kind == FlawKind::MissingSection)
    );
    assert!(
        others
            .iter()
            .all(|one| !one.message.contains("Login fails")),
        "{others:#?}"
    );
    assert_eq!(prepared.text, "### BUG-2: Login fails (2026-11-24)");
}

#[test]
fn an_entry_of_the_example_makes_a_valid_new_file() {
    for in_force in Layers::built_in().all() {
        let template = &in_force.template;
        if let Some(entries) = &template.entries {
            let entry = entries.sample.replace("the", "our");
            let content = appended(&template.name, "", &entry).unwrap();
            let errors = validate(&content, template).errors;
            let own = errors
                .iter()
                .filter(|diagnostic| !diagnostic.message.starts_with("Placeholder"));
            assert_eq!(own.count(), 0, "{errors:#?}\n{content}");
            let entry = entry
                .replace("BUG-14", "BUG-99")
                .replace("## Retries", "## Others");
            let twice = appended(&template.name, &content, &entry).unwrap();
            assert_eq!(
                entries_of(&Outline::of(&twice), template).len(),
                2,
                "{twice}"
            );
        }
    }
}

#[test]
fn what_cannot_be_added_is_refused() {
    let refused = |name: &str, content: &str, entry: &str| {
        appended(name, content, entry).unwrap_err().to_string()
    };
    assert_eq!(
        refused("mental_model", "", "x"),
        "nothing is appended to `mental_model`: it is written as a whole, with `update_context`"
    );
    assert_eq!(
        refused("bugs", "", "\u{feff} \n"),
        "the entry is empty; write it as the template shows"
    );
    assert!(
        refused("features", "# F\n\n```\nx\n", "## A")
            .starts_with("the file ends within a code fence")
    );
    assert!(
        refused("features", "# F\n", "## A\n\n```\nx")
            .starts_with("the entry ends within a code fence")
    );
}
