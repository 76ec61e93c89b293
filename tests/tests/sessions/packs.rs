//! User entity packs: loaded while the daemon runs, with errors reported for each.

use serde_json::{Value, json};
use tests::{Daemon, home, until};

use super::{LIMIT, create, each, say};

/// Returns a pack that recognises tickets with this prefix.
fn pack(prefix: &str) -> String {
    format!(
        "name = \"tickets\"\nversion = \"1\"\ndescription = \"Tickets\"\n\n[[kind]]\nname = \"ticket\"\n\
         [[kind.rule]]\npattern = '{prefix}#[0-9]+'\nconfidence = 0.9\n"
    )
}

fn tickets(daemon: &Daemon, content: &str) -> Vec<String> {
    let reply = say(daemon, "s-1", content);
    let all = reply["entities"].as_array().into_iter().flatten();
    let tickets = all.filter(|one| one["kind"] == "ticket");
    tickets
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

fn warning(daemon: &Daemon) -> Option<String> {
    let status = daemon.call("status", json!({}));
    let warnings = status["warnings"].as_array().into_iter().flatten();
    let mut texts = warnings.map(Value::as_str).map(Option::unwrap_or_default);
    texts
        .find(|text| text.contains("packs are in force as they were"))
        .map(str::to_owned)
}

/// A file added to the folder of packs, or changed there, takes effect without a restart. An invalid one leaves the
/// previous packs in force, and `status` reports file, line and reason until it is fixed.
#[test]
fn packs_are_read_while_the_daemon_runs() {
    let home = home!();
    let folder = home.path().join("packs");
    std::fs::create_dir(&folder).unwrap();
    let daemon = home.start();
    create(&daemon, "s-1");
    assert_eq!(tickets(&daemon, "see T#12"), Vec::<String>::new());
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("tickets.toml", &pack("T"));
    until("the pack", LIMIT, || {
        (tickets(&daemon, "see T#12") == ["T#12"]).then_some(())
    });
    let known = daemon.call("list_entities", json!({"session": "s-1", "kind": "ticket"}));
    assert_eq!(each(&known["entities"], "name"), ["T#12"]);

    write("tickets.toml", &pack("(T"));
    let reported = until("the warning", LIMIT, || warning(&daemon));
    for part in ["tickets.toml:8", "the pattern is wrong", "unclosed group"] {
        assert!(reported.contains(part), "no {part:?} in: {reported}");
    }
    assert_eq!(tickets(&daemon, "see T#34"), ["T#34"], "as it was in force");
    assert_eq!(
        each(&say(&daemon, "s-1", "on switch-nyc-01")["entities"], "kind"),
        ["device"]
    );

    write("tickets.toml", &pack("[TU]"));
    until("the mended pack", LIMIT, || {
        (tickets(&daemon, "see U#56") == ["U#56"]).then_some(())
    });
    assert_eq!(warning(&daemon), None);
    std::fs::remove_file(folder.join("tickets.toml")).unwrap();
    // A new number each time: a known entity stays known.
    let mut numbers = 100..;
    until("the end of the pack", LIMIT, || {
        let content = format!("see U#{}", numbers.next()?);
        tickets(&daemon, &content).is_empty().then_some(())
    });
    assert_eq!(
        tickets(&daemon, "see U#56"),
        ["U#56"],
        "what is known stays known"
    );
    daemon.verify();
}

/// An invalid pack at the start of the daemon is reported, and the built-in ones are in force.
#[test]
fn a_wrong_pack_stops_no_start() {
    let home = home!();
    let folder = home.path().join("packs");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("tickets.toml"), pack("(T")).unwrap();
    let daemon = home.start();
    create(&daemon, "s-1");
    assert!(warning(&daemon).unwrap().contains("tickets.toml:8"));
    assert_eq!(
        each(&say(&daemon, "s-1", "on switch-nyc-01")["entities"], "kind"),
        ["device"]
    );
}
