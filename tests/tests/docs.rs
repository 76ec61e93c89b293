//! The pages under docs/ that are made from the code, held to it.

use std::path::Path;

/// docs/operations.md is what the operation table says; `UPDATE_DOCS=1` writes it anew.
#[test]
fn operations_md_is_made_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations.md");
    let made = lored::api::reference::markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).expect("docs/operations.md can be written");
    }
    let stored = std::fs::read_to_string(&path).expect("docs/operations.md is there");
    assert!(
        stored == made,
        "docs/operations.md is not what the table says: run \
         `UPDATE_DOCS=1 cargo test -p tests --test docs` and commit it"
    );
}

/// The configuration that docs/resolvers.md shows is taken as it stands.
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
