//! Files with arbitrary content: foreign content stays, our entry is added and removed.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::edit::{self, FileLayout};
use super::entry::{Entry, InstallState};
use super::file::{self, Change};
use super::host::Host;
use super::host_files::Target;
use super::part::Part;
use super::plan::{self, Outcome, Plan};

const HOSTS: [Host; 8] = Host::ALL;

fn server(host: Host) -> [Part; 1] {
    [Part::Server(host.shape(), entry(host))]
}

fn entry(host: Host) -> Entry {
    host.entry(
        "/opt/it's \"here\"/lore".into(),
        vec!["mcp".into(), "--agent".into(), "ü".into()],
    )
}

/// Arbitrary JSON objects, with members that hosts use and others.
fn objects() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let values = leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((any::<String>(), inner), 0..5).prop_map(|pairs| pairs.into_iter().collect()),
        ]
    });
    let servers = vec(("[a-z]{0,6}", values.clone()), 0..4);
    let rest = vec((any::<String>(), values), 0..5);
    (rest, proptest::option::of(servers), any::<bool>()).prop_map(|(rest, servers, is_first)| {
        let names = ["mcpServers", "servers", "mcp"];
        let servers = servers.map(|servers| servers.into_iter().collect::<Value>());
        let servers = names.map(|name| Some((name.to_owned(), servers.clone()?)));
        let servers = servers.into_iter().flatten();
        let is_other = |(name, _): &(String, Value)| !names.contains(&name.as_str());
        let rest = rest.into_iter().filter(is_other);
        let members: Map<_, _> = match is_first {
            true => servers.chain(rest).collect(),
            false => rest.chain(servers).collect(),
        };
        Value::Object(members)
    })
}

/// Formats the value on one line, or on several lines with this indentation.
fn written(value: &Value, indent: Option<&str>) -> String {
    let Some(indent) = indent else {
        return value.to_string();
    };
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    serde::Serialize::serialize(value, &mut serializer).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the names on the path to the entries, as in the text.
fn container(host: Host, value: &Value) -> Vec<&'static str> {
    let FileLayout::Json(shape) = host.shape() else {
        return vec![];
    };
    let inner = shape.inner.filter(|inner| {
        let inner = &value[shape.container][inner];
        inner.is_object() && !inner["type"].is_string()
    });
    [shape.container].into_iter().chain(inner).collect()
}

