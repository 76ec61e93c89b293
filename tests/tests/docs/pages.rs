//! docs/sessions.md, docs/projects.md, docs/search.md and a chapter of docs/packs.md match the program: examples
//! are run line by line, tables are compared with the operations, settings with the defaults.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use lored::config::Config;
use serde_json::Value;
use tests::page::{Reader, blocks, examples};
use tests::{cold, has_words, until};

const SESSIONS: &str = include_str!("../../../docs/sessions.md");
const PROJECTS: &str = include_str!("../../../docs/projects.md");
const PACKS: &str = include_str!("../../../docs/packs.md");
const SEARCH: &str = include_str!("../../../docs/search.md");
const LOADED_MAX: Duration = Duration::from_secs(30);

/// Returns the part of a page below a heading, up to the next one of its level.
fn chapter(page: &'static str, heading: &str) -> &'static str {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let (mut end, mut is_code) = (0, false);
    for line in rest.split_inclusive('\n') {
        is_code ^= line.starts_with("```");
        // A file shown on a page has headings, too.
        if !is_code && line.starts_with("## ") {
            break;
        }
        end += line.len();
    }
    &rest[..end]
}

/// Returns the cells of every table row in a text, without headings.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let lines: Vec<&str> = text.lines().collect();
    let is_row = |at: usize| {
        let is_heading = lines
            .get(at + 1)
            .is_some_and(|next| next.starts_with("| ---"));
        lines[at].starts_with("| ") && !lines[at].starts_with("| ---") && !is_heading
    };
    let rows = (0..lines.len()).filter(|at| is_row(*at));
    rows.map(|at| {
        lines[at]
            .trim_matches('|')
            .split('|')
            .map(str::trim)
            .collect()
    })
    .collect()
}

/// Returns the texts between backticks.
fn code(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Every example works: the commands are run in order, and the output matches except for ids, times and omitted
/// parts. The prompt is that of the pack.
#[test]
fn the_examples_of_the_sessions_page() {
    let cold = cold!().on_disk();
    let mut reader = Reader::new(&cold);
    let mut prompts = 0;
    let mut commands = 0;
    for heading in ["A conversation", "Two agents on one session", "Time"] {
        let text = blocks(chapter(SESSIONS, heading), "text");
        for block in blocks(chapter(SESSIONS, heading), "console") {
            commands += reader.read(block);
            let Ok(reply) = serde_json::from_str::<Value>(&reader.printed) else {
                continue;
            };
            if let Some(prompt) = reply["prompt"].as_str() {
                let same = reader.pairs.same_text(text[prompts], prompt);
                same.unwrap_or_else(|error| panic!("{error}"));
                prompts += 1;
            }
        }
    }
    assert!(commands > 30, "{commands} commands on the page");
    assert_eq!(prompts, 1);
}

/// The example of docs/packs.md works, and its prompt matches the page.
#[test]
fn the_example_of_the_packs_page() {
    let cold = cold!();
    let chapter = chapter(PACKS, "Context files");
    let mut reader = Reader::new(&cold);
    let [block] = blocks(chapter, "console")[..] else {
        panic!("one block of examples")
    };
    let mut prompt = String::new();
    for example in examples(block) {
        reader
            .try_read(&example)
            .unwrap_or_else(|error| panic!("{}: {error}", example.command));
        let reply: Value = serde_json::from_str(&reader.printed).unwrap();
        prompt.extend(reply["prompt"].as_str());
    }
    let (reported, _) = prompt.split_once("\n\nCurrent task: ").unwrap();
    let same = reader.pairs.same_text(blocks(chapter, "text")[0], reported);
    same.unwrap_or_else(|error| panic!("{error}"));
}

/// The page's entity pack loads and recognises the entities on the page. A broken one is reported in `status` with
/// its line, and the previous packs stay in force.
#[test]
fn the_entity_pack_of_the_page() {
    let cold = cold!();
    let chapter = chapter(SESSIONS, "Kinds of your own");
    let folder = cold.home.path().join("packs");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("tickets.toml"), blocks(chapter, "toml")[0]).unwrap();
    let mut reader = Reader::new(&cold);
    let [recorded, broken] = blocks(chapter, "console")[..] else {
        panic!("two blocks of examples")
    };
    assert_eq!(reader.read(recorded), 3);
    for example in examples(broken) {
        // A changed file is noticed within a second.
        until(&example.command, LOADED_MAX, || {
            reader.try_read(&example).ok()
        });
    }
}

