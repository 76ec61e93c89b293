//! Tests of rejected packs and their error locations, and of loading a folder of packs.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::facts::MatchLocation;
use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;

fn refusal(text: &str) -> String {
    PackSet::parse("x.toml", text)
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

const HEAD: &str = "name = \"x\"\nversion = \"1\"\ndescription = \"d\"\n";

fn rule(lines: &str) -> String {
    format!("{HEAD}[[kind]]\nname = \"k\"\n[[kind.rule]]\n{lines}")
}

#[test]
fn a_wrong_pack_says_the_line_and_the_reason() {
    let ok = "confidence = 0.5\n";
    let cases = [
        ("name = \n".to_owned(), "x.toml:1: this is not TOML: "),
        (
            "version = \"1\"\n".to_owned(),
            "x.toml:1: `name` is missing",
        ),
        (
            format!("{HEAD}kinds = 1\n"),
            "x.toml:4: unknown key `kinds`; did you mean `kind`?",
        ),
        (
            format!("{HEAD}[[kind]]\nname = \"K\"\n"),
            "x.toml:5: invalid name \"K\" for `name`",
        ),
        (
            format!("{HEAD}[[kind]]\n[[kind.rule]]\n"),
            "x.toml:4: `name` is missing",
        ),
        (
            format!("{HEAD}kind = 3\n"),
            "x.toml:4: `kind` is a integer; it must be a list of tables",
        ),
        (
            format!("{HEAD}[[kind]]\nname = \"k\"\n[[kind]]\nname = \"k\"\n"),
            "x.toml:7: the kind `k` is defined twice; the first is on line 5",
        ),
        (
            format!(
                "{HEAD}[[kind]]\nname = \"k\"\nfields = [\"a\"]\n[[kind]]\nname = \"l\"\nfields = [\"a\"]\n"
            ),
            "x.toml:9: \"a\" belongs to `k` already; `l` cannot have it, too",
        ),
        (
            rule(&format!("{ok}pattern = 'a('\n")),
            "x.toml:8: the pattern is wrong at byte 1: unclosed group",
        ),
        (
            rule(&format!("{ok}pattern = 'a*'\n")),
            "x.toml:8: the pattern matches the empty text",
        ),
        (
            rule(&format!("{ok}pattern = '{}'\n", "a".repeat(1025))),
            "x.toml:8: the pattern has 1025 bytes; at most 1024",
        ),
        (
            rule(&format!("{ok}pattern = '(?:\\w{{1000}}){{1000}}'\n")),
            "x.toml:8: the pattern needs too much memory",
        ),
        (
            rule(&format!("{ok}pattern = '(a)'\ngroup = 2\n")),
            "x.toml:9: the pattern has 1 capture groups; `group` is 2",
        ),
        (
            rule(&format!("{ok}pattern = 'a'\ncheck = \"ipv5\"\n")),
            "x.toml:9: `check` is \"ipv5\"; it must be one of ipv4, ipv6,",
        ),
        (
            rule(&format!("{ok}pattern = 'a'\nedges = \"words\"\n")),
            "did you mean `word`?",
        ),
        (
            rule(&format!("{ok}pattern = 'a'\nexcept = '['\n")),
            "x.toml:9: the pattern is wrong at byte 0",
        ),
        (
            rule("pattern = 'a'\nconfidence = 1.5\n"),
            "x.toml:8: `confidence` is 1.5; it must be more than 0",
        ),
        (
            rule("pattern = 'a'\nconfidence = \"high\"\n"),
            "x.toml:8: `confidence` is a string; it must be a number",
        ),
        (rule("pattern = 'a'\n"), "`confidence` is missing"),
        (
            format!("{HEAD}{}", "#".repeat(PACK_BYTES_MAX as usize)),
            "x.toml:1: the file has",
        ),
    ];
    for (text, wanted) in cases {
        let refusal = refusal(&text);
        assert!(refusal.contains(wanted), "{refusal}\nwanted: {wanted}");
    }
}

#[test]
fn a_folder_adds_and_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let built_in = PackSet::built_in().unwrap();
    assert_eq!(
        PackSet::load(folder.path()).unwrap().version(),
        built_in.version()
    );
    assert_eq!(
        PackSet::load(&folder.path().join("none"))
            .unwrap()
            .version(),
        built_in.version()
    );
    let pack = |name: &str| {
        format!(
            "name = \"{name}\"\nversion = \"2\"\ndescription = \"d\"\n[[kind]]\nname = \"ticket\"\nwords = [\"case\"]\nfields = [\"site\", \"ticket\"]\n[[kind.rule]]\npattern = 'TCK[0-9]+'\nconfidence = 1\n"
        )
    };
    std::fs::write(folder.path().join("a.toml"), pack("tickets")).unwrap();
    std::fs::write(folder.path().join("b.toml"), pack("code")).unwrap();
    std::fs::write(folder.path().join("c.txt"), "no pack").unwrap();
    let set = PackSet::load(folder.path()).unwrap();
    let names: Vec<&str> = set.packs().iter().map(|pack| pack.name.as_str()).collect();
    assert_eq!(names, ["netbox", "code", "infrastructure", "tickets"]);
    assert_eq!(set.packs()[1].version, "2");
    assert!(set.packs()[1].file.is_some());
    assert_ne!(set.version(), built_in.version());
    assert_eq!(
        (
            set.kind_of("site"),
            set.kind_of("ticket"),
            set.kind_of("cases")
        ),
        (Some("site"), Some("ticket"), None)
    );
    assert!(set.is_kind_word("cases"));
    std::fs::write(folder.path().join("z.toml"), pack("tickets")).unwrap();
    let error = PackSet::load(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("z.toml:1: the pack `tickets` is in ") && error.contains("a.toml already"),
        "{error}"
    );
}