proptest! {
    /// Every member retains its value and order, and our entry is the last server. Both ways of removal yield the
    /// same text or the same value.
    #[test]
    fn any_json_is_kept(value in objects(), indent in prop_oneof![Just(None), Just(Some("  ")), Just(Some("\t")), Just(Some(""))], ends in any::<bool>()) {
        for host in HOSTS.into_iter().filter(|host| *host != Host::Codex) {
            let entry = entry(host);
            let mut text = written(&value, indent);
            if ends {
                text = text.replace('\n', "\r\n") + "\r\n";
            }
            let path = container(host, &value);
            let Plan::Write(with, outcome) = plan::put(&server(host), Some(&text), false).unwrap() else {
                panic!("nothing happened to {text}");
            };
            prop_assert_eq!(outcome, Outcome::Added);
            let mut wanted = value.clone();
            let mut place = &mut wanted;
            for name in &path {
                place = place.as_object_mut().unwrap().entry(*name).or_insert_with(|| json!({}));
            }
            place["lore"] = entry.json();
            let read: Value = serde_json::from_str(&with).unwrap();
            prop_assert_eq!(read.to_string(), wanted.to_string(), "in {}", with);
            prop_assert_eq!(
                plan::put(&server(host), Some(&with), false).unwrap(),
                Plan::Keep(Outcome::Unchanged)
            );

            let back = plan::remove(&server(host), Some(&with), Some(&text), false);
            prop_assert_eq!(back.unwrap(), Plan::Write(text.clone(), Outcome::Removed));
            let left: Value = serde_json::from_str(&edit::remove(host.shape(), &with).unwrap()).unwrap();
            let mut wanted = value.clone();
            if wanted.get(path[0]).is_none() {
                wanted[path[0]] = json!({});
            }
            prop_assert_eq!(left.to_string(), wanted.to_string());
        }
    }

    /// Hooks, the rule and the entry come after what is there, and go again without a trace.
    #[test]
    fn hooks_of_others_are_kept(
        value in objects(),
        others in vec(("(Stop|SessionStart|BeforeTool|stop)", "[a-z ]{1,12}"), 0..4),
        rules in proptest::option::of(vec("[a-z_(:*)]{0,9}", 0..3)),
        indent in prop_oneof![Just(None), Just(Some("  ")), Just(Some("\t"))],
    ) {
        for host in HOSTS {
            let Some(Target { mut parts, .. }) = host.hooks_target(None, &|_| Some("/home/me".into())) else {
                continue;
            };
            if matches!(parts[0], Part::Plugin(_)) {
                continue;
            }
            if host == Host::Gemini {
                parts.insert(0, Part::Server(host.shape(), entry(host)));
            }
            let mut value = value.clone();
            for name in ["hooks", "permissions", "version"] {
                value.as_object_mut().unwrap().shift_remove(name);
            }
            for (event, command) in &others {
                let group = match host {
                    Host::Cursor | Host::Copilot => json!({"command": command}),
                    _ => json!({"matcher": "x", "hooks": [{"type": "command", "command": command}]}),
                };
                let hooks = value.as_object_mut().unwrap().entry("hooks").or_insert_with(|| json!({}));
                let list = hooks.as_object_mut().unwrap().entry(event.clone()).or_insert_with(|| json!([]));
                list.as_array_mut().unwrap().push(group);
            }
            if let Some(rules) = &rules {
                value["permissions"] = json!({"allow": rules, "deny": ["x"]});
            }
            let text = written(&value, indent);
            let Plan::Write(with, _) = plan::put(&parts, Some(&text), false).unwrap() else {
                panic!("nothing happened to {text}");
            };
            let read: Value = serde_json::from_str(&with).unwrap();
            for (event, list) in value["hooks"].as_object().into_iter().flatten() {
                let now = read["hooks"][event].as_array().unwrap();
                prop_assert_eq!(&now[..list.as_array().unwrap().len()], &list.as_array().unwrap()[..], "{}", with);
            }
            for entry in host.hook_setup().unwrap().entries {
                let list = read["hooks"][entry.event].to_string();
                prop_assert_eq!(list.matches(&format!("\"{}\"", entry.command)).count(), 1, "{}", list);
            }
            prop_assert_eq!(plan::put(&parts, Some(&with), false).unwrap(), Plan::Keep(Outcome::Unchanged));

            let back = plan::remove(&parts, Some(&with), Some(&text), false).unwrap();
            prop_assert_eq!(back, Plan::Write(text.clone(), Outcome::Removed));
            // Also after the host has written the file in its own form.
            let own_form = written(&read, Some(" "));
            let Plan::Write(left, _) = plan::remove(&parts, Some(&own_form), Some(&text), false).unwrap() else {
                panic!("nothing is left of {own_form}");
            };
            let mut left: Value = serde_json::from_str(&left).unwrap();
            let left = left.as_object_mut().unwrap();
            left.shift_remove("version");
            for name in ["mcpServers"] {
                if value.get(name).is_none() {
                    left.shift_remove(name);
                }
            }
            if rules.as_ref().is_none_or(Vec::is_empty) {
                // An empty list of rules goes with the last rule.
                left.shift_remove("permissions");
                value.as_object_mut().unwrap().shift_remove("permissions");
            }
            prop_assert_eq!(&Value::Object(left.clone()), &value);
        }
    }

    /// No text makes an editor panic, and no edit loses content.
    #[test]
    fn any_text_is_edited_or_refused(text in "([\\[\\]{}\",:=.#/*\\\\ \\r\\n']|lore|mcp|mcpServers|mcp_servers|servers|hooks|Stop|permissions|allow|mcp__lore|true|1|é|\u{feff}){0,40}") {
        for host in HOSTS {
            let entry = entry(host);
            if let Ok(Plan::Write(with, _)) = plan::put(&server(host), Some(&text), true) {
                let present = edit::find(host.shape(), &with).unwrap().unwrap();
                prop_assert_eq!(entry.compare(&present), InstallState::Same, "{:?} from {:?}", with, text);
                let left = edit::remove(host.shape(), &with).unwrap();
                prop_assert!(edit::find(host.shape(), &left).unwrap().is_none());
            }
            let parts = host.hooks_target(None, &|_| Some("/home/me".into()));
            for part in parts.into_iter().flat_map(|target| target.parts) {
                if let Ok(with) = part.put(&text, true) {
                    prop_assert_eq!(part.find(&with).unwrap(), Some(InstallState::Same), "{:?} from {:?}", with, text);
                    let left = part.remove(&with).unwrap();
                    prop_assert!(part.find(&left).unwrap().is_none(), "{:?} from {:?}", left, text);
                }
            }
        }
    }

    /// Tables of any kind retain their comments line by line.
    #[test]
    fn any_toml_is_kept(lines in vec(prop_oneof![
        Just("# note"), Just(""), Just("[mcp_servers.a]"), Just("[mcp_servers.b.env]"), Just("[mcp_servers]"),
        Just("[[hooks]]"), Just("[projects.\"/x\"] # why"), Just("  k = [ 1,  2 ]"), Just("command = 'c' # so"),
        Just("mcp_servers.d.command = \"d\""), Just("text = '''\n# no\n[mcp_servers.lore]\n'''"),
    ], 0..14), crlf in any::<bool>(), end in any::<bool>()) {
        let mut text = lines.join("\n");
        if end {
            text.push('\n');
        }
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let parts = server(Host::Codex);
        if let Ok(Plan::Write(with, _)) = plan::put(&parts, Some(&text), false) {
            let bare = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
            let (had, mut has) = (bare(&text), bare(&with));
            for line in &had {
                let at = has.iter().position(|other| other == line);
                prop_assert!(at.is_some(), "{} is not in {}", line, with);
                has.remove(at.unwrap());
            }
            prop_assert!(has.len() <= 6, "{:?}", has);
            prop_assert_eq!(with.contains("\r\n"), text.contains("\r\n"));
            let back = plan::remove(&parts, Some(&with), Some(&text), false);
            prop_assert_eq!(back.unwrap(), Plan::Write(text.clone(), Outcome::Removed));
        }
    }
}