/// The table of a session's fields stays current: each row names existing operations, and fields of their replies.
#[test]
fn every_field_has_its_home() {
    let reference = lored::api::reference::markdown();
    let fields_of = |operation: &str| -> BTreeSet<String> {
        let (_, section) = reference
            .split_once(&format!("\n## {operation}\n"))
            .unwrap_or_else(|| panic!("there is no operation `{operation}`"));
        let section = section.split("\n## ").next().unwrap();
        let (_, reply) = section.split_once("| Reply |").unwrap();
        let names = rows(reply)
            .into_iter()
            .filter_map(|row| code(row[0]).first().copied());
        names.map(|name| name.replace('?', "")).collect()
    };
    let all = rows(chapter(SESSIONS, "Where everything is"));
    let homes: Vec<_> = all.iter().filter(|row| row.len() == 4).collect();
    for row in &homes {
        let (name, operations, fields) = (row[0], code(row[1]), code(row[2]));
        assert!(!operations.is_empty(), "{name} has no operation");
        for operation in operations {
            let known = fields_of(operation);
            for field in &fields {
                assert!(
                    known.contains(*field),
                    "{name}: {operation} tells no `{field}`"
                );
            }
        }
    }
    let wanted = [
        (14, "`sessionId`"),
        (14, "`type`"),
        (13, "`messageType`"),
        (4, "`strategy`"),
        (3, "`expiresAt`"),
        (7, "`theme`"),
        (7, "`metrics:context_size:{id}`"),
    ];
    assert!(
        homes.len() >= wanted.iter().map(|(rows, _)| rows).sum(),
        "{}",
        homes.len()
    );
    for (_, name) in wanted {
        assert!(homes.iter().any(|row| row[0].contains(name)), "{name}");
    }
}

/// The page lists the 21 kinds, and the built-in pack has them all.
#[test]
fn all_kinds_are_recognised() {
    let pack = include_str!("../../../daemon/recognise/src/packs/netbox.toml");
    let listed = chapter(SESSIONS, "Where everything is")
        .lines()
        .find(|line| line.starts_with("The 21 kinds"))
        .unwrap();
    let kinds = code(listed);
    assert_eq!(kinds.len(), 21);
    for kind in kinds {
        assert!(pack.contains(&format!("\nname = \"{kind}\"\n")), "{kind}");
    }
}

/// The settings on the page are valid, and are the defaults.
#[test]
fn the_settings_of_the_page_are_the_defaults() {
    let settings = blocks(chapter(SESSIONS, "Limits"), "toml")[0];
    let shown = Config::parse(settings, Path::new("sessions.md")).unwrap();
    let defaults = Config::new();
    assert_eq!(shown.sessions, defaults.sessions);
    assert_eq!(shown.packs, defaults.packs);
    let keys = lored::config::keys();
    let of_page = keys
        .iter()
        .filter(|key| key.starts_with("sessions.") || key.starts_with("packs."));
    for key in of_page {
        let (_, name) = key.split_once('.').unwrap();
        assert!(settings.contains(name), "{key} is not on the page");
    }
}

