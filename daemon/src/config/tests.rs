//! Accepted and rejected files and variables, with the error messages.
#![allow(clippy::unwrap_used)]

use super::*;

fn parse(text: &str) -> Result<Config, Error> {
    Config::parse(text, Path::new("config.toml"))
}

/// Every key of [`keys`] is accepted, and the error of a value out of range names the range. (Settings of
/// resolvers, single projects and redaction depend on each other and have separate tests.)
#[test]
fn every_key_is_taken() {
    let others = ["resolvers.", "projects.at.", "redaction."];
    let alone = |key: &&str| !others.iter().any(|other| key.starts_with(other));
    for setting in settings().iter().filter(|setting| alone(&setting.key)) {
        let key = setting.key;
        let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
        let value = match (setting.takes, key) {
            (ValueType::OneOf(names), _) => format!("{:?}", names.last().unwrap()),
            (ValueType::Text, "log") => "\"debug\"".to_owned(),
            (ValueType::Text, "access.socket_mode") => "\"0660\"".to_owned(),
            (ValueType::Text, "http.listen") => "\"127.0.0.1:7433\"".to_owned(),
            (ValueType::Text, other) => panic!("what `{other}` takes is not known here"),
            (ValueType::Flag, _) => "true".to_owned(),
            (ValueType::Path, _) => "\"/folder\"".to_owned(),
            (ValueType::Texts, key) if key.starts_with("access.") => "[\"1001\"]".to_owned(),
            (ValueType::Texts, "follow.hosts") => "[\"codex\", \"set-up\"]".to_owned(),
            (ValueType::Texts, "http.origins") => "[\"http://localhost:5173\"]".to_owned(),
            (ValueType::Texts, _) => "[\"brief\"]".to_owned(),
            (ValueType::Whole { .. }, _) => "67108864".to_owned(),
            (ValueType::Secrets | ValueType::Table, other) => {
                panic!("`{other}` is of somebody's own")
            }
        };
        let text = match table {
            "" => format!("{name} = {value}"),
            _ => format!("[{table}]\n{name} = {value}"),
        };
        match parse(&text) {
            Ok(_) => {}
            Err(Error::At { error, .. }) => match *error {
                Error::Value { name: named, .. } => assert_eq!(named, key),
                error => panic!("{text}: {error}"),
            },
            Err(error) => panic!("{text}: {error}"),
        }
    }
    assert!(!parse("durability = \"relaxed\"").unwrap().engine.durable);
    let refused = parse("[limits]\nconnections_max = 0").unwrap_err();
    assert!(refused.to_string().contains("from 1 to 65536"), "{refused}");
}

/// Word lists replace the defaults; invalid words are rejected.
#[test]
fn words_can_be_chosen() {
    let config = parse("[layers]\ncritical = [\"brief\"]").unwrap();
    assert_eq!(config.words.critical, ["brief"]);
    assert_eq!(
        config.words.useful,
        checkpoints::LayerWords::default().useful
    );
    for wrong in ["Brief", "", "two words", "a1"] {
        let refused = parse(&format!("[layers]\nuseful = [\"{wrong}\"]")).unwrap_err();
        assert!(refused.to_string().contains("layers.useful"), "{refused}");
    }
}