#[test]
fn the_built_in_packs_have_all_their_kinds() {
    for (file, text) in BUILT_IN {
        PackSet::parse(file, text).expect("each pattern of a built-in pack compiles");
    }
    let set = PackSet::built_in().unwrap();
    let kinds: Vec<&str> = set.kinds().collect();
    for kind in [
        "device",
        "site",
        "rack",
        "manufacturer",
        "device_type",
        "device_role",
        "interface",
        "cable",
        "power_port",
        "power_outlet",
        "power_feed",
        "ip_address",
        "prefix",
        "vlan",
        "vrf",
        "tenant",
        "tenant_group",
        "contact",
        "cluster",
        "virtual_machine",
        "vm_interface",
        "mac_address",
        "file_path",
        "url",
        "issue",
        "pull_request",
        "commit",
        "branch",
        "package",
        "symbol",
        "error_code",
        "environment_variable",
        "host",
        "email",
    ] {
        assert!(kinds.contains(&kind), "{kind}");
        let at = set.place_of(kind).unwrap();
        assert!(
            set.rules.iter().any(|rule| rule.kind == at),
            "{kind} has no rule"
        );
    }
    assert_eq!(set.kind_of("dcim.device"), Some("device"));
    assert_eq!(set.kind_of("/dcim/power-feeds/"), Some("power_feed"));
}

/// Searches a whole text with each rule separately.
fn one_by_one(set: &PackSet, text: &str) -> Vec<(usize, (usize, usize))> {
    let rules = set.rules.iter().enumerate();
    let mut found: Vec<(usize, (usize, usize))> = rules
        .flat_map(|(at, rule)| rule.find(text, 0..text.len()).map(move |span| (at, span)))
        .collect();
    found.sort_unstable();
    found
}

static BUILT_IN_SET: LazyLock<PackSet> = LazyLock::new(|| PackSet::built_in().unwrap());

fn likely() -> impl Strategy<Value = String> {
    let pieces = [
        "switch-nyc-01",
        "sw",
        "-",
        "01",
        "DC4",
        "AMS",
        "1",
        "-A12",
        "rack ",
        "Rack\n",
        "cabinet #7",
        "site New York ",
        "\"Main Hall\"",
        "role: ",
        "core-switch",
        "Access router",
        "eth",
        "0/1",
        "ge-0/0/0",
        "PSU ",
        "power port ",
        "outlet B-3",
        "10.0.0.1",
        "/24",
        ":8080",
        "2001:db8::1",
        "::",
        "vlan ",
        "VLAN-20 ",
        "vrf: blue ",
        "tenant Acme Corp",
        "group ",
        "contact Ann Lee",
        "cluster k8s-1",
        "vm web-1 ",
        "vnic0",
        "00:11:22:33:44:55",
        "Palo Alto Networks",
        "PowerEdge R740",
        "C9300-48P",
        "MX204",
        "device type: X-9 ",
        "/etc/",
        "hosts",
        "./a.rs",
        "src/",
        "main.rs",
        "C:\\Program Files\\x",
        "https://a.example/",
        "owner/repo#12",
        "issue #3",
        "bug\u{2003}4",
        "ABC-12",
        "INC000123",
        "PR ",
        "!17",
        "pull request ",
        "commit ",
        "deadbeef1",
        "0123456789abcdef0123456789abcdef01234567",
        "branch `x/y`",
        "main branch",
        "fix/it",
        "serde@1.2",
        "@a/b",
        "tokio v1.2",
        "numpy>=1.0",
        "npm install ",
        "crate my-crate",
        "`a::b()`",
        "E0382",
        "ECONNRESET",
        "HTTP 404",
        "exit code 1",
        "$HOME",
        "${A_B}",
        "A_B",
        "db.example.com",
        "a@b.example",
        "\u{2003}",
        "é",
        "ſ",
        "K",
        " ",
        "\n",
        "\t",
        ".",
        ",",
        "\"",
        "`",
        "(",
        ")",
    ];
    prop_oneof![
        12 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn passing_over_most_of_a_text_finds_what_reading_all_finds(
        pieces in prop::collection::vec(likely(), 0..24),
    ) {
        let set = &*BUILT_IN_SET;
        let text = pieces.concat();
        prop_assert_eq!(set.prefilter.search(&set.rules, &text), one_by_one(set, &text));
    }
}

#[test]
fn most_rules_are_passed_over_where_they_cannot_match() {
    let set = PackSet::built_in().unwrap();
    let read = set
        .rules
        .iter()
        .filter(|rule| rule.facts.place == MatchLocation::Text);
    assert!(read.count() <= 5);
    // A pattern with unbounded matches from each of its starts is searched in one pass.
    for (pattern, place) in [
        (r"foo.*bar\s", MatchLocation::Text),
        (r"foo[a-z]*\s+bar", MatchLocation::Text),
        (r"foo\s+[a-z]+", MatchLocation::Start(vec![b"foo".to_vec()])),
        (r"foo\s+[a-z ]+", MatchLocation::Text),
        (r"(?i)foo\s*1", MatchLocation::Start(vec![b"foo".to_vec()])),
        (r"[a-z]+:\d", MatchLocation::Word),
        (r"\b", MatchLocation::Text),
    ] {
        assert_eq!(
            rule::read(pattern, rule::CompileMode::Now).unwrap().1.place,
            place,
            "{pattern}"
        );
    }
}