/// Every example of context files works, with its files written as shown. Manual edits are noticed a moment later.
#[test]
fn the_examples_of_the_projects_page() {
    let cold = cold!();
    let mut reader = Reader::new(&cold);
    let work = cold.home.path().join("agents");
    std::fs::create_dir_all(work.join(".lore/templates")).unwrap();
    let mut commands = 0;
    for (heading, language, files) in [
        (
            "A file that is checked",
            "markdown",
            &["first.md", "features.md"][..],
        ),
        ("Two writers", "markdown", &["entry.md"]),
        ("Editing by hand", "markdown", &[]),
        ("Looking back", "markdown", &[]),
        (
            "A type of your own",
            "toml",
            &[".lore/templates/decisions.toml"],
        ),
        ("What a project is", "toml", &[".lore.toml"]),
        ("For agents", "markdown", &[]),
    ] {
        let chapter = chapter(PROJECTS, heading);
        let texts = blocks(chapter, language);
        assert!(texts.len() >= files.len(), "{heading}");
        for (file, text) in files.iter().zip(texts) {
            assert!(chapter.contains(&format!("`{file}`")), "{file}");
            std::fs::write(work.join(file), format!("{text}\n")).unwrap();
        }
        for example in blocks(chapter, "console").into_iter().flat_map(examples) {
            commands += 1;
            let is_read = heading == "Editing by hand" && !example.output.is_empty();
            if is_read {
                until(&example.command, LOADED_MAX, || {
                    reader.try_read(&example).ok()
                });
            } else {
                let read = reader.try_read(&example);
                read.unwrap_or_else(|error| panic!("$ {}\n{error}", example.command));
            }
        }
    }
    assert!(commands > 20, "{commands} commands on the page");
}

/// The settings of context files on the page are valid, and are the defaults; so is the page's configured project.
#[test]
fn the_settings_of_the_projects_page() {
    let parse = |text: &str| {
        Config::parse(text, Path::new("projects.md"))
            .unwrap()
            .projects
    };
    let settings = blocks(chapter(PROJECTS, "Limits"), "toml")[0];
    assert_eq!(parse(settings), Config::new().projects);
    let keys = lored::config::keys();
    let of_page = keys.iter().filter(|key| key.starts_with("projects."));
    for key in of_page {
        let name = key.rsplit('.').next().unwrap();
        assert!(PROJECTS.contains(name), "{key} is not on the page");
    }
    let own = blocks(chapter(PROJECTS, "What a project is"), "toml")[1];
    let own = parse(own).configured;
    assert_eq!(own[0].path, Path::new("/home/ada/shop"));
    assert_eq!(own[0].marker.id.as_deref(), Some("shop"));
}

/// Every example of documents and search works, with its files written as shown. Changed files are ingested a
/// moment later. The results are the same with either tier.
#[test]
fn the_examples_of_the_search_page() {
    let cold = cold!();
    let mut reader = Reader::new(&cold);
    let work = cold.home.path().join("agents");
    std::fs::create_dir_all(work.join("docs")).unwrap();
    let first = chapter(SEARCH, "A folder that is searched");
    let files = ["docs/login.md", "docs/retention.md", "docs/invoices.md"];
    let texts = blocks(first, "markdown");
    assert_eq!(texts.len(), files.len());
    for (file, text) in files.iter().zip(texts) {
        assert!(first.contains(&format!("`{file}`")), "{file}");
        std::fs::write(work.join(file), format!("{text}\n")).unwrap();
    }
    let mut commands = 0;
    for (heading, is_followed) in [
        ("A folder that is searched", false),
        ("Narrowing", false),
        ("Four ways to search", false),
        ("Searching everything", false),
        ("When files change", true),
        ("Supported files", true),
        ("For agents", false),
    ] {
        let chapter = chapter(SEARCH, heading);
        for example in blocks(chapter, "console").into_iter().flat_map(examples) {
            commands += 1;
            let is_look = ["lore docs search", "lore docs list"]
                .iter()
                .any(|look| example.command.starts_with(look));
            if is_followed && is_look {
                until(&example.command, LOADED_MAX, || {
                    reader.try_read(&example).ok()
                });
            } else {
                let read = reader.try_read(&example);
                read.unwrap_or_else(|error| panic!("$ {}\n{error}", example.command));
            }
        }
    }
    assert!(commands > 30, "{commands} commands on the page");
}

