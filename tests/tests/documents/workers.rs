//! Files are read in worker processes, confined and replaceable.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tests::{Daemon, home, until};

use super::{LIMIT, add, folder, listed, until_source};

const FILES: usize = 40;
const KILLS: usize = 2;
/// Limit on the memory of a worker before it reads a large file, in KiB.
const MEMORY_AT_START_MAX_KIB: usize = 128 << 10;

fn children(pid: &str) -> Vec<String> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let children = fs::read_to_string(path).unwrap_or_default();
    children.split_whitespace().map(str::to_owned).collect()
}

/// Lists the running workers: grandchildren of the daemon, through the process broker.
fn workers(daemon: &Daemon) -> Vec<String> {
    let brokers = children(&daemon.pid().to_string());
    let all = brokers.iter().flat_map(|broker| children(broker));
    let is_worker = |pid: &String| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.ends_with(b"\0ingest-worker\0")
    };
    all.filter(is_worker).collect()
}

fn reported(pid: &str, file: &str, field: &str) -> Option<String> {
    let text = fs::read_to_string(Path::new("/proc").join(pid).join(file)).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    Some(line.split_whitespace().next()?.to_owned())
}

/// A worker that is killed while it reads fails at most its file, which succeeds when it is tried again. Workers have
/// no rights and limited memory.
#[test]
fn a_killed_worker_fails_at_most_its_file() {
    let home = home!();
    let names: Vec<String> = (0..FILES).map(|number| format!("{number}.md")).collect();
    let text = "# Title\n\nOne sentence of a long page. ".repeat(300);
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*text)).collect();
    let path = folder(&home, &files);
    let daemon = home.start();
    add(&daemon, &path);
    let mut killed = Vec::new();
    until("some killed workers", LIMIT, || {
        for pid in workers(&daemon) {
            if killed.contains(&pid) || killed.len() == KILLS {
                continue;
            }
            // A worker that has just begun is not sealed yet.
            if reported(&pid, "status", "Seccomp:").as_deref() != Some("2") {
                continue;
            }
            assert_eq!(
                reported(&pid, "status", "NoNewPrivs:").as_deref(),
                Some("1")
            );
            assert_eq!(
                reported(&pid, "limits", "Max data size").as_deref(),
                Some("1073741824")
            );
            // Most of the limit is left for files.
            let data = reported(&pid, "status", "VmData:");
            let data: usize = data.map_or(0, |kib| kib.parse().unwrap());
            assert!(data < MEMORY_AT_START_MAX_KIB, "{data} KiB");
            let process = Pid::from_raw(pid.parse().unwrap()).unwrap();
            // It may have ended meanwhile.
            let _ = kill_process(process, Signal::KILL);
            killed.push(pid);
        }
        (killed.len() == KILLS || listed(&daemon)["documents"] == FILES).then_some(())
    });
    assert!(!killed.is_empty(), "no worker was seen");
    let number = |source: &serde_json::Value, field: &str| source[field].as_u64().unwrap() as usize;
    let done = until_source(&daemon, "every file", |source| {
        number(source, "documents") + number(source, "failed") == FILES
    });
    assert!(number(&done, "failed") <= killed.len(), "{done:#}");
    // A worker that was idle fails no file.
    for failure in done["failures"].as_array().into_iter().flatten() {
        let reason = failure["reason"].as_str().unwrap();
        assert!(reason.contains("worker process ended"), "{reason}");
    }
    daemon.call("rescan", json!({"retry": true}));
    until_source(&daemon, "every document", |source| {
        number(source, "documents") == FILES && number(source, "failed") == 0
    });
    daemon.stop();
}
