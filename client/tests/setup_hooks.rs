//! `lore setup` with hooks, permissions, plugin and instructions: what is added, what stays, and what `--remove` leaves.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use support::home::{TestHome, backup};

/// Each host, with the file of its hooks below a home and below a project.
const HOSTS: [(&str, &str, &str); 7] = [
    (
        "claude-code",
        ".claude/settings.json",
        ".claude/settings.json",
    ),
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json", ".qwen/settings.json"),
    (
        "copilot",
        ".copilot/hooks/lore.json",
        ".github/hooks/lore.json",
    ),
    ("cursor", ".cursor/hooks.json", ".cursor/hooks.json"),
    (
        "opencode",
        ".config/opencode/plugin/lore.js",
        ".opencode/plugin/lore.js",
    ),
];

/// A user's file with hooks, in Claude Code's form.
const CLAUDE: &str = r#"{
  "model": "opus",
  "permissions": { "allow": ["Bash(npm test:*)"] },
  "hooks": {
    "Stop": [
      { "matcher": "", "hooks": [{ "type": "command", "command": "notify-send done" }] }
    ]
  }
}
"#;

impl Snapshot {
    fn of(home: &TestHome) -> Self {
        let files = home.files().into_iter();
        let files = files.filter(|file| !file.to_str().unwrap().ends_with(".lore-backup"));
        Self(
            files
                .map(|file| (file.clone(), fs::read(file).unwrap()))
                .collect(),
        )
    }
}

/// All files of a home but for the backups.
#[derive(Debug, PartialEq, Eq)]
struct Snapshot(BTreeMap<PathBuf, Vec<u8>>);