/// The page's tables list all filters, modes and kinds.
#[test]
fn the_tables_of_the_search_page() {
    let reference = lored::api::reference::markdown();
    let first_of = |heading: &str| -> BTreeSet<&str> {
        let rows = rows(chapter(SEARCH, heading)).into_iter();
        rows.filter_map(|row| code(row[0]).first().copied())
            .collect()
    };
    let filters = [
        "context_id",
        "context_name",
        "category",
        "file_name",
        "file_type",
        "tags",
        "chunk_pattern",
        "chunk_range",
        "custom_metadata",
        "content_analysis",
    ];
    for (heading, wanted) in [
        ("Narrowing", &filters[..]),
        (
            "Four ways to search",
            &["text", "vector", "hybrid", "semantic"],
        ),
        (
            "Searching everything",
            &["document", "message", "step", "context", "checkpoint"],
        ),
    ] {
        assert_eq!(first_of(heading), wanted.iter().copied().collect());
    }
    let (named, _) = chapter(SEARCH, "For agents").split_once("A good").unwrap();
    let named: Vec<&str> = code(named);
    assert_eq!(named.len(), 13);
    for name in named {
        assert!(reference.contains(&format!("\n## {name}\n")), "{name}");
    }
}

/// The settings of documents and search on the page are valid, and are the defaults.
#[test]
fn the_settings_of_the_search_page() {
    let limits = chapter(SEARCH, "Limits");
    let shown = Config::parse(blocks(limits, "toml")[0], Path::new("search.md")).unwrap();
    let defaults = Config::new();
    assert_eq!(shown.search, defaults.search);
    assert_eq!(shown.documents.sizes, defaults.documents.sizes);
    assert_eq!(
        shown.documents.reading.file_bytes,
        defaults.documents.reading.file_bytes
    );
    let keys = lored::config::keys();
    let of_page = keys
        .iter()
        .filter(|key| key.starts_with("search.") || key.starts_with("documents."));
    for key in of_page {
        let (_, name) = key.split_once('.').unwrap();
        assert!(
            limits.contains(&format!("`{name}`")) || limits.contains(&format!("\n{name} = ")),
            "{key}"
        );
    }
}

/// Every code in the table of errors exists and has its status.
#[test]
fn the_errors_of_the_page_are_errors() {
    let reference = lored::api::reference::markdown();
    let all = rows(chapter(SESSIONS, "Errors"));
    assert!(all.len() > 8);
    for row in all {
        let known = format!("| {} | {} |", row[0], row[1]);
        assert!(reference.contains(&known), "{known}");
    }
}

/// The README's conversation works: the last prompt identifies the switch.
#[test]
fn the_conversation_of_the_readme() {
    let cold = cold!();
    let readme = include_str!("../../../README.md");
    let (_, section) = readme
        .split_once("\n## A conversation that remembers\n")
        .unwrap();
    let mut printed = String::new();
    for line in blocks(section, "sh")[0].lines() {
        let output = cold.shell(line).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        printed = String::from_utf8(output.stdout).unwrap();
    }
    has_words(&printed, &["- device: switch-nyc-01\n  Mentioned 2 times"]);
    has_words(&printed, &["Current user message: is that switch up?"]);
}

/// The README shows the output of its first command, except for the temporary folder.
#[test]
fn the_demo_of_the_readme() {
    let cold = cold!();
    let readme = include_str!("../../../README.md");
    let (_, rest) = readme.split_once("\ncargo run --bin lored -- ").unwrap();
    let (command, rest) = rest.split_once('\n').unwrap();
    let mut program = std::process::Command::new(cold.home.program());
    let output = program.arg(command).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let comparable = |text: &str| -> Vec<String> {
        // The path of the socket and the id of the session are new in every run.
        let is_random = |word: &&str| {
            (word.starts_with('/') && word.ends_with("/s")) || word.starts_with("`s-")
        };
        text.lines()
            .map(|line| match line.split(' ').find(is_random) {
                Some(random) => line.replace(random, "RANDOM"),
                None => line.to_owned(),
            })
            .collect()
    };
    let shown = comparable(blocks(rest, "text")[0]);
    assert!(shown.len() > 15, "{shown:#?}");
    assert_eq!(comparable(&printed)[..shown.len()], shown);
}
