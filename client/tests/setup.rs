//! `lore setup` on sample config files of every host: changes, untouched parts, and exit codes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::home::{TestHome, backup};

/// Each host, its file below the home, and the samples for it.
const HOSTS: [(&str, &str, &[&str]); 8] = [
    (
        "claude-code",
        ".claude.json",
        &["claude-code.user.json", "claude-code.project.json"],
    ),
    (
        "codex",
        ".codex/config.toml",
        &["codex.config.toml", "codex.inline.toml"],
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        &["cursor.mcp.json", "cursor.line.json"],
    ),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        &["vscode.mcp.json", "vscode.inputs.json"],
    ),
    ("gemini", ".gemini/settings.json", &["gemini.settings.json"]),
    (
        "opencode",
        ".config/opencode/opencode.json",
        &[
            "opencode.bare.json",
            "opencode.user.jsonc",
            "opencode.second.jsonc",
        ],
    ),
    (
        "copilot",
        ".copilot/mcp-config.json",
        &["copilot.mcp-config.json"],
    ),
    ("qwen", ".qwen/settings.json", &["qwen.settings.json"]),
];

fn sample(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/setup");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Returns variants of a text: unchanged, with the line ends of another system, without the last line end,
/// with a byte order mark.
fn variants(text: &str) -> [String; 4] {
    [
        text.to_owned(),
        text.replace('\n', "\r\n"),
        text.trim_end().to_owned(),
        format!("\u{feff}{text}"),
    ]
}

/// For every variant of every sample the result is the expected text and the mode stays.
/// A second run changes nothing, and removing the entry restores the original bytes.
#[test]
fn samples_of_every_host_are_merged_and_mended() {
    for (host, below, samples) in HOSTS {
        for name in samples {
            let (before, with) = (sample(name), sample(&format!("{name}.with")));
            for (text, with) in variants(&before).into_iter().zip(variants(&with)) {
                let home = TestHome::new();
                let file = home.write(below, &text);
                fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();

                let (code, out, err) = home.setup(&[host]);
                assert_eq!((code, err.as_str()), (0, ""), "{name}: {out}");
                assert_eq!(fs::read_to_string(&file).unwrap(), with, "{name}");
                assert_eq!(fs::read_to_string(backup(&file)).unwrap(), text, "{name}");
                for kept in [&file, &backup(&file)] {
                    assert_eq!(fs::metadata(kept).unwrap().mode() & 0o777, 0o640, "{name}");
                }
                assert_eq!(home.files(), [file.clone(), backup(&file)], "{name}");

                let was = fs::metadata(&file).unwrap();
                let (code, out, _) = home.setup(&[host]);
                assert!(
                    code == 0 && out.contains("nothing changed"),
                    "{name}: {out}"
                );
                let is = fs::metadata(&file).unwrap();
                assert_eq!((was.ino(), was.mtime_nsec()), (is.ino(), is.mtime_nsec()));

                let (code, _, err) = home.setup(&[host, "--remove"]);
                assert_eq!((code, err.as_str()), (0, ""), "{name}");
                assert_eq!(fs::read_to_string(&file).unwrap(), text, "{name}");
                let (code, out, _) = home.setup(&[host, "--remove"]);
                assert!(
                    code == 0 && out.contains("nothing changed"),
                    "{name}: {out}"
                );
            }
        }
    }
}

/// A missing file is created for its owner alone and removed again. An empty file and a file with an empty object
/// are restored.
#[test]
fn files_that_say_nothing() {
    for (host, below, _) in HOSTS {
        let home = TestHome::new();
        let file = home.path(below);
        assert_eq!(home.setup(&[host]).0, 0);
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        let (_, print, _) = home.setup(&[host, "--print"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), print, "{host}");
        assert_eq!(
            home.files(),
            std::slice::from_ref(&file),
            "{host}: no backup of nothing"
        );
        let (code, out, _) = home.setup(&[host, "--remove"]);
        assert!(code == 0 && out.contains("is gone"), "{out}");
        assert_eq!(home.files(), [] as [PathBuf; 0]);

        let empty: &[&str] = match host {
            "codex" => &["", "\n", "# only this\n"],
            "claude-code" | "copilot" => &["", "\n", "{}", " { } \r\n"],
            _ => &["", "\n", "{}", "{\n  // only this\n}\n", "// only this\n"],
        };
        for text in empty {
            let home = TestHome::new();
            let file = home.write(below, text);
            let (code, _, err) = home.setup(&[host]);
            assert_eq!((code, err.as_str()), (0, ""), "{host} {text:?}");
            let with = fs::read_to_string(&file).unwrap();
            assert!(with.contains("lore") && with.contains("mcp"), "{with}");
            assert_eq!(with.contains("only this"), text.contains("only this"));
            assert_eq!(home.setup(&[host, "--remove"]).0, 0);
            assert_eq!(fs::read_to_string(&file).unwrap(), *text, "{host}");
        }
    }
}

/// Changes after the backup stay when the entry is removed, and so does the first backup.
#[test]
fn what_the_host_wrote_meanwhile_stays() {
    let home = TestHome::new();
    let file = home.write(".gemini/settings.json", "{\n  \"ui\": {}\n}\n");
    home.setup(&["gemini"]);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text.replace("\"ui\": {}", "\"ui\": {\"theme\": \"x\"}"),
    )
    .unwrap();
    assert_eq!(home.setup(&["gemini", "--remove"]).0, 0);
    let left = "{\n  \"ui\": {\"theme\": \"x\"},\n  \"mcpServers\": {}\n}\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), left);
    home.setup(&["gemini"]);
    let first = fs::read_to_string(backup(&file)).unwrap();
    assert_eq!(first, "{\n  \"ui\": {}\n}\n");

    let file = home.write(
        ".codex/config.toml",
        "a = 1\n\n# mine\n[mcp_servers.lore]\ncommand = \"lore\" # here\nargs = [\"mcp\"]\n\n[b]\n",
    );
    home.setup(&["codex", "--remove"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "a = 1\n\n# mine\n[b]\n");
}

/// If the previous content cannot be backed up, nothing is changed.
#[test]
fn without_a_backup_nothing_is_changed() {
    let home = TestHome::new();
    let text = "{\"mcpServers\": {}}\n";
    let file = home.write(".cursor/mcp.json", text);
    let refused = || {
        let (code, _, err) = home.setup(&["cursor"]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("mcp.json.lore-backup is not a file"), "{err}");
        assert!(err.contains("Nothing was changed"), "{err}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    };
    fs::create_dir(backup(&file)).unwrap();
    refused();
    fs::remove_dir(backup(&file)).unwrap();
    symlink(home.path("nowhere"), backup(&file)).unwrap();
    refused();
    fs::remove_file(backup(&file)).unwrap();
    assert_eq!(home.files(), [file], "nothing half there is left");
}

/// An existing entry of `lore` is changed only where necessary; the user's additions stay.
#[test]
fn an_entry_of_ours_is_mended() {
    let home = TestHome::new();
    let file = home.write(
        ".cursor/mcp.json",
        "{\n  \"mcpServers\": {\n    \"lore\": {\n      \"command\": \"/old/lore\", // mine\n      \
         \"args\": [\"mcp\"],\n      \"env\": {\"LORE_AGENT\": \"c\"}\n    }\n  }\n}\n",
    );
    let (code, out, _) = home.setup(&["cursor", "--tools", "full", "--agent", "cursor"]);
    assert!(code == 0 && out.contains("as it should be"), "{out}");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "{\n  \"mcpServers\": {\n    \"lore\": {\n      \"command\": \"lore\", // mine\n      \
         \"args\": [\"mcp\", \"--tools\", \"full\", \"--agent\", \"cursor\"],\n      \
         \"env\": {\"LORE_AGENT\": \"c\"}\n    }\n  }\n}\n"
    );

    let file = home.write(
        ".codex/config.toml",
        "[mcp_servers.lore]\ncommand = \"lore\" # here\nargs = [ \"mcp\", \"--tools\", \"x\" ] # so\n\
         env_vars = [\"X\"]\nenabled = false\n",
    );
    home.setup(&["codex"]);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "[mcp_servers.lore]\ncommand = \"lore\" # here\nargs = [\"mcp\"] # so\nenv_vars = [\"X\"]\n\
         enabled = false\n"
    );
}

/// Each broken file is refused with line and column and stays unchanged, as do foreign entries.
#[test]
fn broken_and_foreign_files_are_left_alone() {
    let deep = "[".repeat(100_000);
    let cases: [(&str, &str, &str, &str); 16] = [
        (
            "claude-code",
            ".claude.json",
            "{\n  \"a\": 1,\n}",
            "line 2, column 9",
        ),
        (
            "claude-code",
            ".claude.json",
            "{\n// x\n}",
            "line 2, column 1",
        ),
        ("claude-code", ".claude.json", "{} {}", "line 1, column 4"),
        ("claude-code", ".claude.json", &deep, "nesting depth"),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"a\": \"é\" \"b\": 1}",
            "line 1, column 10",
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            "[]",
            "line 1, column 1: an object",
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            "{\n \"mcpServers\": []}",
            "line 2, column 2",
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            "{\"mcpServers\": {}, \"mcpServers\": {}}",
            "column 20: `mcpServers` is defined a second time here",
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            "{\"mcpServers\": {\"lore\": 1,\n\"l\\u006fre\": 2}}",
            "line 2, column 1: `lore` is defined",
        ),
        (
            "opencode",
            ".config/opencode/opencode.json",
            "{'mcp': {}}",
            "line 1, column 2",
        ),
        (
            "codex",
            ".codex/config.toml",
            "a = 1\nb = ü\n",
            "line 2, column 5",
        ),
        (
            "codex",
            ".codex/config.toml",
            "a = 1\na = 2\n",
            "line 2, column 1",
        ),
        (
            "codex",
            ".codex/config.toml",
            &format!("a = {deep}"),
            "recurs",
        ),
        (
            "codex",
            ".codex/config.toml",
            "x = 1\nmcp_servers = 1\n",
            "line 2, column 15: `mcp_servers` should be a table",
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            r#"{"mcpServers": {"lore": {"command": "npx", "args": ["lore"]}}}"#,
            "an entry `lore` that runs `npx lore`",
        ),
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers.lore]\nurl = \"https://x\"\n",
            "an entry `lore` that is not a local program",
        ),
    ];
    for (host, below, text, reported) in cases {
        let home = TestHome::new();
        let file = home.write(below, text);
        for flag in ["--dry-run", "--remove"] {
            let (code, out, err) = home.setup(&[host, flag]);
            assert_eq!((code, out.as_str()), (1, ""), "{host} {err}");
            assert!(err.contains(reported), "{reported} is not in {err}");
            assert!(err.contains(file.to_str().unwrap()), "{err}");
        }
        assert_eq!(home.setup(&[host]).0, 1);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(home.files(), [file], "{host}");
    }
}

