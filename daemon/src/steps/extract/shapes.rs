//! Extraction from shortened outputs of real servers and commands: everything that a careful reader finds, and
//! nothing else.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{ExtractorSet, extract};
use crate::steps::parse::parse;

/// Lists everything extracted from a result except JSON, one line per type.
fn found(raw: &str) -> Vec<String> {
    let parsed = parse(raw);
    let extracted = extract(&parsed, &ExtractorSet::default());
    let types = extracted
        .types
        .iter()
        .filter(|found| found.name != "json" && !found.values.is_empty());
    types
        .map(|found| {
            let values = found
                .values
                .iter()
                .map(|value| value.value(&parsed).to_string());
            format!("{}: {}", found.name, values.collect::<Vec<_>>().join(" "))
        })
        .collect()
}

/// Lists the fields of a result as `path=value`.
fn fields(raw: &str) -> Vec<String> {
    parse(raw)
        .fields()
        .map(|field| format!("{}={}", field.path, field.value))
        .collect()
}

#[test]
fn a_git_log_with_blanks_in_its_dates() {
    let raw = r#"{"content":[{"text":"Commit: 6f27f631460fa6fe054bfcbb4b5b713b84c81500\nAuthor: Ada Example\nDate: 2025-10-21 10:00:59+00:00\nMessage: Announce the window\n\nCommit: 4f2e12edecaca3d8ca7eccbac0eaebf044e8fb29\nAuthor: Bo Example <bo@example.org>\nDate: 2025-09-02 17:20:10 +0200\nMessage: Pull Request 52 (#57)\n","type":"text"}],"isError":false}"#;
    assert_eq!(
        found(raw),
        [
            r#"id: "52" "57""#,
            r#"date: "2025-10-21 10:00:59+00:00" "2025-09-02 17:20:10 +0200""#,
            "number: 52 57",
            r#"email: "bo@example.org""#,
        ]
    );
    // Each commit has its own date, and the first one answers.
    let dates: Vec<String> = fields(raw)
        .into_iter()
        .filter(|field| field.contains("Date="))
        .collect();
    assert_eq!(
        dates,
        [
            r#"[0].Date="2025-10-21 10:00:59+00:00""#,
            r#"[1].Date="2025-09-02 17:20:10 +0200""#
        ]
    );
}

#[test]
fn rows_as_python_prints_them() {
    let raw = r#"{"content":[{"type":"text","text":"[('INV-2025-00010', 70010, \"Pat O'Example\", datetime.date(2025, 9, 2), 21.5, None)]"}],"isError":false}"#;
    assert_eq!(
        found(raw),
        [
            r#"id: "70010""#,
            r#"date: "2025-09-02""#,
            "number: 70010 21.5"
        ]
    );
    assert_eq!(
        parse(raw).data().unwrap().to_string(),
        r#"[["INV-2025-00010",70010,"Pat O'Example","2025-09-02",21.5,null]]"#
    );
}

#[test]
fn a_record_in_markdown_within_one_string_field() {
    let raw = r###"{"_meta":{"fastmcp":{"wrap_result":true}},"content":[],"structuredContent":{"result":"## Device: core-02\n\n**Total:** 6 | **Showing:** 6\n- **id:** 103\n- **primary_ip:** 10.10.10.12/24\n- **url:** https://netbox.example.com/dcim/devices/103/\n"},"isError":false}"###;
    assert_eq!(
        found(raw),
        [
            "number: 6 103",
            r#"url: "https://netbox.example.com/dcim/devices/103/""#
        ]
    );
    let fields = fields(raw);
    for field in [
        r#"id="103""#,
        r#"primary_ip="10.10.10.12/24""#,
        r#"Total="6""#,
    ] {
        assert!(fields.contains(&field.to_owned()), "{field}: {fields:?}");
    }
}

#[test]
fn ids_as_strings_and_keys_with_dots() {
    let raw = r#"{"content":[{"type":"text","text":"{\"id\":\"880741\",\"iid\":\"57\",\"project_id\":\"1187\",\"dcim.device\":[{\"id\":79}],\"closed_at\":null,\"description\":\"Closes #41.\\nAs of 2025-07-01.\"}"}]}"#;
    assert_eq!(
        found(raw),
        [
            r#"id: "880741" "1187" 79 "41""#,
            r#"date: "2025-07-01""#,
            "number: 880741 57 1187 79 41"
        ]
    );
    assert!(fields(raw).contains(&"dcim.device[0].id=79".to_owned()));
}

#[test]
fn a_journal_as_json_lines() {
    let raw = "{\"_PID\": \"2141\", \"MESSAGE\": \"order 70043: failed after 3 attempts\"}\n{\"_PID\": \"2141\", \"REQUEST_ID\": \"9f0c2f4e-77aa-4b1d-8c3e-112233445566\"}\n";
    assert_eq!(
        found(raw),
        [
            r#"id: "9f0c2f4e-77aa-4b1d-8c3e-112233445566" "2141" "70043""#,
            "number: 2141 70043 3"
        ]
    );
}

