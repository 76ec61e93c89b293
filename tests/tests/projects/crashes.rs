//! kill -9 during writes by agents and manual edits: acknowledged writes exist, and log and files agree afterwards.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;
use tests::{Random, call, home, seed, until};

use super::{LIMIT, get, history, init, path_of, text_or_empty, version};

const FILE: &str = "session_summary";

/// Agents add entries to two projects during manual edits, and the daemon is killed four times. Every acknowledged
/// entry is in a version, version numbers have no gaps, and each file equals its newest version.
#[test]
fn log_and_files_agree_after_a_kill() {
    let seed = seed();
    println!("LORE_SEED={seed}");
    let mut random = Random::new(seed);
    let home = home!();
    let mut answered: Vec<(usize, String)> = Vec::new();
    let mut daemon = home.start();
    let projects = ["one", "two"].map(|name| init(&home, &daemon, name));
    for round in 0..4 {
        let is_over = AtomicBool::new(false);
        let kill_after = random.range(5, 16);
        let reported = thread::scope(|scope| {
            let (projects, is_over, daemon) = (&projects, &is_over, &daemon);
            let agents = ["ada", "bob"].map(|agent| {
                scope.spawn(move || {
                    let mut reported = Vec::new();
                    let mut connection = daemon.connect(agent);
                    for number in 0.. {
                        let (at, line) = (number % 2, format!("{agent}-{round}-{number}"));
                        let entry = format!("## 2025-03-01: {line}\n\n### Added\n\n- {line}\n");
                        let args =
                            json!({"project_id": projects[at], "file_type": FILE, "entry": entry});
                        match call(&mut connection, "append_context", args) {
                            Ok(reply) => {
                                assert_eq!(reply["success"], true, "{reply:#}");
                                reported.push((at, line));
                            }
                            Err(_) => break,
                        }
                        if reported.len() as u64 == kill_after {
                            // SIGKILL while the other agent's calls are in flight.
                            daemon.signal(rustix::process::Signal::KILL);
                        }
                    }
                    reported
                })
            });
            let path = path_of(&home, &projects[0], FILE);
            scope.spawn(move || {
                let mut own = String::new();
                // One edit after each change by others, so that the agents have a turn however fast the disk is.
                let next = |own: &str| {
                    until("a change of the file, or the end", LIMIT, || {
                        if is_over.load(Ordering::SeqCst) {
                            return Some(None);
                        }
                        let content = fs::read_to_string(&path).ok()?;
                        let is_new = content.contains("## ") && content != own;
                        is_new.then_some(Some(content))
                    })
                };
                while let Some(content) = next(&own) {
                    own = content.replacen("\n\n", "\n\nEdited.\n\n", 1);
                    let new = path.with_file_name("new");
                    fs::write(&new, &own).unwrap();
                    fs::rename(new, &path).unwrap();
                }
            });
            let reported: Vec<(usize, String)> = agents
                .into_iter()
                .flat_map(|agent| agent.join().unwrap())
                .collect();
            is_over.store(true, Ordering::SeqCst);
            reported
        });
        answered.extend(reported);
        assert!(daemon.wait().status.code().is_none(), "it was killed");
        daemon = home.start();
        for project in &projects {
            let path = path_of(&home, project, FILE);
            until("disk and log to agree", LIMIT, || {
                let now = get(&daemon, project, FILE);
                let there = fs::read_to_string(&path).unwrap_or_default();
                (there == text_or_empty(&now["content"])).then_some(())
            });
        }
        daemon.verify();
    }
    assert!(answered.len() >= 4 * 5, "{answered:?}");
    for (at, project) in projects.iter().enumerate() {
        let versions = history(&daemon, project, FILE);
        let numbers: Vec<u64> = versions
            .iter()
            .map(|one| one["version"].as_u64().unwrap())
            .collect();
        let whole: Vec<u64> = (1..=versions.len() as u64).rev().collect();
        assert_eq!(numbers, whole);
        let contents: Vec<String> = numbers
            .iter()
            .map(|number| version(&daemon, project, FILE, *number))
            .collect();
        for (_, line) in answered.iter().filter(|(of, _)| *of == at) {
            let line = format!("- {line}\n");
            assert!(
                contents.iter().any(|content| content.contains(&line)),
                "{line}"
            );
        }
        let folder = fs::read_dir(path_of(&home, project, FILE).parent().unwrap()).unwrap();
        let left = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<String> = left.filter(|name| name.starts_with('.')).collect();
        assert!(
            left.is_empty(),
            "nothing is left beside the files: {left:?}"
        );
    }
}
