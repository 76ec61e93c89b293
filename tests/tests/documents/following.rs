//! Documents follow their files: changed, renamed, moved in and out, removed, restored.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use tests::{has_words, serve};

use super::{add, folder, listed, put, until_documents, until_say, until_source};

#[test]
fn as_files_change() {
    let (home, daemon) = serve!();
    let docs = folder(&home, &[("a.md", "One."), ("b.md", "Two.")]);
    add(&daemon, &docs);
    let context = ["docs", "sub", "deep"];
    let ids = until_say(
        &daemon,
        &docs,
        &context,
        &[("a.md", "One."), ("b.md", "Two.")],
    );
    until_source(&daemon, "a watch", |source| source["watching"] == "yes");

    put(&docs, "a.md", "Other.");
    let now = until_say(
        &daemon,
        &docs,
        &context,
        &[("a.md", "Other."), ("b.md", "Two.")],
    );
    assert_eq!(now, ids);

    // A moved file keeps its id, and so does each file in a moved folder.
    fs::create_dir(docs.join("sub")).unwrap();
    fs::rename(docs.join("b.md"), docs.join("sub/c.md")).unwrap();
    let now = until_say(
        &daemon,
        &docs,
        &context,
        &[("a.md", "Other."), ("sub/c.md", "Two.")],
    );
    assert_eq!(now, ids);
    fs::rename(docs.join("sub"), docs.join("deep")).unwrap();
    let now = until_say(
        &daemon,
        &docs,
        &context,
        &[("a.md", "Other."), ("deep/c.md", "Two.")],
    );
    assert_eq!(now, ids);

    // A whole folder is moved in and out.
    let outside = home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    put(&outside, "in/sub/d.md", "Three.");
    fs::rename(outside.join("in"), docs.join("in")).unwrap();
    until_say(
        &daemon,
        &docs,
        &context,
        &[
            ("a.md", "Other."),
            ("deep/c.md", "Two."),
            ("in/sub/d.md", "Three."),
        ],
    );
    fs::rename(docs.join("in"), outside.join("out")).unwrap();
    fs::remove_file(docs.join("deep/c.md")).unwrap();
    until_say(&daemon, &docs, &context, &[("a.md", "Other.")]);

    // Ignore files apply as soon as they are written.
    put(&docs, ".loreignore", "a.md");
    until_documents(&daemon, 0);
    fs::remove_file(docs.join(".loreignore")).unwrap();
    until_say(&daemon, &docs, &context, &[("a.md", "Other.")]);
    daemon.verify();
}

/// Documents follow a branch switch.
#[test]
fn many_files_at_once() {
    const FILES: u32 = 1500;
    let (home, daemon) = serve!();
    let docs = folder(&home, &[]);
    let write = |says: &str| {
        for count in 0..FILES {
            put(
                &docs,
                &format!("{}/{count}.md", count % 20),
                format!("{says} {count}.\n"),
            );
        }
    };
    write("Main");
    add(&daemon, &docs);
    until_documents(&daemon, u64::from(FILES));
    until_source(&daemon, "a watch", |source| source["watching"] == "yes");
    write("Branch");
    let last = format!("{}/{}.md", (FILES - 1) % 20, FILES - 1);
    let args = json!({"context_id": ((FILES - 1) % 20).to_string(), "file_name": format!("{}.md", FILES - 1)});
    tests::until(&last, super::LIMIT, || {
        let reply = daemon.call("get_document_content", args.clone());
        let says = &reply["documents"][0]["chunks"][0]["content"];
        (*says == format!("Branch {}.", FILES - 1)).then_some(())
    });
    until_documents(&daemon, u64::from(FILES));
    daemon.verify();
}

/// A missing source keeps its documents, because it may only be unmounted.
#[test]
fn a_source_that_vanishes_and_is_back() {
    let (home, daemon) = serve!();
    let docs = folder(&home, &[("a.md", "One.")]);
    add(&daemon, &docs);
    until_documents(&daemon, 1);
    let aside = home.path().join("aside");
    fs::rename(&docs, &aside).unwrap();
    let source = until_source(&daemon, "a missing source", |source| {
        source["state"] == "missing"
    });
    assert_eq!(source["documents"], 1);
    has_words(&source["warnings"], &["is not there"]);

    put(&aside, "b.md", "Two.");
    fs::rename(&aside, &docs).unwrap();
    daemon.call("rescan", json!({}));
    until_say(
        &daemon,
        &docs,
        &["docs"],
        &[("a.md", "One."), ("b.md", "Two.")],
    );
    until_source(&daemon, "a watch", |source| source["watching"] == "yes");
    put(&docs, "a.md", "New.");
    until_say(
        &daemon,
        &docs,
        &["docs"],
        &[("a.md", "New."), ("b.md", "Two.")],
    );
}

