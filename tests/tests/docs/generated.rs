//! Generated pages under docs/ match the code.

use std::path::Path;

/// Checks that a page equals the generated text; `UPDATE_DOCS=1` rewrites it.
fn hold(page: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, made).expect("the page can be written");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == made,
        "docs/{page} is not what the code says: run \
         `UPDATE_DOCS=1 cargo test -p tests --test docs` and commit it"
    );
}

/// docs/operations.md matches the operation table.
#[test]
fn operations_md_is_made_from_the_table() {
    hold("operations.md", &lored::api::reference::markdown());
}

/// docs/configuration.md and docs/config.default.toml match the declaration of the settings.
#[test]
fn configuration_is_made_from_the_declaration() {
    hold("configuration.md", &lored::config::effective::page());
    hold(
        "config.default.toml",
        &lored::config::effective::default_file(),
    );
}

/// The table in docs/redaction.md has every kind; `UPDATE_DOCS=1` rewrites it.
#[test]
fn redaction_md_has_every_kind() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/redaction.md");
    let stored = std::fs::read_to_string(&path).expect("docs/redaction.md is there");
    let (before, rest) = stored.split_once("<!-- kinds -->\n").expect("a begin");
    let (_, after) = rest.split_once("<!-- /kinds -->").expect("an end");
    let table = lored_redact::kinds::table();
    let made = format!("{before}<!-- kinds -->\n{table}<!-- /kinds -->{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).expect("docs/redaction.md can be written");
    }
    assert!(
        std::fs::read_to_string(&path).is_ok_and(|stored| stored == made),
        "docs/redaction.md lacks kinds: run `UPDATE_DOCS=1 cargo test -p tests --test docs` and commit it"
    );
}

/// The configuration in docs/redaction.md is valid.
#[test]
fn the_rules_of_the_page_are_taken() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/redaction.md");
    let text = std::fs::read_to_string(&page).expect("docs/redaction.md is there");
    let shown = text
        .split("```toml")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let config = lored::config::Config::parse(shown.expect("an example"), &page);
    let redaction = config.expect("the example is taken").redaction;
    assert!(redaction.enabled && !redaction.off.is_empty() && !redaction.rules.is_empty());
}

/// The configuration in docs/resolvers.md is valid.
#[test]
fn the_resolvers_of_the_page_are_taken() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/resolvers.md");
    let text = std::fs::read_to_string(&page).expect("docs/resolvers.md is there");
    let shown = text
        .split("```toml")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let config = lored::config::Config::parse(shown.expect("an example"), &page);
    let config = config.expect("the example is taken");
    let netbox = config
        .resolvers
        .get("netbox")
        .expect("the example's resolver");
    assert_eq!(netbox.kinds.len(), 7);
}

/// docs/reliability.md quotes the sum of docs/soak.txt and explains every kind in it, and no kind has failed.
#[test]
fn the_counts_of_the_soak_are_quoted() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let counts = std::fs::read_to_string(docs.join("soak.txt")).expect("docs/soak.txt is there");
    let page = std::fs::read_to_string(docs.join("reliability.md")).expect("the page is there");
    let sum = counts
        .lines()
        .last()
        .and_then(|line| line.strip_prefix("# "));
    let sum = sum.expect("the last line is the sum");
    assert!(
        page.lines().any(|line| line == sum),
        "`tests/soak --list --record` writes both"
    );
    let mut kinds = 0;
    for line in counts
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        assert!(page.contains(&format!("`{}`", fields[0])), "{line}");
        assert_eq!(fields[5], "0", "{line}");
        kinds += 1;
    }
    assert!(kinds > 10, "{kinds} kinds");
}
