//! The manual pages: one for each command, generated from its help text.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::fs;

use support::cli::run;

/// Lists the commands in a help text.
fn commands(help: &str) -> Vec<&str> {
    let is_heading = |line: &str| {
        [
            "Commands:",
            "Every day:",
            "Look back:",
            "Work together:",
            "Connect:",
            "Upkeep:",
        ]
        .contains(&line)
    };
    let mut is_listed = false;
    let mut commands = Vec::new();
    for line in help.lines() {
        is_listed = is_heading(line) || is_listed && !line.is_empty();
        if is_listed && line.starts_with("  ") && !line.starts_with("   ") {
            commands.extend(line.split_whitespace().next());
        }
    }
    commands
}

/// Every command at every depth has a page under its full name with the text of its help.
#[test]
fn every_command_has_a_page() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("share/man/man1");
    let (code, out, err) = run(home.path(), &["man", folder.to_str().unwrap()]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    let mut open: Vec<Vec<String>> = vec![vec![]];
    let mut seen = 0;
    while let Some(command) = open.pop() {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let (_, help, _) = run(home.path(), &[&words[..], &["-h"]].concat());
        let name = [&["lore"], &words[..]].concat().join("-");
        let page = fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        let title = format!("\n.TH {name} 1  \"lore {version}\" \"User commands of lore\"\n");
        assert!(page.contains(&title), "{page}");
        seen += 1;
        if words == ["top"] || words == ["config"] {
            // Its help is that of the program that it executes.
            continue;
        }
        let about = help
            .lines()
            .next()
            .unwrap()
            .replace('-', "\\-")
            .replace('\'', "\\*(Aq");
        assert!(page.contains(&about), "{about} is not in {page}");
        for below in commands(&help) {
            open.push(
                [&words[..], &[below]]
                    .concat()
                    .iter()
                    .map(|word| (*word).to_owned())
                    .collect(),
            );
        }
    }
    assert!(seen > 60, "{seen}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), seen);
}

/// Without a folder the first page is printed; the command itself is hidden from the help.
#[test]
fn the_first_page_is_printed() {
    let home = tempfile::tempdir().unwrap();
    let (code, page, _) = run(home.path(), &["man"]);
    assert!(
        code == 0 && page.contains(".SH NAME\nlore \\- The shared"),
        "{page}"
    );
    assert!(!page.contains("lore\\-man"), "{page}");
    assert!(!commands(&run(home.path(), &["-h"]).1).contains(&"man"));
    assert_eq!(run(home.path(), &["man", "--json"]).0, 2);
}
