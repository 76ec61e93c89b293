//! Manual edits of context files with any editor: each edit becomes a version, and neither people nor concurrent
//! agents lose changes.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};
use tests::{Daemon, Home, Random, call, has, has_words, seed, serve, until};

use super::{
    LIMIT, get, history, init, path_of, refused_to, summary, text, text_or_empty, until_edited,
    until_says, version, write,
};

const FILE: &str = "session_summary";

/// An editor's way of saving.
type Save = fn(&Path, &str);

fn in_place(path: &Path, content: &str) {
    fs::write(path, content).unwrap();
}

/// Writes in parts, as an editor with a small buffer does.
fn in_parts(path: &Path, content: &str) {
    let mut file = fs::File::create(path).unwrap();
    for part in content.as_bytes().chunks(16) {
        file.write_all(part).unwrap();
    }
    file.sync_all().unwrap();
}

fn rename_over(path: &Path, content: &str) {
    let new = path.with_file_name("#new-file#");
    fs::write(&new, content).unwrap();
    fs::rename(new, path).unwrap();
}

/// Renames the old file to a backup and creates a new one.
fn with_backup(path: &Path, content: &str) {
    fs::rename(path, path.with_extension("md~")).unwrap();
    fs::write(path, content).unwrap();
}

/// Saves like vim: a swap file, a probe file, a backup that is removed at the end.
fn like_vim(path: &Path, content: &str) {
    let beside = |name: &str| path.with_file_name(name);
    fs::write(beside(".session_summary.md.swp"), "swap").unwrap();
    fs::write(beside("4913"), "").unwrap();
    fs::remove_file(beside("4913")).unwrap();
    fs::rename(path, path.with_extension("md~")).unwrap();
    let mut file = fs::File::create(path).unwrap();
    file.write_all(content.as_bytes()).unwrap();
    file.sync_all().unwrap();
    fs::remove_file(path.with_extension("md~")).unwrap();
    fs::remove_file(beside(".session_summary.md.swp")).unwrap();
}

/// Removes the old file first.
fn removed_first(path: &Path, content: &str) {
    fs::remove_file(path).unwrap();
    fs::write(path, content).unwrap();
}

/// Writes another file and links it to the name.
fn linked(path: &Path, content: &str) {
    let new = path.with_file_name("linked");
    fs::write(&new, content).unwrap();
    fs::remove_file(path).unwrap();
    fs::hard_link(&new, path).unwrap();
    fs::remove_file(new).unwrap();
}

const SAVES: [(&str, Save); 7] = [
    ("in place", in_place),
    ("in parts", in_parts),
    ("renamed over", rename_over),
    ("with a backup", with_backup),
    ("like vim", like_vim),
    ("removed first", removed_first),
    ("linked", linked),
];

/// Every way of saving creates one new version of the agent `file` with exactly the saved content. Other files in
/// the folder do not become versions, and the agent's next update replaces the file.
#[test]
fn every_way_of_saving_is_seen() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let path = path_of(&home, &project, FILE);
    let mut number = 0;
    for (name, save) in SAVES {
        let content = summary(&[name, "by an agent"]);
        number += 1;
        assert_eq!(write(&daemon, &project, FILE, &content), number, "{name}");
        until_says(&path, &content);
        let content = summary(&[name, "by hand"]);
        save(&path, &content);
        let now = until_edited(&daemon, &project, FILE, &content);
        number += 1;
        has(&now, json!({"version": number, "change": "edited"}));
        assert_eq!(now["validation"]["valid"], true);
        assert_eq!(fs::read_to_string(&path).unwrap(), content, "{name}");
    }
    let versions = history(&daemon, &project, FILE);
    assert_eq!(versions.len() as u64, number);
    assert!(versions.iter().all(|one| one.get("beside").is_none()));

    // Removing the file clears it; restoring it writes a version.
    fs::remove_file(&path).unwrap();
    let cleared = until("the deletion", LIMIT, || {
        let now = get(&daemon, &project, FILE);
        (now["change"] == "cleared").then_some(now)
    });
    assert_eq!(cleared["updated_by"], "file");
    assert_eq!(cleared.get("content"), None);
    assert_eq!(
        history(&daemon, &project, FILE)[0]["reason"],
        "the file was deleted"
    );
    let content = summary(&["anew"]);
    fs::write(&path, &content).unwrap();
    assert_eq!(
        until_edited(&daemon, &project, FILE, &content)["version"],
        number + 2
    );
    let folder = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut names: Vec<_> = folder.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["session_summary.md"], "nothing is left beside it");
    daemon.verify();
}