fn read(path: &std::path::Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn claude_code_gets_hooks_and_the_permission() {
    let home = TestHome::new();
    let file = home.write(".claude/settings.json", CLAUDE);
    let before = Snapshot::of(&home);
    let (code, out, err) = home.setup_all(&["claude-code"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        out.contains("settings.json has lore now: 17 hooks, the permission `mcp__lore`"),
        "{out}"
    );
    assert!(out.contains(".claude.json has lore now\n"), "{out}");
    let text = fs::read_to_string(&file).unwrap();
    let now = read(&file);
    assert!(text.starts_with("{\n  \"model\": \"opus\",\n"), "{text}");
    assert!(
        text.contains(
            r#"{ "matcher": "", "hooks": [{ "type": "command", "command": "notify-send done" }] }"#
        ),
        "{text}"
    );
    assert_eq!(
        now["permissions"]["allow"],
        json!(["Bash(npm test:*)", "mcp__lore"])
    );
    let ours =
        json!({"hooks": [{"type": "command", "command": "lore hook claude-code", "timeout": 5}]});
    assert_eq!(now["hooks"]["Stop"][1], ours);
    assert_eq!(now["hooks"]["PreToolUse"], json!([ours]));
    assert_eq!(fs::read_to_string(backup(&file)).unwrap(), CLAUDE);

    let (_, out, _) = home.setup_all(&["claude-code"]);
    assert_eq!(out.matches("nothing changed").count(), 2, "{out}");
    // The host writes the file in its own form, and a person adds a hook to our group.
    let mut edited = now;
    edited["theme"] = json!("dark");
    let group = edited["hooks"]["PreToolUse"][0]["hooks"]
        .as_array_mut()
        .unwrap();
    group.push(json!({"type": "command", "command": "mine"}));
    fs::write(&file, edited.to_string()).unwrap();
    assert_eq!(home.setup_all(&["claude-code", "--remove"]).0, 0);
    let mut left: Value = serde_json::from_str(CLAUDE).unwrap();
    left["theme"] = json!("dark");
    left["hooks"]["PreToolUse"] = json!([{"hooks": [{"type": "command", "command": "mine"}]}]);
    assert_eq!(read(&file), left);

    fs::write(&file, CLAUDE).unwrap();
    home.setup_all(&["claude-code"]);
    assert_eq!(home.setup_all(&["claude-code", "--remove"]).0, 0);
    assert_eq!(Snapshot::of(&home), before);
}

/// For each host: what is made is taken away, in a home with nothing, with other hooks, and in a project.
#[test]
fn removal_leaves_no_trace() {
    for (host, user, project) in HOSTS {
        let home = TestHome::new();
        let (code, out, err) = home.setup_all(&[host]);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        let text = fs::read_to_string(home.path(user)).unwrap();
        assert!(
            text.contains(&format!("lore hook {host}")) || host == "opencode",
            "{text}"
        );
        let again = Snapshot::of(&home);
        assert_eq!(home.setup_all(&[host]).0, 0);
        assert_eq!(Snapshot::of(&home), again, "{host}");
        assert_eq!(home.setup_all(&[host, "--remove"]).0, 0);
        assert_eq!(home.files(), [] as [PathBuf; 0], "{host}");

        let shop = home.path("shop");
        fs::create_dir(&shop).unwrap();
        let shop = shop.to_str().unwrap();
        let (code, out, err) = home.setup_all(&[host, "--project", shop, "--instructions"]);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        assert!(home.path("shop").join(project).is_file(), "{host}");
        assert_eq!(home.setup_all(&[host, "--project", shop, "--remove"]).0, 0);
        assert_eq!(home.files(), [] as [PathBuf; 0], "{host}");
    }
}

/// Hooks of others, comments and the order stay, byte for byte after the removal.
#[test]
fn hooks_of_others_stay() {
    for (host, below, text) in [
        (
            "claude-code",
            ".claude/settings.json",
            CLAUDE.replace('\n', "\r\n"),
        ),
        (
            "codex",
            ".codex/hooks.json",
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}"#.to_owned(),
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "{\n\t// mine\n\t\"hooks\": {\n\t\t\"AfterTool\": [] // none\n\t}\n}".to_owned(),
        ),
        (
            "qwen",
            ".qwen/settings.json",
            "{ \"mcpServers\": {}, /* all */ \"hooks\": {} }\n".to_owned(),
        ),
        (
            "cursor",
            ".cursor/hooks.json",
            "{\n  \"version\": 1,\n  \"hooks\": { \"stop\": [{ \"command\": \"./a.sh\" }] }\n}\n"
                .to_owned(),
        ),
    ] {
        let home = TestHome::new();
        let file = home.write(below, &text);
        let before = Snapshot::of(&home);
        let (code, _, err) = home.setup_all(&[host]);
        assert_eq!((code, err.as_str()), (0, ""), "{host}");
        let with = fs::read_to_string(&file).unwrap();
        for kept in [
            "// mine",
            "// none",
            "/* all */",
            "./a.sh",
            "notify-send done",
        ] {
            assert_eq!(with.contains(kept), text.contains(kept), "{with}");
        }
        assert_eq!(home.setup_all(&[host, "--remove"]).0, 0);
        assert_eq!(Snapshot::of(&home), before, "{host}");
    }
}

/// A file that cannot be changed leaves the other files of the host unchanged, too.
#[test]
fn all_files_of_a_host_are_changed_or_none() {
    for (host, below, text, reported) in [
        (
            "claude-code",
            ".claude/settings.json",
            "{ \"hooks\": [] }",
            "`hooks` should be an object",
        ),
        (
            "claude-code",
            ".claude/settings.json",
            "{ \"hooks\": {\"Stop\": 1} }",
            "`Stop` should be a list",
        ),
        (
            "claude-code",
            ".claude/settings.json",
            "{\"permissions\": {\"allow\": {}}}",
            "`allow` should be a list",
        ),
        (
            "claude-code",
            ".claude/settings.json",
            "{ // c\n}",
            "line 1, column 3",
        ),
        (
            "opencode",
            ".config/opencode/plugin/lore.js",
            "export const mine = 1\n",
            "is not lore's plugin",
        ),
        (
            "codex",
            ".codex/hooks.json",
            "[]",
            "an object should stand here",
        ),
    ] {
        let home = TestHome::new();
        home.write(below, text);
        let before = Snapshot::of(&home);
        let (code, out, err) = home.setup_all(&[host]);
        assert_eq!((code, out.as_str()), (1, ""), "{host}");
        assert!(err.contains(reported), "{reported} is not in {err}");
        assert_eq!(Snapshot::of(&home), before);
    }
    let home = TestHome::new();
    let mine = home.write(".config/opencode/plugin/lore.js", "export const mine = 1\n");
    assert_eq!(home.setup_all(&["opencode", "--force"]).0, 0);
    assert!(fs::read_to_string(&mine).unwrap().starts_with("// lore: "));
    assert_eq!(home.setup_all(&["opencode", "--remove"]).0, 0);
    assert_eq!(
        fs::read_to_string(&mine).unwrap(),
        "export const mine = 1\n"
    );
}

/// A hook that is there is never changed, because Codex trusts it as it is; a missing one is appended.
#[test]
fn present_hooks_are_never_changed() {
    let home = TestHome::new();
    let file = home.path(".codex/hooks.json");
    home.setup_all(&["codex"]);
    let mut now = read(&file);
    now["hooks"]["Stop"][0]["hooks"][0]["timeout"] = json!(60);
    now["hooks"]
        .as_object_mut()
        .unwrap()
        .shift_remove("SessionEnd");
    now["hooks"]["PreCompact"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"hooks": []}));
    fs::write(&file, now.to_string()).unwrap();
    let (_, out, _) = home.setup_all(&["codex"]);
    assert!(out.contains("as it should be now: 12 hooks"), "{out}");
    assert!(out.contains("skips hooks that were not reviewed"), "{out}");
    let after = read(&file);
    assert_eq!(after["hooks"]["Stop"], now["hooks"]["Stop"]);
    assert_eq!(after["hooks"]["PreCompact"], now["hooks"]["PreCompact"]);
    assert_eq!(after["hooks"]["SessionEnd"].as_array().unwrap().len(), 1);
}

