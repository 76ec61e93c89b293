//! Entities for callers: recognised in messages and tool results, referred to, related.

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{Daemon, has, has_words, is_refusal, serve, transports};

use super::{create, each, say, step};

/// Returns a device as NetBox 4 describes it.
fn device() -> Value {
    let brief = |id: u64, path: &str, name: &str, slug: &str| json!({"id": id, "url": format!("https://n/api/{path}/{id}/"), "display": name, "name": name, "slug": slug});
    json!({
        "id": 101, "url": "https://n/api/dcim/devices/101/", "display": "ams1-core-01 (NB1)",
        "name": "ams1-core-01", "role": brief(2, "dcim/device-roles", "Core switch", "core-switch"),
        "site": brief(1, "dcim/sites", "Amsterdam 1", "ams1"),
        "rack": {"id": 9, "url": "https://n/api/dcim/racks/9/", "display": "A01", "name": "A01"},
        "primary_ip": {"id": 7, "url": "https://n/api/ipam/ip-addresses/7/", "address": "10.1.1.1/24"},
    })
}

fn entity(daemon: &Daemon, name: &str) -> Value {
    daemon.call("get_entity", json!({"session": "s-1", "name": name}))
}

/// Two names are two devices in text order, on every transport, and nothing else is recognised.
#[test]
fn two_devices_in_their_order() {
    let (home, daemon) = serve!();
    for (name, mut endpoint) in transports!(home, daemon) {
        let session = format!("s-{name}");
        create(&daemon, &session);
        let args = json!({
            "session": session, "sender": "user", "content": "switch-nyc-01 and router-la-02",
        });
        let (reply, _) = endpoint.call("record_message", &args).unwrap();
        let device =
            |name: &str| json!({"kind": "device", "name": name, "key": name, "how": "pattern"});
        has(
            &reply,
            json!({"entities": [device("switch-nyc-01"), device("router-la-02")]}),
        );
        let (list, _) = endpoint
            .call("list_entities", &json!({"session": session}))
            .unwrap();
        assert_eq!(list["kinds"], json!({"device": 2}), "{name}");
    }
}

/// "Its" refers to the only thing of the last text, "the second one" to the last listing, "both" to both: also after a
/// restart. Of two things "its" means neither for sure.
#[test]
fn words_refer_to_what_was_mentioned() {
    let (home, daemon) = serve!();
    create(&daemon, "s-1");
    let targets = |daemon: &Daemon, content: &str| {
        let reply = say(daemon, "s-1", content);
        for one in reply["entities"].as_array().unwrap() {
            assert_eq!(one["how"], "reference", "{content}: {one}");
        }
        each(&reply["entities"], "name").join(" ")
    };
    say(&daemon, "s-1", "Compare switch-nyc-01 and router-la-02.");
    let reply = say(&daemon, "s-1", "What is its status?");
    assert_eq!(reply["entities"], Value::Null, "{reply}");
    let mut possible = each(&reply["possible"], "name");
    possible.sort_unstable();
    assert_eq!(possible, ["router-la-02", "switch-nyc-01"]);
    assert_eq!(targets(&daemon, "Is the first one up?"), "switch-nyc-01");
    assert_eq!(targets(&daemon, "What is its status?"), "switch-nyc-01");
    assert_eq!(targets(&daemon, "And the second one?"), "router-la-02");
    daemon.stop();
    let daemon = home.start();
    let mut both: Vec<String> = targets(&daemon, "Restart both")
        .split(' ')
        .map(str::to_owned)
        .collect();
    both.sort_unstable();
    assert_eq!(both, ["router-la-02", "switch-nyc-01"]);
    let known = entity(&daemon, "router-la-02");
    assert_eq!(
        known["entity"]["mentions"], 3,
        "what is possible is no mention"
    );
    assert_eq!(
        known["entity"]["name"], "router-la-02",
        "a word that refers is not a name"
    );
}

/// If a result does not name the kind of its objects, the call's tool and arguments determine it.
#[test]
fn a_call_tells_the_kind_of_what_it_returns() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let result = json!({"count": 1, "results": [{"id": 4, "name": "Lobby North"}]});
    for (asked, kind) in [("dcim.site", "site"), ("dcim.rack", "rack")] {
        let parameters = json!({"object_type": asked});
        let args = json!({"session": "s-1", "tool": "get_objects", "parameters": parameters, "result": result});
        let at = daemon.call("record_step", args);
        let known = daemon.call(
            "list_entities",
            json!({"session": "s-1", "kind": kind, "at_least": at["position"]}),
        );
        assert_eq!(each(&known["entities"], "name"), ["Lobby North"], "{asked}");
    }
    let args = json!({"session": "s-1", "tool": "get_objects", "result": result});
    let at = daemon.call("record_step", args);
    let known = daemon.call(
        "list_entities",
        json!({"session": "s-1", "at_least": at["position"]}),
    );
    assert_eq!(
        known["kinds"],
        json!({"site": 1, "rack": 1}),
        "no kind, no new entity"
    );
}

