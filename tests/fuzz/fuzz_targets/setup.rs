//! Config files of hosts: any text is edited or refused. An added entry is found, adding it again changes nothing,
//! and it can be removed.
#![no_main]
#![allow(dead_code)]

#[path = "../../../client/src/cli/setup/edit.rs"]
mod edit;
#[path = "../../../client/src/cli/setup/entry.rs"]
mod entry;
#[path = "../../../client/src/cli/setup/json_file.rs"]
mod json_file;
#[path = "../../../client/src/cli/setup/toml_file.rs"]
mod toml_file;

use edit::{FileLayout, JsonShape};
use entry::{Entry, Field};
use libfuzzer_sys::fuzz_target;

const STRICT: JsonShape = JsonShape {
    comments: false,
    trailing_commas: false,
    container: "mcpServers",
    inner: None,
};
const LOOSE: JsonShape = JsonShape {
    comments: true,
    trailing_commas: true,
    container: "mcp",
    inner: Some("servers"),
};

fuzz_target!(|text: &str| {
    let command = Field::fixed("command", "/usr/bin/lore");
    let args = Field::fixed("args", vec!["mcp".to_owned()]);
    let entry = Entry(vec![command, args]);
    for layout in [
        FileLayout::Json(STRICT),
        FileLayout::Json(LOOSE),
        FileLayout::Toml("mcp_servers"),
    ] {
        let Ok(put) = edit::put(layout, text, &entry, true) else {
            continue;
        };
        assert!(matches!(edit::find(layout, &put), Ok(Some(_))), "{put}");
        assert_eq!(edit::put(layout, &put, &entry, false).as_ref(), Ok(&put));
        let without = edit::remove(layout, &put).expect("what was put in can be taken out");
        assert_eq!(edit::find(layout, &without), Ok(None));
    }
});