#[test]
fn dry_runs_show_all_files() {
    let home = TestHome::new();
    home.write(".claude/settings.json", CLAUDE);
    let before = Snapshot::of(&home);
    let (code, diff, err) = home.setup_all(&["claude-code", "--dry-run", "--instructions"]);
    assert_eq!((code, err.as_str()), (0, "lore: nothing was changed\n"));
    for part in [
        ".claude.json\n",
        "settings.json\n",
        "CLAUDE.md\n",
        "+  \"mcpServers\"",
        "mcp__lore",
        "+<!-- lore",
    ] {
        assert!(diff.contains(part), "{part} is not in {diff}");
    }
    assert_eq!(Snapshot::of(&home), before);
}

/// The lines for the model go into the file of the host, after what is there.
#[test]
fn instructions_are_between_markers() {
    for (host, user, project) in [
        ("claude-code", ".claude/CLAUDE.md", "CLAUDE.md"),
        ("codex", ".codex/AGENTS.md", "AGENTS.md"),
        ("gemini", ".gemini/GEMINI.md", "GEMINI.md"),
        ("qwen", ".qwen/QWEN.md", "QWEN.md"),
        ("opencode", ".config/opencode/AGENTS.md", "AGENTS.md"),
        ("copilot", ".copilot/copilot-instructions.md", "AGENTS.md"),
    ] {
        let home = TestHome::new();
        let file = home.write(user, "# Rules\n\nUse tabs.");
        home.setup_all(&[host, "--instructions"]);
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with("# Rules\n\nUse tabs.\n\n<!-- lore"),
            "{text}"
        );
        assert_eq!(text.matches("lore search").count(), 1);
        home.setup_all(&[host, "--remove"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "# Rules\n\nUse tabs.");
        fs::create_dir(home.path("shop")).unwrap();
        let shop = home.path("shop");
        home.setup_all(&[host, "--instructions", "--project", shop.to_str().unwrap()]);
        assert!(shop.join(project).is_file(), "{host}");
    }
}