/// A file created manually in the folder of a project is the first version of its type.
#[test]
fn a_file_can_begin_by_hand() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let other = init(&home, &daemon, "other");
    write(&daemon, &other, FILE, &summary(&["x"]));
    let path = path_of(&home, &project, FILE);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let content = summary(&["by hand"]);
    fs::write(&path, &content).unwrap();
    assert_eq!(
        until_edited(&daemon, &project, FILE, &content)["version"],
        1
    );
}

/// An invalid manual edit is stored: the next read reports its problems, the list their number, and an agent fixes
/// it by an update.
#[test]
fn an_edit_that_does_not_fit_is_kept() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let path = path_of(&home, &project, FILE);
    write(&daemon, &project, FILE, &summary(&["a till"]));
    until_says(&path, &summary(&["a till"]));
    for content in [
        "just a line\n",
        "# Session Summary\n\n## Yesterday\n\n### Added\n\n- x\n",
        "",
    ] {
        in_place(&path, content);
        let now = until_edited(&daemon, &project, FILE, content);
        assert_eq!(now["validation"]["valid"], false, "{now:#}");
        assert!(!text(&now["validation"]["errors"][0]["message"]).is_empty());
        let errors = &history(&daemon, &project, FILE)[0]["errors"];
        assert!(errors.as_u64().unwrap() > 0);
        let list = daemon.call("list_contexts", json!({"project_id": project}));
        let files = list["contexts"].as_array().unwrap();
        let file = files.iter().find(|file| file["file_type"] == FILE).unwrap();
        assert_eq!(&file["errors"], errors);
        assert_eq!(file["updated_by"], "file");
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            content,
            "it is left as it is"
        );
    }
    let number = write(&daemon, &project, FILE, &summary(&["mended"]));
    assert_eq!(number, 5, "{:#?}", history(&daemon, &project, FILE));
    until_says(&path, &summary(&["mended"]));
    daemon.verify();
}

/// Returns content with two lines: one for the manual edit, one for the agent.
fn two_sides(hand: &str, agent: &str) -> String {
    summary(&[hand, "what nobody touches", agent])
}

/// A manual edit, and at once an agent's update of the earlier version: both changes are in the newest version and
/// on disk, in every round, with each way of saving.
#[test]
fn an_edit_and_an_update_are_brought_together() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let path = path_of(&home, &project, FILE);
    let (mut hand, mut agent) = ("h0".to_owned(), "a0".to_owned());
    write(&daemon, &project, FILE, &two_sides(&hand, &agent));
    until_says(&path, &two_sides(&hand, &agent));
    let mut ada = daemon.connect("ada");
    for (round, (_, save)) in (1..).zip(SAVES.iter().cycle().take(14)) {
        let (new_hand, new_agent) = (format!("h{round}"), format!("a{round}"));
        let from = &get(&daemon, &project, FILE)["version"];
        save(&path, &two_sides(&new_hand, &agent));
        let mut args = json!({
            "project_id": project, "file_type": FILE, "expected_version": from,
            "content": two_sides(&hand, &new_agent),
        });
        if call(&mut ada, "update_context", args.clone()).is_err() {
            // The edit, or a part of it, is already a version: on a busy machine a writer in parts may pause so long
            // that one part is taken for the whole. The conflict contains both complete changes.
            until_edited(&daemon, &project, FILE, &two_sides(&new_hand, &agent));
            let refused = refused_to(&mut ada, "update_context", args.clone());
            let refused: Value = serde_json::from_slice(&refused.to_json()).unwrap();
            args["content"] = refused["details"]["merged"].clone();
            args["expected_version"] = refused["details"]["theirs"]["version"].clone();
            call(&mut ada, "update_context", args).unwrap();
        }
        let both = two_sides(&new_hand, &new_agent);
        until("both sides in one version", LIMIT, || {
            (get(&daemon, &project, FILE)["content"] == both).then_some(())
        });
        until_says(&path, &both);
        (hand, agent) = (new_hand, new_agent);
    }
    let versions = history(&daemon, &project, FILE);
    let merged = versions
        .iter()
        .filter(|one| one["change"] == "merged")
        .count();
    assert!(merged > 0, "{versions:#?}");
    daemon.verify();
}