/// A step's result is recognised asynchronously. A read that waits for the step's position returns the device with
/// its id, its parent, and the parent's parent.
#[test]
fn netbox_json_of_a_step_is_recognised() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let at = step(&daemon, "s-1", &device());
    let list = daemon.call(
        "list_entities",
        json!({"session": "s-1", "at_least": at["position"]}),
    );
    let find = |name: &str| {
        let all = list["entities"].as_array().unwrap().iter();
        all.clone()
            .find(|one| one["name"] == name)
            .unwrap_or_else(|| panic!("no {name}: {list:#}"))
            .clone()
    };
    let device = find("ams1-core-01");
    has(&device, json!({"kind": "device", "id": "101"}));
    let site = find("Amsterdam 1");
    has(&site, json!({"kind": "site", "slug": "ams1"}));
    assert_eq!(
        (&device["high"], &device["recent"]),
        (&json!(true), &json!(true)),
        "one mention within the hour: 5.5 + 3 + ln 2, {device}"
    );
    let shown = entity(&daemon, "ams1-core-01");
    let related = |shown: &Value, relation: &str| -> Vec<String> {
        let all = shown["relations"].as_array().unwrap().iter();
        let of = all.filter(|one| one["relation"] == relation);
        of.map(|one| {
            format!(
                "{} {}",
                one["kind"].as_str().unwrap(),
                one["name"].as_str().unwrap()
            )
        })
        .collect()
    };
    let parents = related(&shown, "parent");
    for parent in ["site Amsterdam 1", "rack A01"] {
        assert!(parents.iter().any(|known| known == parent), "{parents:?}");
    }
    assert_eq!(shown["mentions"][0]["step"], 1);
    has_words(&shown["mentions"][0]["snippet"], &["ams1-core-01"]);
    let of_site = entity(&daemon, "Amsterdam 1");
    let child = json!({"kind": "device", "name": "ams1-core-01"});
    assert!(
        of_site["children"].as_array().unwrap().contains(&child),
        "{of_site:#}"
    );
    assert!(related(&of_site, "child").contains(&"device ams1-core-01".to_owned()));
    // Known by its slug from then on.
    let reply = say(&daemon, "s-1", "is ams1 reachable?");
    assert_eq!(each(&reply["entities"], "name"), ["Amsterdam 1"]);
    let status = daemon.call("status", json!({}));
    let followers = status["followers"].as_array().unwrap();
    assert!(
        followers
            .iter()
            .any(|follower| follower["name"] == "entities"),
        "{status:#}"
    );
    daemon.verify();
}

/// Entities mentioned in one text are related, and each further text adds weight. A manual relation is visible from
/// both ends. Invalid kinds and names are refused.
#[test]
fn entities_are_related() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    for _ in 0..3 {
        say(&daemon, "s-1", "switch-nyc-01 and router-la-02");
    }
    let relation = |name: &str, relation: &str| {
        let shown = entity(&daemon, name);
        let all = shown["relations"].as_array().unwrap().clone();
        all.into_iter()
            .find(|one| one["relation"] == relation)
            .unwrap_or_default()
    };
    let with = relation("switch-nyc-01", "mentioned_with");
    has(&with, json!({"name": "router-la-02", "count": 3}));
    assert_eq!(
        relation("router-la-02", "mentioned_with")["name"],
        "switch-nyc-01"
    );
    let named = |name: &str| json!({"kind": "device", "name": name});
    let relate = |relation: &str, to: &Value| json!({"session": "s-1", "from": named("Switch-NYC-01"), "relation": relation, "to": to});
    daemon.call(
        "relate_entities",
        relate("connected_to", &named("router-la-02")),
    );
    assert_eq!(
        relation("switch-nyc-01", "connected_to")["name"],
        "router-la-02"
    );
    assert_eq!(
        relation("router-la-02", "<connected_to")["name"],
        "switch-nyc-01"
    );
    daemon.call(
        "relate_entities",
        relate("parent", &json!({"kind": "rack", "name": "A01"})),
    );
    assert_eq!(
        entity(&daemon, "switch-nyc-01")["entity"]["parent"],
        json!({"kind": "rack", "name": "A01"})
    );
    for wrong in [
        relate("Connected To", &named("router-la-02")),
        relate("", &named("router-la-02")),
        relate("beside", &named("switch-nyc-01")),
        relate("beside", &named("")),
        relate("beside", &named(&"x".repeat(2000))),
        relate("beside", &json!({"kind": "no kind", "name": "x"})),
    ] {
        let refused = daemon.refusal("relate_entities", wrong);
        is_refusal(&refused, Code::InvalidInput, &[]);
    }
}