#[test]
fn a_stack_trace_told_as_success() {
    let raw = r#"{"content":[{"type":"text","text":"Database error: no module\nTraceback (most recent call last):\n  File \"/home/dev/lib/python3.11/asyncio/base_events.py\", line 1922, in _run_once\n  File \"/home/dev/server.py\", line 58, in main\n"}],"isError":false}"#;
    assert_eq!(found(raw), ["number: 1922 58"]);
    assert!(fields(raw).contains(&r#"Database error="no module""#.to_owned()));
}

#[test]
fn system_log_lines() {
    let raw = "Oct 30 23:33:11 web-02 orderdesk[8968]: ERROR order 70166: failed (request 8d0f7dc6-5458-4cfb-ae61-c6b2a1870a22)\nOct 30 23:33:29 web-02 kernel: [76818.869303] listening on 127.0.0.1:8430\n198.51.100.40 - - [30/Oct/2025:22:40:27 +0000] \"GET /api/v1/orders/70145 HTTP/1.1\" 200 35419\n";
    assert_eq!(
        found(raw)[0],
        r#"id: "70166" "8d0f7dc6-5458-4cfb-ae61-c6b2a1870a22" "70145" "35419""#
    );
    assert_eq!(
        found(raw).len(),
        2,
        "neither dates nor JSON: {:?}",
        found(raw)
    );
    assert!(
        parse(raw)
            .documents()
            .iter()
            .all(|document| document.blocks.is_empty())
    );
}

#[test]
fn a_folder_and_a_network_interface() {
    let raw = "total 60\n-rw-r--r-- 1 dev dev  894 2026-11-21 21:52:53.550462087 +0000 deploy.yaml\ndrwxr-xr-x 6 dev dev   64 May 20  2026 .rustup\n    link/ether 7a:91:62:af:a0:7c brd ff:ff:ff:ff:ff:ff\n    inet6 2001:db8:10:100::22/64 scope global\n    inet 10.10.100.22/24 scope global\n";
    assert_eq!(
        found(raw),
        [
            r#"date: "2026-11-21 21:52:53.550462087 +0000""#,
            "number: 60 1 894 6 64 20 2026"
        ]
    );
}

#[test]
fn comma_separated_values() {
    let raw = "order_id,email,issued,net,vat\n70010,pat@example.ie,2025-09-16,113.61,21.59\n70013,ann@example.ie,2025-09-17,-1500,3.43\n";
    assert_eq!(
        found(raw),
        [
            r#"id: "70010" "70013""#,
            r#"date: "2025-09-16" "2025-09-17""#,
            "number: 70010 113.61 21.59 70013 -1500 3.43",
            r#"email: "pat@example.ie" "ann@example.ie""#,
        ]
    );
}

#[test]
fn a_note_with_json_below_it_and_a_telephone_number() {
    let raw = "Ticket: INC0048213\nPhone: +48 22 555 01 77\nURL: https://tickets.example.com/INC0048213?view=full#notes.\n 1. flaps every 4,200 s, -3.5 °C\n\n{\n  \"id\": 1201,\n  \"closedDate\": \"2025-10-14T15:30:00Z\",\n  \"assignee\": {\"email\": \"bo@example.org\"}\n}\n";
    assert_eq!(
        found(raw),
        [
            "id: 1201",
            r#"date: "2025-10-14T15:30:00Z""#,
            "number: 1 4200 -3.5 1201",
            r#"url: "https://tickets.example.com/INC0048213?view=full#notes""#,
            r#"email: "bo@example.org""#,
        ]
    );
}

#[test]
fn a_record_of_settings() {
    let raw = "          id = 70010\n      status = shipped\n   placed_at = 2025-09-02T03:04:24Z\n        note = \n";
    assert_eq!(
        fields(raw),
        [
            r#"id="70010""#,
            r#"status="shipped""#,
            r#"placed_at="2025-09-02T03:04:24Z""#
        ]
    );
    assert_eq!(
        found(raw),
        [
            r#"id: "70010""#,
            r#"date: "2025-09-02T03:04:24Z""#,
            "number: 70010"
        ]
    );
}

#[test]
fn a_patch() {
    let raw = "diff --git a/docs/deploy.md b/docs/deploy.md\nnew file mode 100644\nindex 0000000..7e29c08\nindex a1e47be..7e29c08 100644\n@@ -13,2 +13,6 @@ see CHG-20418\n+Wait for port 8430 (PR #1043).\n";
    assert_eq!(found(raw)[0], r#"id: "1043""#);
}