/// Both change the same line at once: neither change is lost. The newest version is one of them and names the other
/// one, which can be read.
#[test]
fn an_edit_and_an_update_of_one_line() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let path = path_of(&home, &project, FILE);
    write(&daemon, &project, FILE, &summary(&["base"]));
    until_says(&path, &summary(&["base"]));
    for round in 0..5 {
        let (hand, agent) = (format!("hand {round}"), format!("agent {round}"));
        rename_over(&path, &summary(&[&hand]));
        let reply = super::update(&daemon, &project, FILE, &summary(&[&agent]));
        assert_eq!(reply["success"], true, "{reply:#}");
        until("both as versions", LIMIT, || {
            let found = contents(&daemon, &project);
            let has = |line: &str| found.iter().any(|content| content.contains(line));
            (has(&hand) && has(&agent)).then_some(())
        });
        let now = settled(&daemon, &project, &path);
        let newest = &history(&daemon, &project, FILE)[0];
        if let Some(beside) = newest["beside"].as_u64() {
            assert!(super::warns(&now, &format!("version {beside}")), "{now:#}");
            assert!(version(&daemon, &project, FILE, beside).contains(&agent));
        }
    }
    daemon.verify();
}

/// Returns every version's content.
fn contents(daemon: &Daemon, project: &str) -> Vec<String> {
    let versions = history(daemon, project, FILE);
    let numbers = versions.iter().map(|one| one["version"].as_u64().unwrap());
    numbers
        .map(|number| version(daemon, project, FILE, number))
        .collect()
}

/// Waits until disk and log agree; returns the newest version.
fn settled(daemon: &Daemon, project: &str, path: &Path) -> Value {
    until("disk and log to agree", LIMIT, || {
        let now = get(daemon, project, FILE);
        let there = fs::read_to_string(path).unwrap_or_default();
        let again = get(daemon, project, FILE);
        (there == text_or_empty(&now["content"]) && now == again).then_some(now)
    })
}

/// Uncoordinated manual edits and agent updates write at the same moments, each line once. Every line is in some
/// version, and at the end disk and log agree.
#[test]
fn nothing_is_lost_when_both_write_at_once() {
    let seed = seed();
    println!("LORE_SEED={seed}");
    let mut random = Random::new(seed);
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let path = path_of(&home, &project, FILE);
    write(&daemon, &project, FILE, &two_sides("h0", "a0"));
    until_says(&path, &two_sides("h0", "a0"));
    let barrier = Barrier::new(2);
    const ROUNDS: u64 = 16;
    // Ways of saving with atomic content: with others a part may be taken for the whole.
    let saves = [rename_over as Save, like_vim, in_place, linked];
    let turns: Vec<(u64, usize)> = (0..ROUNDS)
        .map(|_| (random.range(0, 500), random.range(0, 4) as usize))
        .collect();
    thread::scope(|scope| {
        let (barrier, project, path) = (&barrier, &project, &path);
        let mut ada = daemon.connect("ada");
        scope.spawn(move || {
            for round in 1..=ROUNDS {
                barrier.wait();
                let mut args = json!({"project_id": project, "file_type": FILE});
                let now = call(&mut ada, "get_context", args.clone()).unwrap();
                let content = with_line(text_or_empty(&now["content"]), 3, &format!("a{round}"));
                args["content"] = content.into();
                let reply = call(&mut ada, "update_context", args).unwrap();
                assert_eq!(reply["success"], true, "{reply:#}");
                barrier.wait();
            }
        });
        let (turns, daemon) = (&turns, &daemon);
        scope.spawn(move || {
            for (round, (looks, save)) in (1..=ROUNDS).zip(turns) {
                let there = fs::read_to_string(path).unwrap();
                barrier.wait();
                // At a random time during the agent's update.
                for _ in 0..*looks {
                    fs::metadata(path).unwrap();
                }
                saves[*save](path, &with_line(&there, 1, &format!("h{round}")));
                barrier.wait();
                let lines = [format!("- h{round}\n"), format!("- a{round}\n")];
                until("both lines in some version", LIMIT, || {
                    let found = contents(daemon, project);
                    let has = |line: &String| found.iter().any(|content| content.contains(line));
                    lines.iter().all(has).then_some(())
                });
                settled(daemon, project, path);
            }
        });
    });
    daemon.verify();
}

/// Returns the summary with another line under one of its days.
fn with_line(content: &str, day: usize, line: &str) -> String {
    let mut lines = ["h0", "what nobody touches", "a0"].map(str::to_owned);
    let found = content.lines().filter_map(|line| line.strip_prefix("- "));
    for (into, line) in lines.iter_mut().zip(found) {
        line.clone_into(into);
    }
    line.clone_into(&mut lines[day - 1]);
    summary(&lines.each_ref().map(String::as_str))
}