/// A file that changed after it was read stays unchanged: no write, no backup, no leftover file.
#[test]
fn who_is_overtaken_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    std::fs::write(&path, "{}").unwrap();
    let before = file::read(&path).unwrap();
    std::fs::write(&path, "{ }").unwrap();
    let change = file::replace(&path, before.as_ref(), "{\"a\": 1}").unwrap();
    assert_eq!(change, Change::Overtaken);
    assert_eq!(
        file::delete(&path, before.as_ref()).unwrap(),
        Change::Overtaken
    );
    assert_eq!(file::replace(&path, None, "x").unwrap(), Change::Overtaken);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{ }");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

    let before = file::read(&path).unwrap();
    let change = file::replace(&path, before.as_ref(), "new").unwrap();
    assert_eq!(change, Change::Done(Some(file::backup_of(&path))));
    let before = file::read(&path).unwrap();
    let change = file::replace(&path, before.as_ref(), "newer").unwrap();
    assert_eq!(change, Change::Done(None));
    assert_eq!(
        std::fs::read_to_string(file::backup_of(&path)).unwrap(),
        "{ }"
    );
}

/// Our entries are recognised by the program that they run.
#[test]
fn ours_is_what_runs_the_bridge() {
    let standing = |present: Value| entry(Host::Cursor).compare(&present);
    for ours in [
        json!({"command": "lore", "args": ["mcp"]}),
        json!({"command": "/x/lore", "args": ["--agent", "a", "mcp"], "env": {}}),
        json!({"command": ["lore", "mcp"]}),
    ] {
        assert_eq!(standing(ours), InstallState::Other);
    }
    for (foreign, what) in [
        (
            json!({"command": "lore", "args": ["serve"]}),
            "runs `lore serve`",
        ),
        (
            json!({"command": "npx", "args": ["lore", "mcp"]}),
            "runs `npx lore mcp`",
        ),
        (json!({"url": "https://x"}), "is not a local program"),
        (json!(null), "is not a local program"),
    ] {
        assert_eq!(standing(foreign), InstallState::Foreign(what.into()));
    }
}