/// An unknown key is rejected with its position and the nearest key. A value of the wrong type or out
/// of range is rejected with the expected value.
#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, reported) in [
        (
            "[engine]\nlinger_ms = 3",
            "config.toml:2:1: unknown setting `engine.linger_ms`; did you mean `linger_us_max`?",
        ),
        (
            "\n[engin]\nlinger_us_max = 3",
            "config.toml:2:2: unknown setting `engin`; did you mean `engine`?",
        ),
        (
            "shutdown_timeout_ms = 3",
            "did you mean `limits.shutdown_timeout_ms`?",
        ),
        (
            "[limits]\n  shutdown_timeout_ms = -3",
            "config.toml:2:25: the setting `limits.shutdown_timeout_ms` is of the type integer; it must be a whole number from 0 to 600000",
        ),
        (
            "[limits]\nshutdown_timeout_ms = 'x'",
            "is \"x\"; it must be a whole number",
        ),
        (
            "[limits]\nconnections_max = 0x1_0001",
            "is 65537; it must be from 1 to 65536",
        ),
        (
            "durability = \"maybe\"",
            "it must be \"sync\" or \"relaxed\"",
        ),
        ("limits = 3", "it is a table, `[limits]`"),
        ("log = 3", "`log` is 3; it must be a text"),
        ("log = \"lored=loud\"", "`log`"),
        ("log = \" \u{711}\u{89}[d\"", "ASCII characters alone"),
        ("[layers]\nuseful = [1]", "a list of texts"),
        ("a = 1\n=", "config.toml:2:1: this is not TOML"),
        ("[search]\nmodels = \"models\"", "must be an absolute path"),
    ] {
        let refused = parse(text).unwrap_err().to_string();
        assert!(refused.contains(reported), "{text}: {refused}");
    }
    for far in ["[zzzzzzzz]", "zzzzzzzz = 1"] {
        let refused = parse(far).unwrap_err().to_string();
        let reported = "unknown setting `zzzzzzzz`; there are durability, log, engine, ";
        assert!(refused.contains(reported), "{refused}");
    }
}

/// Variables override the file and are checked, too; a misspelled one is rejected.
#[test]
fn variables_win() {
    let path = Path::new("config.toml");
    let with = |variables: &[(&str, &str)]| {
        let mut given = RawValue::of_text(
            "[limits]\nshutdown_timeout_ms = 7\nconnections_max = 9",
            path,
        )?;
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        given.put_over(variables.iter().map(owned))?;
        let origin = |key: &str| {
            let keys: Vec<String> = key.split('.').map(str::to_owned).collect();
            given.origins.get(&keys).map(ValueSource::to_string)
        };
        let origins = ["limits.shutdown_timeout_ms", "limits.connections_max"].map(origin);
        Config::of(given, path).map(|config| (config, origins))
    };
    let (config, origins) = with(&[
        ("LORE_LIMITS_SHUTDOWN_TIMEOUT_MS", "8"),
        ("LORE_LAYERS_USEFUL", "brief, note"),
        ("LORE_DURABILITY", "relaxed"),
        ("LORE_HOME", "/h"),
        ("LORE_SESSION", "s"),
    ])
    .unwrap();
    assert_eq!(
        (
            config.limits.shutdown_timeout_ms,
            config.limits.connections_max
        ),
        (8, 9)
    );
    assert_eq!(config.words.useful, ["brief", "note"]);
    assert!(!config.engine.durable);
    let [drain, connections] = origins.map(Option::unwrap);
    assert_eq!(drain, "the variable LORE_LIMITS_SHUTDOWN_TIMEOUT_MS");
    assert_eq!(connections, "config.toml:3");
    for (name, value, reported) in [
        (
            "LORE_LIMITS_SHUTDOWN_TIMEOUT",
            "8",
            "did you mean LORE_LIMITS_SHUTDOWN_TIMEOUT_MS?",
        ),
        (
            "LORE_LIMITS_SHUTDOWN_TIMEOUT_MS",
            "x",
            "expected a whole number from 0 to 600000",
        ),
        ("LORE_LIMITS_CONNECTIONS_MAX", "0", "from 1 to 65536"),
        ("LORE_SEARCH_MODELS", "models", "an absolute path"),
        ("LORE_SEARCH_SECOND_TIER", "yes", "true or false"),
    ] {
        let refused = with(&[(name, value)]).unwrap_err().to_string();
        assert!(
            refused.contains(name) && refused.contains(reported),
            "{refused}"
        );
    }
}

/// The commented file sets nothing; uncommented, it gives the defaults. The effective values, read again, give
/// the same settings.
#[test]
fn the_default_file_says_the_defaults() {
    let file = effective::default_file();
    let path = Path::new("config.toml");
    assert!(RawValue::of_text(&file, path).unwrap().origins.is_empty());
    let set: String = file
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| line.starts_with('[') || line.contains(" = "))
        .filter(|line| !line.contains('…'))
        .map(|line| format!("{line}\n"))
        .collect();
    let given = RawValue::of_text(&set, path).unwrap();
    let with_default = |setting: &&Setting| (setting.default)(&Config::new()).is_some();
    assert_eq!(
        given.origins.len(),
        settings().iter().filter(with_default).count()
    );
    let again = RawValue::of_text(&lines_of(&given, false), path).unwrap();
    assert_eq!(lines_of(&again, false), lines_of(&given, false));
    let config = format!("{:?}", Config::of(given, path).unwrap());
    assert_eq!(config, format!("{:?}", Config::new()));
}