/// Changes made while no daemon ran are recorded at the next start: edits, new and removed files. An agent's last
/// version stays in the history.
#[test]
fn edits_while_it_is_stopped_are_taken_up() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let path = path_of(&home, &project, FILE);
    write(&daemon, &project, FILE, &summary(&["a till"]));
    let model = super::model("Stall", "Sales", "how a till is set up");
    write(&daemon, &project, "mental_model", &model);
    until_says(&path, &summary(&["a till"]));
    let model_path = path_of(&home, &project, "mental_model");
    until_says(&model_path, &model);
    daemon.stop();
    rename_over(&path, &summary(&["a till", "by hand"]));
    fs::remove_file(&model_path).unwrap();
    let bugs = path_of(&home, &project, "bugs");
    fs::write(
        &bugs,
        "# Bugs\n\n## Open Issues\n\nNone.\n\n## Resolved Issues\n\nNone.\n",
    )
    .unwrap();
    let daemon = home.start();
    until_edited(&daemon, &project, FILE, &summary(&["a till", "by hand"]));
    until_edited(
        &daemon,
        &project,
        "bugs",
        &fs::read_to_string(&bugs).unwrap(),
    );
    until("the deletion", LIMIT, || {
        (get(&daemon, &project, "mental_model")["change"] == "cleared").then_some(())
    });
    assert_eq!(version(&daemon, &project, "mental_model", 1), model);
    daemon.verify();
    daemon.stop();
    // Nothing changed: nothing is recorded.
    let daemon = home.start();
    settled(&daemon, &project, &path);
    assert_eq!(history(&daemon, &project, FILE).len(), 2);
    lost_folder(&home, daemon, &project);
}

/// Checks that a lost folder is written again from the log.
fn lost_folder(home: &Home, daemon: Daemon, project: &str) {
    let folder = home.data().join("projects");
    daemon.stop();
    fs::remove_dir_all(&folder).unwrap();
    let daemon = home.start();
    until_says(
        &path_of(home, project, FILE),
        &summary(&["a till", "by hand"]),
    );
    assert_eq!(
        history(&daemon, project, FILE).len(),
        2,
        "a lost disk is no edit"
    );
    for (gone, line) in [(folder.join(project), "again"), (folder, "and again")] {
        fs::remove_dir_all(gone).unwrap();
        write(&daemon, project, FILE, &summary(&[line]));
        until_says(&path_of(home, project, FILE), &summary(&[line]));
    }
    daemon.verify();
}

/// Returns a feature, as an entry.
fn feature(name: &str, description: &str) -> String {
    format!(
        "## {name}\n\n- **Status**: Active\n- **Confidence**: High\n- **Last Verified**: 2026-11-20\n\
         - **Description**: {description}\n- **Implementation**: i\n- **Usage**: u\n"
    )
}

fn append_feature(daemon: &Daemon, project: &str, entry: &str) -> Value {
    let args = json!({"project_id": project, "file_type": "features", "entry": entry});
    daemon.call("append_context", args)
}

/// An editor saves a buffer that is older than what agents appended: the file has the edit and every entry. What a
/// person removes from the file as it is, is removed.
#[test]
fn a_buffer_that_is_saved_late_removes_nothing() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let path = path_of(&home, &project, "features");
    write(
        &daemon,
        &project,
        "features",
        &format!("# Features\n\n{}", feature("A", "first")),
    );
    let mut buffer = fs::read_to_string(&path).unwrap();
    let there = || text_or_empty(&get(&daemon, &project, "features")["content"]).to_owned();
    let mut names = vec!["## A\n".to_owned()];
    for (round, (_, save)) in (1..).zip(SAVES) {
        for number in 1..=2 {
            let name = format!("N{round}-{number}");
            assert_eq!(
                append_feature(&daemon, &project, &feature(&name, "new"))["status"],
                "success"
            );
            names.push(format!("## {name}\n"));
        }
        let edit = format!("better {round}");
        buffer = buffer.replace("Description**: first", "Description**: better 0");
        buffer = buffer.replace(&format!("better {}", round - 1), &edit);
        save(&path, &buffer);
        until("the edit with all entries", LIMIT, || {
            let content = there();
            let is_whole = names.iter().all(|name| content.contains(name));
            (content.contains(&edit) && is_whole).then_some(())
        });
        until_says(&path, &there());
    }
    let reason = history(&daemon, &project, "features")
        .into_iter()
        .find(|one| one["change"] == "merged");
    has_words(
        &reason.unwrap()["reason"],
        &["keeps what was added", "`N1-1`", "and 4 more"],
    );

    // The last entry is removed from the file as it is.
    let content = there();
    let last = content.find("## N7-2").unwrap();
    rename_over(&path, content[..last].trim_end());
    until("the removal", LIMIT, || {
        (!there().contains("N7-2")).then_some(())
    });
    assert!(there().contains("## N7-1\n"));
    daemon.verify();
}