/// Problems are also reported in the JSON.
#[test]
fn programs_read_json() {
    let home = TestHome::new();
    let file = home.write(".cursor/mcp.json", "{\n  x\n}");
    let (code, out, _) = home.setup(&["cursor", "--json"]);
    let reported: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 1);
    assert_eq!(
        reported["error"]["details"],
        json!({"file": file, "line": 2, "column": 3})
    );

    fs::write(&file, "{}").unwrap();
    let run = |arguments: &[&str]| -> Value {
        let (code, out, _) = home.setup(&[&["cursor", "--json"], arguments].concat());
        assert_eq!(code, 0, "{out}");
        serde_json::from_str(&out).unwrap()
    };
    let printed = run(&["--print"]);
    assert_eq!(
        printed["entry"],
        json!({"command": "lore", "args": ["mcp"]})
    );
    let dry = run(&["--dry-run"]);
    assert_eq!(
        (&dry["changes"][0]["outcome"], &dry["dry_run"]),
        (&json!("added"), &json!(true))
    );
    assert!(
        dry["changes"][0]["diff"]
            .as_str()
            .unwrap()
            .contains("+    \"lore\": {"),
        "{dry}"
    );
    let done = run(&[]);
    assert_eq!(
        done,
        json!({
            "schema_version": 1, "host": "cursor", "dry_run": false, "changes": [{
                "file": file, "parts": ["server"], "outcome": "added", "backup": backup(&file),
            }],
        })
    );
    let outcome = |arguments: &[&str]| run(arguments)["changes"][0]["outcome"].clone();
    assert_eq!(outcome(&[]), "unchanged");
    assert_eq!(outcome(&["--tools", "full"]), "updated");
    assert_eq!(outcome(&["--remove"]), "removed");
    assert_eq!(outcome(&["--remove"]), "absent");
}

