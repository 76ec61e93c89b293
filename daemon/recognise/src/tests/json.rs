//! Tests of JSON by field: the shapes of NetBox and of MCP servers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;

const DEVICE: &str = r#"{"id": 101, "url": "https://n/api/dcim/devices/101/", "display": "ams1-core-01 (NB1)",
 "name": "ams1-core-01", "device_type": {"id": 21, "url": "https://n/api/dcim/device-types/21/",
 "display": "DCS-7280", "manufacturer": {"id": 4, "url": "https://n/api/dcim/manufacturers/4/", "name": "Arista",
 "slug": "arista"}, "model": "DCS-7280", "slug": "dcs-7280"}, "role": {"id": 2,
 "url": "https://n/api/dcim/device-roles/2/", "name": "Core switch", "slug": "core-switch"},
 "site": {"id": 1, "url": "https://n/api/dcim/sites/1/", "name": "Z\u00fcrich ZRH1", "slug": "zrh1"},
 "platform": {"id": 1, "url": "https://n/api/dcim/platforms/1/", "name": "EOS"},
 "primary_ip": {"id": 7, "url": "https://n/api/ipam/ip-addresses/7/", "address": "10.1.1.1/24"},
 "description": "next to ams1-core-02", "serial": "AMS9"}"#;

fn find<'a>(matches: &'a [Match], kind: &str) -> &'a Match {
    matches.iter().find(|hit| &*hit.kind == kind).unwrap()
}

#[test]
fn an_object_and_its_parents_and_children() {
    let matches = recognise(&PACKS, DEVICE, &Knowledge::default()).matches;
    let wanted = [
        "device ams1-core-01",
        "manufacturer Arista",
        "device_type DCS-7280",
        "device_role Core switch",
        "site Zürich ZRH1",
        "ip_address 10.1.1.1/24",
        "device ams1-core-02",
    ];
    assert_eq!(words(&matches), wanted);
    let device = find(&matches, "device");
    let parents: Vec<String> = device
        .parents
        .iter()
        .map(|link| format!("{}: {} {}", link.field, link.kind, link.key))
        .collect();
    assert_eq!(
        parents,
        [
            "device_type: device_type dcs-7280",
            "role: device_role core switch",
            "site: site zürich zrh1"
        ]
    );
    assert_eq!(device.id.as_deref(), Some("101"));
    assert_eq!(device.display.as_deref(), Some("ams1-core-01 (NB1)"));
    assert!(!device.is_nested);
    assert_eq!(device.data.unwrap().json(DEVICE).unwrap(), DEVICE);
    let site = find(&matches, "site");
    assert_eq!(
        (site.slug.as_deref(), site.is_nested, site.data),
        (Some("zrh1"), true, None)
    );
    assert_eq!(&DEVICE[site.start..site.end], r"Z\u00fcrich ZRH1");
    let address = find(&matches, "ip_address");
    assert_eq!(address.key, "10.1.1.1");
    assert_eq!(address.parents[0].key, "ams1-core-01");
    assert_eq!(
        find(&matches, "device_type").parents[0].kind.as_ref(),
        "manufacturer"
    );
    assert_eq!(matches[6].how, RecognitionMethod::Pattern);
}

#[test]
fn results_within_results_are_read_and_known_by_their_place() {
    let inner = serde_json::json!({"results": [{"url": "https://n/api/dcim/sites/1/", "name": "Łódź \"1\""}]});
    let inner = serde_json::to_string(&inner).unwrap();
    for text in [
        serde_json::json!({"content": [{"type": "text", "text": inner}]}).to_string(),
        serde_json::json!({"content": [{"type": "text", "text": inner}]})
            .to_string()
            .replace('Ł', r"\u0141"),
        format!("Found:\n{inner}\n"),
    ] {
        let matches = recognise(&PACKS, &text, &Knowledge::default()).matches;
        assert_eq!(words(&matches), ["site Łódź \"1\""], "{text}");
        let data = matches[0].data.unwrap().json(&text).unwrap();
        let data: serde_json::Value = serde_json::from_str(&data).unwrap();
        assert_eq!(data["name"], "Łódź \"1\"", "{text}");
        let name = &text[matches[0].start..matches[0].end];
        assert!(
            name.ends_with("1\\\"") || name.ends_with("1\\\\\\\""),
            "{name}"
        );
    }
}