/// Replaces a path by a link, scans the only source, and restores the path.
fn while_linked(daemon: &tests::Daemon, place: &Path, to: &Path) {
    let (aside, link) = (place.with_extension("aside"), place.with_extension("link"));
    // A file is never missing in between, because that would remove its document.
    match place.is_dir() {
        true => fs::rename(place, &aside).unwrap(),
        false => fs::hard_link(place, &aside).unwrap(),
    }
    symlink(to, &link).unwrap();
    fs::rename(&link, place).unwrap();
    daemon.call("rescan", json!({}));
    let source = until_source(daemon, "a source behind a link", |source| {
        source["warnings"].to_string().contains("symbolic link")
    });
    assert_eq!(source["state"], "missing");
    assert_eq!(source["documents"], 1);
    if aside.is_dir() {
        fs::remove_file(place).unwrap();
    }
    fs::rename(&aside, place).unwrap();
    daemon.call("rescan", json!({}));
}

/// Targets of links are not ingested: neither for a link that replaces a folder or a file, nor for one that
/// replaces a parent folder.
#[test]
fn a_link_in_the_place_of_a_source() {
    let (home, daemon) = serve!();
    let docs = folder(&home, &[("a.md", "One.")]);
    let private = home.path().join("private");
    put(&private, "a.md", "Mine.");
    put(&private, "docs/a.md", "Mine.");
    put(&private, "docs/secret.md", "Swordfish.");
    let one = [("a.md", "One.")];

    let source = add(&daemon, &docs);
    until_say(&daemon, &docs, &["docs"], &one);
    while_linked(&daemon, &docs, &private);
    until_documents(&daemon, 1);
    while_linked(&daemon, docs.parent().unwrap(), &private);
    until_documents(&daemon, 1);
    until_say(&daemon, &docs, &["docs"], &one);

    daemon.call("remove_source", json!({"source": source}));
    add(&daemon, &docs.join("a.md"));
    until_say(&daemon, &docs, &["docs"], &one);
    while_linked(&daemon, &docs.join("a.md"), &private.join("a.md"));
    until_documents(&daemon, 1);
    until_say(&daemon, &docs, &["docs"], &one);
    let found = daemon.call(
        "search",
        json!({"query": "Mine Swordfish", "search_type": "text"}),
    );
    assert_eq!(found["results"], json!([]));
}

#[test]
fn a_source_that_is_one_file() {
    let (home, daemon) = serve!();
    let docs = folder(&home, &[("a.md", "One."), ("b.md", "Two.")]);
    add(&daemon, &docs.join("a.md"));
    let ids = until_say(&daemon, &docs, &["docs"], &[("a.md", "One.")]);
    until_source(&daemon, "a watch", |source| source["watching"] == "yes");
    // As editors save.
    put(&docs, "new", "Other.");
    fs::rename(docs.join("new"), docs.join("a.md")).unwrap();
    let now = until_say(&daemon, &docs, &["docs"], &[("a.md", "Other.")]);
    assert_eq!(now, ids);
    fs::remove_file(docs.join("a.md")).unwrap();
    until_source(&daemon, "no document", |source| {
        source["documents"] == 0 && source["state"] == "missing"
    });
    put(&docs, "a.md", "Back.");
    until_say(&daemon, &docs, &["docs"], &[("a.md", "Back.")]);
}

/// Without a watch, changes are ingested on request.
#[test]
fn without_a_watch() {
    let (home, daemon) = serve!();
    let docs = folder(&home, &[("a.md", "One.")]);
    daemon.call("add_source", json!({"path": docs, "watch": false}));
    until_say(&daemon, &docs, &["docs"], &[("a.md", "One.")]);
    assert!(
        listed(&daemon)["watching"]
            .as_str()
            .unwrap()
            .starts_with("no")
    );
    put(&docs, "a.md", "Two.");
    daemon.call("rescan", json!({}));
    until_say(&daemon, &docs, &["docs"], &[("a.md", "Two.")]);
}