/// Hosts are found by their folders and their programs; one that cannot be set up does not stop the others.
#[test]
fn all_installed_hosts_are_set_up() {
    let home = TestHome::new();
    let (code, _, err) = home.setup_all(&["--all"]);
    assert_eq!(code, 1);
    assert!(err.contains("no host is installed"), "{err}");
    home.write(".claude/settings.json", "{}");
    home.write(".gemini/settings.json", "{ broken");
    home.write("bin/codex", "");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_lore"));
    let path = format!(
        "{}:{}",
        home.path("bin").display(),
        program.parent().unwrap().display()
    );
    let all = |arguments: &[&str]| {
        let arguments = [&["--all", "--json"], arguments].concat();
        let (code, out, _) = home.setup_with(&[("PATH", &path)], &arguments);
        (code, serde_json::from_str::<Value>(&out).unwrap())
    };
    let (code, reported) = all(&[]);
    assert_eq!(code, 1);
    let hosts = reported["hosts"].as_array().unwrap();
    let names: Vec<&str> = hosts
        .iter()
        .map(|host| host["host"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["claude-code", "codex"]);
    assert_eq!(
        hosts[0]["changes"][1]["parts"],
        json!(["hooks", "permission"])
    );
    assert_eq!(reported["failures"][0]["host"], "gemini");
    home.write(".gemini/settings.json", "{}");
    let (code, reported) = all(&["--remove"]);
    assert_eq!(code, 0, "{reported}");
    assert_eq!(
        fs::read_to_string(home.path(".claude/settings.json")).unwrap(),
        "{}"
    );
    assert_eq!(home.setup_all(&[]).0, 2);
    assert_eq!(home.setup_all(&["codex", "--all"]).0, 2);
}

/// Hooks run `lore`: where PATH does not find it, that is said.
#[test]
fn a_program_that_hosts_do_not_find_is_reported() {
    let home = TestHome::new();
    let (code, out, _) = home.setup_with(&[("PATH", "/nonexistent")], &["claude-code"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("its hooks run `lore`, and PATH has none"),
        "{out}"
    );
    let (_, out, _) = home.setup_with(&[("PATH", "/nonexistent")], &["claude-code", "--no-hooks"]);
    assert!(!out.contains("its hooks"), "{out}");
    // There a hook that is not found denies the tool.
    let before = Snapshot::of(&home);
    let (code, _, err) = home.setup_with(&[("PATH", "/nonexistent")], &["copilot"]);
    assert_eq!(code, 1);
    assert!(
        err.contains("denies every tool") && err.contains("--no-hooks"),
        "{err}"
    );
    assert_eq!(Snapshot::of(&home), before);
}

/// Variables that move a host's folder move its hooks.
#[test]
fn every_variable_moves_the_hooks() {
    let home = TestHome::new();
    let other = home.path("other");
    for (host, variable, file) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugin/lore.js"),
    ] {
        let (code, _, err) = home.setup_with(&[(variable, other.to_str().unwrap())], &[host]);
        assert_eq!(code, 0, "{err}");
        assert!(
            fs::read_to_string(other.join(file))
                .unwrap()
                .contains("hook"),
            "{host}"
        );
    }
    assert!(home.files().iter().all(|file| file.starts_with(&other)));
}

/// `lore doctor` says for each installed host what it has, and what helps.
#[test]
fn doctor_reports_each_host() {
    let home = TestHome::new();
    home.write(".gemini/settings.json", "{}");
    home.write(".cursor/hooks.json", "{ broken");
    let host = |name: &str| {
        let reported = home.doctor();
        let mut findings = reported["findings"].as_array().unwrap().iter();
        let check = format!("host {name}");
        let finding = findings.rfind(|finding| finding["check"] == check);
        let text =
            |finding: &Value, field: &str| finding[field].as_str().unwrap_or_default().to_owned();
        finding.map(|finding| ["state", "seen", "remedy"].map(|field| text(finding, field)))
    };
    assert_eq!(host("qwen"), None);
    let [state, seen, _] = host("gemini").unwrap();
    assert!(
        state == "good" && seen.contains("`lore setup gemini`"),
        "{seen}"
    );
    let [state, seen, _] = host("cursor").unwrap();
    assert!(
        state == "warning" && seen.contains("hooks.json, line 1"),
        "{seen}"
    );
    home.setup(&["gemini"]);
    let [state, seen, remedy] = host("gemini").unwrap();
    assert!(
        state == "warning" && seen == "it has the tools, and lacks 8 hooks",
        "{seen}"
    );
    assert_eq!(remedy, "`lore setup gemini` adds it.");
    home.setup_all(&["gemini"]);
    let [state, seen, _] = host("gemini").unwrap();
    assert_eq!(
        (state.as_str(), seen.as_str()),
        ("good", "the tools, 8 hooks")
    );
    // A Codex that cannot be asked.
    home.setup_all(&["codex"]);
    let [state, seen, _] = host("codex").unwrap();
    assert!(state == "good" && seen.contains("is unknown"), "{seen}");
}

/// The plugins have the hooks of the table, and are written only over what is the same.
#[test]
fn plugins_are_made_from_the_same_table() {
    let home = TestHome::new();
    home.setup_all(&["claude-code"]);
    let hooks = read(&home.path(".claude/settings.json"))["hooks"].clone();
    let (code, out, err) = home.plugin("claude-code", "claude", &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out.lines().count(), 5, "{out}");
    assert_eq!(read(&home.path("claude/hooks/hooks.json"))["hooks"], hooks);
    let server = json!({"lore": {"type": "stdio", "command": "lore", "args": ["mcp"]}});
    assert_eq!(read(&home.path("claude/.mcp.json"))["mcpServers"], server);
    assert_eq!(
        read(&home.path("claude/.claude-plugin/plugin.json"))["name"],
        "lore"
    );
    let market = read(&home.path("claude/.claude-plugin/marketplace.json"));
    assert_eq!(market["plugins"][0]["source"], "./");

    home.plugin("agent-plugins", "agents", &[]);
    let manifest = read(&home.path("agents/plugin.json"));
    assert_eq!(
        manifest["$schema"],
        "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
    );
    let fields: Vec<&String> = manifest.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["$schema", "name", "version", "description"]);
    assert_eq!(read(&home.path("agents/mcp.json"))["mcpServers"], server);
    let skill = fs::read_to_string(home.path("agents/skills/lore/SKILL.md")).unwrap();
    assert!(
        skill.starts_with("---\nname: lore\ndescription: "),
        "{skill}"
    );
    // A second colon would end the text: the lines above are YAML.
    let front = skill.split("---\n").nth(1).unwrap();
    assert!(
        front.lines().all(|line| line.matches(": ").count() == 1),
        "{front}"
    );

    let (code, out, _) = home.plugin("claude-code", "claude", &[]);
    assert_eq!((code, out.as_str()), (0, ""));
    home.write("claude/.mcp.json", "{}");
    let (code, _, err) = home.plugin("claude-code", "claude", &[]);
    assert!(code == 2 && err.contains("--force"), "{err}");
    assert_eq!(
        fs::read_to_string(home.path("claude/.mcp.json")).unwrap(),
        "{}"
    );
    assert_eq!(home.plugin("claude-code", "claude", &["--force"]).0, 0);
    assert_eq!(read(&home.path("claude/.mcp.json"))["mcpServers"], server);
}