/// What an edit by hand broke is reported apart: appends of others succeed, with the version that broke it.
#[test]
fn a_broken_edit_blocks_nobody() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let path = path_of(&home, &project, "features");
    let first = format!("# Features\n\n{}", feature("A", "first"));
    write(&daemon, &project, "features", &first);
    until_says(&path, &first);
    let broken = format!("{first}\n## Broken\n\n- **Status**: perhaps\n");
    in_place(&path, &broken);
    until_edited(&daemon, &project, "features", &broken);
    for number in 1..=4 {
        let reply = append_feature(&daemon, &project, &feature(&format!("Mine {number}"), "x"));
        has(&reply, json!({"status": "success", "attempt_count": 1}));
        assert_eq!(reply["validation_result"]["valid"], true, "{reply:#}");
        let issues = &reply["earlier_issues"];
        has(issues, json!({"by": "file", "since_version": 2}));
        has_words(&issues["problems"][0], &["`Broken`", "perhaps", "line "]);
    }
    // A whole content that leaves it as it is succeeds, and one that breaks more does not.
    let content = text(&get(&daemon, &project, "features")["content"]).to_owned();
    let better = content.replace("first", "second");
    let reply = super::update(&daemon, &project, "features", &better);
    assert_eq!(reply["status"], "success", "{reply:#}");
    has_words(&reply["earlier_issues"]["problems"][0], &["`Broken`"]);
    let worse = better.replace(
        "## Mine 1\n\n- **Status**: Active",
        "## Mine 1\n\n- **Status**: Done",
    );
    let reply = super::update(&daemon, &project, "features", &worse);
    assert_eq!(reply["status"], "correction_needed", "{reply:#}");
    has_words(
        &reply["correction_guidance"]["primary_issue"],
        &["`Mine 1`"],
    );
    assert!(
        !reply["validation_errors"].to_string().contains("Broken"),
        "{reply:#}"
    );
    daemon.verify();
}

/// Both sides changed the same lines of an entry: the history has both, and both are told, until somebody brings them
/// together.
#[test]
fn a_conflict_is_told_to_both_sides() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let path = path_of(&home, &project, "features");
    let with = |description: &str| {
        format!(
            "# Features\n\n{}\n{}",
            feature("A", description),
            feature("B", "b")
        )
    };
    write(&daemon, &project, "features", &with("first"));
    let buffer = fs::read_to_string(&path).unwrap();
    let number = write(&daemon, &project, "features", &with("of the agent"));
    until_says(&path, &with("of the agent"));
    append_feature(&daemon, &project, &feature("C", "c"));
    let edited = buffer
        .replace("first", "of the person")
        .replace(": b\n", ": better\n");
    rename_over(&path, &edited);
    let now = until("the merge", LIMIT, || {
        let now = get(&daemon, &project, "features");
        text_or_empty(&now["content"])
            .contains("of the person")
            .then_some(now)
    });
    has_words(&now["content"], &["of the person", ": better", "## C"]);
    let versions = history(&daemon, &project, "features");
    assert_eq!(versions[0]["conflicts"], json!(["A"]), "{versions:#?}");
    assert!(super::warns(&now, "of `A`"), "{now:#}");
    assert!(version(&daemon, &project, "features", number).contains("of the agent"));
    let reply = append_feature(&daemon, &project, &feature("D", "d"));
    assert!(super::warns(&reply, "of `A`"), "{reply:#}");
    assert!(
        super::warns(&get(&daemon, &project, "features"), "of `A`"),
        "it is still open"
    );
    let content = text(&get(&daemon, &project, "features")["content"]).to_owned();
    write(
        &daemon,
        &project,
        "features",
        &content.replace("of the person", "of both"),
    );
    assert_eq!(get(&daemon, &project, "features").get("warnings"), None);
    daemon.verify();
}