#[test]
fn the_kind_is_told_by_type_field_key_or_call() {
    let cases = [
        (
            r#"{"object_type": "dcim.cable", "results": [{"id": 901, "label": "FIB-2574"}]}"#,
            "cable FIB-2574",
        ),
        (
            r#"{"dcim.site": [], "virtualization.virtualmachine": [{"id": 79, "display": "hsm"}]}"#,
            "virtual_machine hsm",
        ),
        (r#"{"device": {"name": "x9"}}"#, "device x9"),
        (r#"{"device": "x9"}"#, "device x9"),
        (
            r#"{"id": 3, "display_url": "https://n/ipam/ip-addresses/3/", "address": "10.1.1.2/24"}"#,
            "ip_address 10.1.1.2/24",
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(found(text), [wanted], "{text}");
    }
    // Another type, no type, an invalid address, a missing name, an empty name.
    for text in [
        r#"{"url": "https://n/api/dcim/platforms/1/", "name": "EOS"}"#,
        r#"{"role": "user", "name": "x"}"#,
        r#"{"ip": "none"}"#,
        r#"{"site": {"id": 4}}"#,
        r#"{"site": {"name": ""}}"#,
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
    let reported = Knowledge {
        objects: PACKS.kind_of("dcim.vlan").or(PACKS.kind_of("ipam.vlan")),
        ..Knowledge::default()
    };
    let text = r#"[{"id": 5, "vid": 100, "name": "web", "site": {"name": "AMS"}}]"#;
    let matches = recognise(&PACKS, text, &reported).matches;
    assert_eq!(words(&matches), ["vlan web", "site AMS"]);
    assert_eq!(matches[0].key, "ams/web");
}

#[test]
fn names_alike_on_several_devices_are_several() {
    let interface = |device: &str| {
        format!(
            r#"{{"url": "/api/dcim/interfaces/1/", "name": "eth0", "device": {{"name": "{device}"}}}}"#
        )
    };
    let text = format!("[{}, {}]", interface("a-1"), interface("b-1"));
    let matches = recognise(&PACKS, &text, &Knowledge::default()).matches;
    let keys: Vec<&str> = matches
        .iter()
        .filter(|hit| &*hit.kind == "interface")
        .map(|hit| hit.key.as_str())
        .collect();
    assert_eq!(keys, ["a-1/eth0", "b-1/eth0"]);
}

#[test]
fn prose_around_json_is_searched() {
    assert_eq!(
        found("See switch-nyc-01:\n{\"note\": \"and router-la-02\"}\nand #12"),
        ["device switch-nyc-01", "device router-la-02", "issue #12"]
    );
    assert_eq!(found("{not json} switch-nyc-01"), ["device switch-nyc-01"]);
}

#[test]
fn cables_join_interfaces_and_addresses_belong_to_them() {
    let interface = |id: usize, device: &str| {
        format!(
            r#"{{"id": {id}, "url": "https://n/api/dcim/interfaces/{id}/", "display": "et-0/0/0", "device": {{"id": 1,
            "url": "https://n/api/dcim/devices/1/", "display": "{device}", "name": "{device}"}}, "name": "et-0/0/0"}}"#
        )
    };
    let (one, other) = (interface(1, "ams1-rtr-01"), interface(2, "ams1-core-01"));
    let cable = format!(
        r##"{{"id": 905, "url": "https://n/api/dcim/cables/905/", "display": "#905", "label": "",
        "a_terminations": [{{"object_type": "dcim.interface", "object_id": 1, "object": {one}}}],
        "b_terminations": [{{"object_type": "dcim.interface", "object_id": 2, "object": {other}}}]}}"##
    );
    let matches = recognise(&PACKS, &cable, &Knowledge::default()).matches;
    let wanted = [
        "cable #905",
        "device ams1-rtr-01",
        "interface et-0/0/0",
        "device ams1-core-01",
        "interface et-0/0/0",
    ];
    assert_eq!(words(&matches), wanted);
    let parents: Vec<&str> = matches[2]
        .parents
        .iter()
        .map(|link| link.key.as_str())
        .collect();
    // An interface belongs to its device, not to what a cable joins it with.
    assert_eq!(parents, ["ams1-rtr-01"]);

    let address = format!(
        r#"{{"count": 1, "results": [{{"id": 3301, "url": "https://n/api/ipam/ip-addresses/3301/",
        "address": "10.1.1.1/24", "vrf": {{"id": 1, "url": "https://n/api/ipam/vrfs/1/", "name": "mgmt"}},
        "assigned_object_type": "dcim.interface", "assigned_object": {one}}}]}}"#
    );
    let matches = recognise(&PACKS, &address, &Knowledge::default()).matches;
    let address = find(&matches, "ip_address");
    let parents: Vec<&str> = address
        .parents
        .iter()
        .map(|link| link.key.as_str())
        .collect();
    assert_eq!(parents, ["mgmt", "ams1-rtr-01/et-0/0/0"]);
    assert!(address.data.is_some() && find(&matches, "vrf").data.is_none());
}