/// Lines without a default also name their settings, below the right section.
#[test]
fn every_line_of_the_default_file_is_a_setting() {
    let file = effective::default_file();
    let set: String = file
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| line.starts_with('[') || line.contains(" = "))
        .map(|line| format!("{}\n", line.replace('…', "0")))
        .collect();
    let table: toml::Table = set.parse().unwrap();
    for setting in settings() {
        let mut parts = setting.key.split('.');
        let first = parts.next().and_then(|part| table.get(part));
        let found = parts.fold(first, |at, part| at.and_then(|at| at.get(part)));
        assert!(
            found.is_some_and(|found| !found.is_table()),
            "{}",
            setting.key
        );
    }
}

/// Patterns in a log filter are matched literally: some patterns would take unbounded time to compile.
#[test]
fn filters_of_the_log_have_no_patterns() {
    let pattern = format!("{}{}", "G".repeat(54), ".".repeat(100));
    let text = format!("log = \"info,[{{x={pattern}}}]\"");
    let config = Config::parse(&text, Path::new("config.toml")).unwrap();
    assert!(config.log.contains(&pattern));
}

/// Secrets are never shown.
#[test]
fn secrets_are_hidden() {
    let text =
        "[resolvers.netbox]\ncommand = [\"n\"]\nenv = {TOKEN = \"hush\"}\nkinds.site.tool = \"t\"";
    let given = RawValue::of_text(text, Path::new("config.toml")).unwrap();
    let shown = format!(
        "{} {}",
        lines_of(&given, true),
        effective::json(&effective::in_force(&given))
    );
    assert!(
        !shown.contains("hush") && shown.contains("resolvers.netbox.env"),
        "{shown}"
    );
    assert!(
        shown.contains("resolvers.netbox.kinds.site.tool = \"t\"  # config.toml:4"),
        "{shown}"
    );
}

/// Renders the effective values as lines.
fn lines_of(given: &RawValue, origin: bool) -> String {
    effective::text(&effective::in_force(given), origin)
}

/// The values of `.lore.toml` are shown with their lines; the settings file overrides them.
/// Exclusion patterns of both apply.
#[test]
fn what_is_in_force_for_a_project() {
    let root = tempfile::tempdir().unwrap();
    let folder = std::fs::canonicalize(root.path()).unwrap();
    let marker = folder.join(".lore.toml");
    std::fs::write(&marker, "name = \"Shop\"\nid = \"shop\"\nexclude = [\"a\"]").unwrap();
    let shown = |settings: &str| {
        let path = Path::new("config.toml");
        let given = RawValue::of_text(settings, path).unwrap();
        let config = Config::of(given.clone(), path).unwrap();
        let (shown, fault) = of_project::of_project(&given, &config, &folder);
        (effective::text(&shown, true), fault)
    };
    let reported = marker.display();
    let (text, fault) = shown("");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            format!("project.id = \"shop\"  # {reported}:2"),
            format!("project.name = \"Shop\"  # {reported}:1"),
            "project.templates = \".lore/templates\"  # default".to_owned(),
            format!("project.exclude = [\"a\"]  # {reported}:3"),
        ]
    );
    assert_eq!(fault, None);
    let (text, _) = shown(&format!(
        "[projects.at.{folder:?}]\nid = \"store\"\nexclude = [\"b\"]\n"
    ));
    assert!(
        text.contains("project.id = \"store\"  # config.toml:2\n"),
        "{text}"
    );
    let both = format!("project.exclude = [\"b\", \"a\"]  # config.toml:3 and {reported}:3\n");
    assert!(text.contains(&both), "{text}");
    std::fs::write(&marker, "idd = 1").unwrap();
    let (text, fault) = shown("");
    assert!(
        !text.contains("shop\"") && fault.unwrap().contains("idd"),
        "{text}"
    );
}