/// A list has the requested order and kind, and its pages together contain each entity once. The lists of a project
/// and of all sessions sum up their sessions.
#[test]
fn lists_of_entities() {
    let (_home, daemon) = serve!();
    for session in ["s-1", "s-2"] {
        daemon.call(
            "create_session",
            json!({"session": session, "project": "p-1"}),
        );
        say(&daemon, session, "switch-nyc-01 at 10.0.0.7");
    }
    for number in 0..30 {
        say(&daemon, "s-1", &format!("sw-ber-{:02}", number % 12 + 10));
    }
    say(&daemon, "s-1", "switch-nyc-01");
    let list = |args: &Value| daemon.call("list_entities", args.clone());
    let by = |sort: &str| {
        let list = list(&json!({"session": "s-1", "sort": sort}));
        each(&list["entities"], "name")
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(by("recency")[..2], ["switch-nyc-01", "sw-ber-15"]);
    assert_eq!(by("mentions")[..2], ["sw-ber-15", "sw-ber-14"]);
    for sort in ["relevance", "mentions", "recency"] {
        let (mut found, mut args) = (
            Vec::new(),
            json!({"session": "s-1", "sort": sort, "limit": 3}),
        );
        loop {
            let page = list(&args);
            found.extend(
                each(&page["entities"], "name")
                    .into_iter()
                    .map(str::to_owned),
            );
            match page.get("next") {
                Some(next) => args["next"] = next.clone(),
                None => break,
            }
        }
        assert_eq!(found, by(sort), "{sort}");
    }
    let devices = list(&json!({"session": "s-1", "kind": "ip_address"}));
    assert_eq!(each(&devices["entities"], "name"), ["10.0.0.7"]);
    assert_eq!(devices["kinds"], json!({"device": 13, "ip_address": 1}));
    for of in [json!({"project": "p-1"}), json!({"all": true})] {
        let all = list(&of);
        let switch = all["entities"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == "switch-nyc-01");
        let switch = switch.unwrap();
        has(switch, json!({"mentions": 3, "sessions": 2}));
    }
    let refused = daemon.refusal("list_entities", json!({"session": "s-1", "all": true}));
    is_refusal(&refused, Code::InvalidInput, &["exclude each other"]);
}

/// Data that comes later shows that two entities are one: its name is another, its slug the known name. The merge is an
/// event, `unmerge_entity` undoes it, and the same data does not merge them again.
#[test]
fn what_turns_out_to_be_one_is_one_until_it_is_separated() {
    let (home, daemon) = serve!();
    create(&daemon, "s-1");
    say(&daemon, "s-1", "switch-nyc-01 is down");
    let object = json!({"device": {
        "id": 42, "url": "https://n/api/dcim/devices/42/", "name": "Switch NYC 01", "slug": "switch-nyc-01",
        "site": {"id": 1, "url": "https://n/api/dcim/sites/1/", "name": "New York", "slug": "nyc1"},
    }});
    let devices = |daemon: &Daemon, at: &Value| {
        let args = json!({"session": "s-1", "kind": "device", "at_least": at["position"]});
        let list = daemon.call("list_entities", args);
        list["entities"].as_array().cloned().unwrap_or_default()
    };
    let at = step(&daemon, "s-1", &object);
    let known = devices(&daemon, &at);
    assert_eq!(known.len(), 1, "{known:#?}");
    has(
        &known[0],
        json!({"key": "switch-nyc-01", "name": "Switch NYC 01", "id": "42", "mentions": 2}),
    );
    for name in ["switch-nyc-01", "Switch NYC 01"] {
        let one = entity(&daemon, name);
        assert_eq!(one["entity"]["key"], "switch-nyc-01", "{name}");
        assert_eq!(one["mentions"].as_array().unwrap().len(), 2, "{name}");
        assert_eq!(one["merged"][0]["by"], "slug", "{name}");
        assert_eq!(one["entity"]["parent"]["name"], "New York", "{name}");
    }
    // A pack has it once, whichever name the question has.
    for question in ["is switch-nyc-01 up?", "is Switch NYC 01 up?"] {
        let pack = daemon.call(
            "enrich_message",
            json!({"session": "s-1", "message": question}),
        );
        let prompt = pack["prompt"].as_str().unwrap();
        assert_eq!(prompt.matches("- device: ").count(), 1, "{prompt}");
        assert!(prompt.contains("Mentioned 2 times"), "{prompt}");
    }
    daemon.stop();
    let daemon = home.start();
    let unmerge =
        |name: &str| daemon.call("unmerge_entity", json!({"session": "s-1", "name": name}));
    let undone = unmerge("Switch NYC 01");
    let mut names = each(&undone["entities"], "name");
    names.sort_unstable();
    assert_eq!(names, ["Switch NYC 01", "switch-nyc-01"]);
    assert_eq!(devices(&daemon, &undone).len(), 2);
    let text = entity(&daemon, "switch-nyc-01");
    assert_eq!(text["entity"]["id"], Value::Null);
    // The same evidence again.
    let at = step(&daemon, "s-1", &object);
    assert_eq!(devices(&daemon, &at).len(), 2);
    let events = daemon.call("read_events", json!({"session": "s-1"}));
    let kinds = each(&events["events"], "kind");
    let of = |kind: &str| kinds.iter().filter(|one| **one == kind).count();
    assert_eq!([of("EntitiesMerged"), of("EntitiesUnmerged")], [1, 1]);
    for (args, code, words) in [
        (
            json!({"name": "switch-nyc-01"}),
            Code::NotFound,
            "nothing is merged",
        ),
        (
            json!({"name": "no-such-07"}),
            Code::NotFound,
            "knows no entity",
        ),
        (json!({"name": ""}), Code::InvalidInput, "`name`"),
        (
            json!({"name": "switch-nyc-01", "kind": "No Kind"}),
            Code::InvalidInput,
            "`kind`",
        ),
    ] {
        let mut args = args;
        args["session"] = "s-1".into();
        let refused = daemon.refusal("unmerge_entity", args);
        is_refusal(&refused, code, &[words]);
    }
    daemon.verify();
}

/// Two things with different ids are two, whatever their names are; a fork separates only its own.
#[test]
fn only_what_is_one_is_merged() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let site = |id: u64, name: &str, slug: &str| json!({"site": {"id": id, "url": format!("https://n/api/dcim/sites/{id}/"), "name": name, "slug": slug}});
    step(&daemon, "s-1", &site(1, "nyc1", "nyc-one"));
    let at = step(&daemon, "s-1", &site(2, "New York", "nyc1"));
    let count = |session: &str, at: &Value| {
        let args = json!({"session": session, "at_least": at["position"]});
        daemon.call("list_entities", args)["kinds"]["site"].clone()
    };
    assert_eq!(count("s-1", &at), 2);
    step(&daemon, "s-1", &json!({"site": "gru1"}));
    let at = step(&daemon, "s-1", &site(3, "São Paulo", "gru1"));
    assert_eq!(count("s-1", &at), 3);
    daemon.call(
        "fork_session",
        json!({"session": "s-1", "new_session": "f-1"}),
    );
    let undone = daemon.call("unmerge_entity", json!({"session": "f-1", "name": "gru1"}));
    assert_eq!(count("f-1", &undone), 4);
    assert_eq!(count("s-1", &undone), 3);
}

/// What a result said is undone: the entities that only it names are gone, and those that it merged are separated.
#[test]
fn an_undone_result_names_and_merges_nothing() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    say(&daemon, "s-1", "switch-nyc-01 is down");
    let object = json!({"device": {
        "id": 42, "url": "https://n/api/dcim/devices/42/", "name": "Switch NYC 01", "slug": "switch-nyc-01",
        "site": {"id": 1, "url": "https://n/api/dcim/sites/1/", "name": "New York", "slug": "nyc1"},
    }});
    let at = step(&daemon, "s-1", &object);
    let names = |at: &Value| {
        let list = json!({"session": "s-1", "at_least": at["position"]});
        let list = daemon.call("list_entities", list);
        let mut names: Vec<String> = each(&list["entities"], "name")
            .into_iter()
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names(&at), ["New York", "Switch NYC 01"]);
    let undone = daemon.call("undo", json!({"event": at["position"]}));
    assert_eq!(undone["changed"], true, "{undone}");
    assert_eq!(names(&undone), ["switch-nyc-01"]);
    let redone = daemon.call("undo", json!({"event": at["position"], "redo": true}));
    assert_eq!(names(&redone), ["New York", "Switch NYC 01"]);
}