#[test]
fn patterns_never_cross_strings_and_keys_are_no_text() {
    for text in [
        r#"{"type":"dcim.rack","time":"2025-10-06T13:55:09Z"}"#,
        r#"{"text":"on the site","code":"PCI"}"#,
        r#"["the rack","A1"]"#,
        r#"{"k":["x y",{"a":"see vlan","b":"120"}]}"#,
        r#"Answer: {"note":"the switch","rack":{"x":1},"n":"qx12"}"#,
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
    // Within a string they match.
    assert_eq!(found(r#"{"note":"on site PCI"}"#), ["site PCI"]);
}

#[test]
fn an_interface_belongs_to_its_device() {
    let text = r#"{"id":2003,"url":"/api/dcim/interfaces/2003/","name":"Ethernet49/1","cable":{"id":903,"url":"/api/dcim/cables/903/",
        "display":"FIB-2574","label":"FIB-2574"},"device":{"id":101,"url":"/api/dcim/devices/101/","name":"ams1-core-01"},
        "link_peers":[{"id":2102,"url":"/api/dcim/interfaces/2102/","name":"et-0/0/0","device":{"id":103,"url":"/api/dcim/devices/103/","name":"ams1-rtr-01"}}],
        "connected_endpoints":[{"id":2102,"url":"/api/dcim/interfaces/2102/","name":"et-0/0/0","device":{"id":103,"url":"/api/dcim/devices/103/","name":"ams1-rtr-01"}}],
        "untagged_vlan":{"id":501,"url":"/api/ipam/vlans/501/","name":"mgmt","vid":10}}"#;
    let matches = recognise(&PACKS, text, &Knowledge::default()).matches;
    let parents = |name: &str| -> Vec<&str> {
        let hit = matches.iter().find(|hit| hit.name == name).unwrap();
        hit.parents.iter().map(|link| link.key.as_str()).collect()
    };
    assert_eq!(parents("Ethernet49/1"), ["ams1-core-01"]);
    assert_eq!(parents("et-0/0/0"), ["ams1-rtr-01"]);
    assert_eq!(parents("mgmt"), [""; 0]);
}

#[test]
fn urls_and_types_tell_the_kind() {
    for (text, wanted) in [
        (
            r#"{"number":7,"title":"x","html_url":"https://g.example.com/a/b/pull/7"}"#,
            "pull_request #7",
        ),
        (
            r#"{"iid":8,"title":"x","web_url":"https://g.example.com/a/b/-/merge_requests/8"}"#,
            "pull_request !8",
        ),
        (
            r#"{"number":9,"html_url":"https://g.example.com/a/b/issues/9","title":"x"}"#,
            "issue #9",
        ),
        (
            r#"{"type":"paper","id":"2004.12832","title":"ColBERT: Efficient passage search"}"#,
            "paper 2004.12832",
        ),
        (
            r#"{"type":"order","order_id":"10231","status":"shipped"}"#,
            "order 10231",
        ),
    ] {
        assert!(
            found(text).contains(&wanted.to_owned()),
            "{text} {:?}",
            found(text)
        );
    }
    for text in [
        r#"{"type":"string","name":"limit"}"#,
        r#"{"type":"text","text":"hello"}"#,
        r#"{"type":"directory","name":"src"}"#,
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
    // A comment of an issue is not the issue.
    let text =
        r#"{"id":5,"html_url":"https://g.example.com/a/b/issues/9#issuecomment-5","body":"ok"}"#;
    assert_eq!(
        found(text),
        ["url https://g.example.com/a/b/issues/9#issuecomment-5"]
    );
}

#[test]
fn tables_are_read_by_column() {
    let text = "## Clusters\n\n**Total:** 2\n\n| id | name | type | site |\n| --- | --- | --- | --- |\n\
        | 1 | ams1-pve-01 | Proxmox | Amsterdam AMS1 |\n| 2 | zrh1-vsphere-01 | vSphere | Z\u{fc}rich ZRH1 |\n\nafter";
    assert_eq!(
        found(text),
        [
            "cluster ams1-pve-01",
            "site Amsterdam AMS1",
            "cluster zrh1-vsphere-01",
            "site Z\u{fc}rich ZRH1"
        ]
    );
    // A table that says nothing of its kind is prose.
    let text = "| status | meaning |\n| --- | --- |\n| paid | money arrived |";
    assert_eq!(found(text), [""; 0]);
}

/// An object keeps the key of its own name. That it is what another name means is decided by who stores both; a
/// reference then means the one that stands for them.
#[test]
fn an_object_keeps_its_key_and_references_mean_what_stands_for_it() {
    let session = Gazetteer::new([KnownName::new("device", "switch-nyc-01", "switch-nyc-01")]);
    let knowledge = Knowledge {
        gazetteers: &[&session],
        ..Knowledge::default()
    };
    let text = r#"[{"id":3,"url":"http://x/api/dcim/devices/3/","name":"Switch NYC 01","slug":"switch-nyc-01"}]"#;
    let found = recognise(&PACKS, text, &knowledge);
    assert_eq!(found.matches[0].key, "switch nyc 01");
    assert_eq!(found.matches[0].slug.as_deref(), Some("switch-nyc-01"));
    let said = recognise(&PACKS, "switch-nyc-01 is down", &knowledge);
    let past = [
        Arc::new(PastText::of(TextSource::Result, &found.matches, &[])),
        Arc::new(PastText::of(TextSource::Person, &said.matches, &[])),
    ];
    let same = [SameEntity {
        kind: "device".into(),
        key: "switch nyc 01".to_owned(),
        root: "switch-nyc-01".to_owned(),
    }];
    for (same, wanted) in [
        (&same[..0], ["switch nyc 01"]),
        (&same[..], ["switch-nyc-01"]),
    ] {
        let knowledge = Knowledge {
            past: &past,
            source: TextSource::Person,
            same,
            ..knowledge
        };
        let meant = recognise(&PACKS, "is it up?", &knowledge).matches;
        let keys: Vec<&str> = meant.iter().map(|hit| hit.key.as_str()).collect();
        assert_eq!(keys, wanted);
    }
}

/// JSON of tools that no pack knows is read by its structure.
#[test]
fn structure_tells_the_kind_of_unknown_objects() {
    for (text, wanted) in [
        (
            r#"{"results":[{"id":83102,"result_type":"ticket","subject":"Trips the breaker"}]}"#,
            vec!["issue #83102"],
        ),
        (
            r#"{"ticket":{"id":90417,"subject":"Burnt"}}"#,
            vec!["issue #90417"],
        ),
        (
            r#"{"check_runs":[{"id":7,"name":"miri"}]}"#,
            vec!["check_run miri"],
        ),
        (r#"{"items":[{"id":7,"name":"miri"}]}"#, vec![]),
        (
            r#"{"records":[{"uuid":"b1d0c7e2","name":"claims_data"}]}"#,
            vec!["thing claims_data"],
        ),
        (
            r#"{"rows":[{"model":"SonoMAE-B","f1":1},{"model":"ProtoBat","f1":2}]}"#,
            vec!["model SonoMAE-B", "model ProtoBat"],
        ),
        // The first key of a row is another name of it.
        (
            r#"[{"vm":"vm-1043","name":"Gutenberg"},{"vm":"vm-1107","name":"Hypatia"}]"#,
            vec!["virtual_machine Gutenberg", "virtual_machine Hypatia"],
        ),
        (
            r#"{"jobName":"Nightly-Claims","vms":["Gutenberg"],"tags":["Blue-1"]}"#,
            vec!["job Nightly-Claims", "virtual_machine Gutenberg"],
        ),
        (
            r#"{"initiatedBy":{"name":"Kaito Reyes"}}"#,
            vec!["person Kaito Reyes"],
        ),
        (
            r#"{"node":"click here","pod":"ais-ingest-0"}"#,
            vec!["pod ais-ingest-0"],
        ),
        // A field of an object's own kind names another object.
        (
            r#"[{"device":{"name":"blade-7x","parent_device":"chassis-1x"}}]"#,
            vec!["device blade-7x", "device chassis-1x"],
        ),
    ] {
        let matches = recognise(&PACKS, text, &Knowledge::default()).matches;
        assert_eq!(words(&matches), wanted, "{text}");
    }
}

/// A list of Kubernetes says the kind of its items, and not of what is within them.
#[test]
fn a_list_of_kubernetes_tells_the_kind_of_its_items() {
    let text = r#"{"kind":"DeploymentList","items":[{"metadata":{"name":"fx-rates"},
        "spec":{"template":{"metadata":{"name":"fx-template"}}}}]}"#;
    let matches = recognise(&PACKS, text, &Knowledge::default()).matches;
    assert_eq!(words(&matches), ["deployment fx-rates"]);
}

/// A person in a field is not a parent of the object; a contact in such a field is one.
#[test]
fn people_in_fields_are_no_parents() {
    let text = r#"{"url":"https://n/api/dcim/devices/1/","name":"ams1-core-01","installed_by":"Magnus Leask","contact":"Ops"}"#;
    let matches = recognise(&PACKS, text, &Knowledge::default()).matches;
    let parents = &find(&matches, "device").parents;
    let parents: Vec<&str> = parents.iter().map(|link| &*link.kind).collect();
    assert_eq!(parents, ["contact"]);
    assert_eq!(find(&matches, "person").name, "Magnus Leask");
}