/// With --force a foreign entry is replaced or removed.
#[test]
fn force_is_for_entries_of_others() {
    let home = TestHome::new();
    let theirs = r#"{"mcpServers": {"lore": {"url": "https://x"}, "b": {}}}"#;
    let file = home.write(".cursor/mcp.json", theirs);
    let (code, out, _) = home.setup(&["cursor", "--force"]);
    assert!(code == 0 && out.contains("replaced another"), "{out}");
    let now: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(
        now,
        json!({"mcpServers": {"lore": {"command": "lore", "args": ["mcp"]}, "b": {}}})
    );
    fs::write(&file, theirs).unwrap();
    assert_eq!(home.setup(&["cursor", "--remove", "--force"]).0, 0);
    let now: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(now, json!({"mcpServers": {"b": {}}}));
    let file = home.write(
        ".codex/config.toml",
        "[mcp_servers.lore] # x\nurl = \"u\"\n[z]\n",
    );
    assert_eq!(home.setup(&["codex", "--force"]).0, 0);
    let now = fs::read_to_string(&file).unwrap();
    assert!(
        now.starts_with("[mcp_servers.lore] # x\ncommand = \"lore\"\n") && !now.contains("url"),
        "{now}"
    );
}

/// Dry runs and prints change nothing; the diff shows the changes that a run would make.
#[test]
fn dry_runs_change_nothing() {
    let home = TestHome::new();
    let text = sample("vscode.mcp.json");
    let long = format!("{{ \"long\": \"{}\" }},", "x".repeat(5000));
    let text = text.replace("\"inputs\": [\n", &format!("\"inputs\": [\n{long}\n"));
    let text = text.replace("\"servers\": {\n", &format!("\"servers\": {{\n// {long}\n"));
    let file = home.write(".config/Code/User/mcp.json", &text);
    let (code, diff, err) = home.setup(&["vscode", "--dry-run"]);
    assert_eq!((code, err.as_str()), (0, "lore: nothing was changed\n"));
    assert!(
        diff.starts_with(&format!("--- {0}\n+++ {0}\n@@ ", file.display())),
        "{diff}"
    );
    assert!(
        diff.contains("\n+            \"type\": \"stdio\",\n"),
        "{diff}"
    );
    assert!(
        diff.lines().all(|line| line.chars().count() <= 240),
        "{diff}"
    );
    let (_, print, _) = home.setup(&["vscode", "--print", "--tools", "steps,sessions"]);
    assert_eq!(
        print,
        "{\n  \"servers\": {\n    \"lore\": {\n      \"type\": \"stdio\",\n      \"command\": \"lore\",\n      \
         \"args\": [\"mcp\", \"--tools\", \"steps,sessions\"]\n    }\n  }\n}\n"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(home.files(), [file]);
}

/// A symbolic link stays and its target is changed; a dangling link is refused.
#[test]
fn links_are_followed() {
    let home = TestHome::new();
    let real = home.write("dotfiles/cursor.json", "{}\n");
    let link = home.path(".cursor/mcp.json");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink("../dotfiles/cursor.json", &link).unwrap();
    assert_eq!(home.setup(&["cursor"]).0, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("lore"));
    assert_eq!(home.files(), [link.clone(), real.clone(), backup(&real)]);

    fs::remove_file(&real).unwrap();
    let (code, _, err) = home.setup(&["cursor"]);
    assert!(code == 1 && err.contains("symbolic link"), "{err}");
    let folder = home.path(".gemini/settings.json");
    fs::create_dir_all(&folder).unwrap();
    let (code, _, err) = home.setup(&["gemini"]);
    assert!(code == 1 && err.contains("is not a file"), "{err}");
    let latin = home.path(".claude.json");
    fs::write(latin, b"{\"a\": \"\xe9\"}").unwrap();
    let (code, _, err) = home.setup(&["claude-code"]);
    assert!(code == 1 && err.contains("not UTF-8, from byte 7"), "{err}");
}

/// Each host's environment variables and the project's folder select the file.
#[test]
fn every_scope_has_its_file() {
    let home = TestHome::new();
    let at = |folder: &str| home.path(folder).to_str().unwrap().to_owned();
    for (host, variable, file) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", "other/.claude.json"),
        ("codex", "CODEX_HOME", "other/config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "other/.gemini/settings.json"),
        (
            "opencode",
            "XDG_CONFIG_HOME",
            "other/opencode/opencode.json",
        ),
    ] {
        let (code, _, err) = home.setup_with(&[(variable, &at("other"))], &[host]);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(home.path(file).is_file(), "{file}");
    }
    fs::create_dir(home.path("shop")).unwrap();
    for (host, file) in [
        ("claude-code", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", "opencode.json"),
        ("qwen", ".qwen/settings.json"),
    ] {
        let (code, out, _) = home.setup(&[host, "--project", &at("shop")]);
        assert!(code == 0 && home.path("shop").join(file).is_file(), "{out}");
    }
    let (code, _, err) = home.setup(&["cursor", "--project", &at("nowhere")]);
    assert!(code == 2 && err.contains("is not a folder"), "{err}");
    assert_eq!(home.setup(&["cursor", "--file", &at("a/b.json")]).0, 0);
    assert!(home.path("a/b.json").is_file());
    assert_eq!(home.setup(&["emacs"]).0, 2);
    let (code, _, err) = home.setup_with(&[("HOME", "")], &["cursor"]);
    assert!(code == 1 && err.contains("HOME is not set"), "{err}");
}

/// opencode reads two file names: the file with the entry is used, otherwise the one that exists.
#[test]
fn opencode_has_two_names() {
    let home = TestHome::new();
    let commented = home.write(".config/opencode/opencode.jsonc", "{}");
    assert_eq!(home.setup(&["opencode"]).0, 0);
    assert!(fs::read_to_string(&commented).unwrap().contains("lore"));
    let plain = home.write(".config/opencode/opencode.json", "{}");
    let (_, out, _) = home.setup(&["opencode"]);
    assert!(out.contains("nothing changed"), "{out}");
    assert_eq!(home.setup(&["opencode", "--remove"]).0, 0);
    assert_eq!(fs::read_to_string(&commented).unwrap(), "{}");
    assert_eq!(fs::read_to_string(&plain).unwrap(), "{}");
}

/// The page shows the entries that are printed, and its table the files that are created.
#[test]
fn the_page_is_true() {
    const PAGE: &str = include_str!("../../docs/setup.md");
    let home = TestHome::new();
    let of_user = |file: &str| home.path(file.trim_start_matches("~/"));
    for (host, below, _) in HOSTS {
        let chapter = PAGE.split_once(&format!("\n### {host}\n")).unwrap().1;
        let block = chapter.split("```").nth(1).unwrap();
        let (_, entry) = block.split_once('\n').unwrap();
        assert_eq!(home.setup(&[host, "--print"]).1, entry, "{host}");

        let row = PAGE
            .lines()
            .find(|line| line.starts_with(&format!("| `{host}` |")));
        let named: Vec<&str> = row.unwrap().split('`').skip(1).step_by(2).collect();
        assert_eq!(of_user(named[1]), home.path(below), "{host}");
        if host == "copilot" {
            // Its tools are the user's alone.
            continue;
        }
        let project = named.iter().rev().find(|name| **name != ".jsonc").unwrap();
        let folder = home.path(&format!("of-{host}"));
        fs::create_dir(&folder).unwrap();
        home.setup(&[host, "--project", folder.to_str().unwrap()]);
        assert!(folder.join(project).is_file(), "{project}");
    }
    assert_eq!(PAGE.matches("\n### ").count(), HOSTS.len());
}

/// If the program is not on PATH, or shadowed by another, it is named by its path; flags are included.
#[test]
fn the_program_is_named_so_that_it_is_found() {
    let home = TestHome::new();
    let program = env!("CARGO_BIN_EXE_lore");
    let run = |path: &str, arguments: &[&str]| -> Value {
        let arguments = [&["opencode", "--print", "--json"], arguments].concat();
        let (code, out, err) = home.setup_with(&[("PATH", path)], &arguments);
        assert_eq!((code, err.as_str()), (0, ""));
        let reported: Value = serde_json::from_str(&out).unwrap();
        reported["entry"]["command"].clone()
    };
    assert_eq!(run("", &[]), json!([program, "mcp"]));
    let other = home.write("bin/lore", "#!/bin/sh\n");
    let folders = |first: &Path, second: &Path| {
        format!(
            "{}:{}",
            first.parent().unwrap().display(),
            second.parent().unwrap().display()
        )
    };
    let program_path = Path::new(program);
    assert_eq!(
        run(&folders(&other, program_path), &[]),
        json!([program, "mcp"])
    );
    assert_eq!(
        run(&folders(program_path, &other), &[]),
        json!(["lore", "mcp"])
    );
    let flags = ["--session", "s1", "--agent", "a b", "--socket", "/s/k"];
    assert_eq!(
        run(&folders(program_path, &other), &flags),
        json!([
            "lore",
            "mcp",
            "--agent",
            "a b",
            "--session",
            "s1",
            "--socket",
            "/s/k"
        ])
    );
}
