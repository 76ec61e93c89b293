//! Judged names of lists, dates, errors and addresses: results as services return them, and what a person would mean.

use super::judged::{Judged, JudgedFailure, judge_all};

const LISTS: &[Judged] = &[
    // GitHub: issues, each with its user, labels and milestone.
    (
        r#"[{"id":1,"number":42,"title":"Crash","state":"open","body":"It crashes","user":{"id":5,"login":"mona"},"labels":[{"id":7,"name":"bug"},{"id":8,"name":"ui"}],"milestone":{"id":9,"title":"v1","state":"closed","description":"First"}},{"id":2,"number":43,"title":"Typo","state":"closed","body":null,"user":{"id":6,"login":"hubot"},"labels":[{"id":7,"name":"bug"}],"milestone":{"id":9,"title":"v1","state":"closed","description":"First"}}]"#,
        &[
            ("ALL_IDS_FROM_STEP_1", "[1,2]"),
            ("IDS_FROM_STEP_1", "[1,2]"),
            ("ALL_IDS_FROM_STEP_1_ID", "[1,2]"),
            ("TITLES_FROM_STEP_1", r#"["Crash","Typo"]"#),
            ("ALL_NAMES_FROM_STEP_1", r#"["Crash","Typo"]"#),
            ("STATES_FROM_STEP_1", r#"["open","closed"]"#),
            ("NUMBERS_FROM_STEP_1", "[42,43]"),
            // The second has none, which is not that of its milestone.
            ("ALL_DESCRIPTIONS_FROM_STEP_1", r#"["It crashes"]"#),
            ("ALL_USER_IDS_FROM_STEP_1", "[5,6]"),
            ("USER_LOGINS_FROM_STEP_1", r#"["mona","hubot"]"#),
            ("LABEL_IDS_FROM_STEP_1", "[7,8]"),
            ("ALL_LABEL_NAMES_FROM_STEP_1", r#"["bug","ui"]"#),
            ("LABEL_NAME_FROM_STEP_1", r#""bug""#),
            ("ID_FROM_STEP_1", "1"),
        ],
    ),
    // The same list in what services put around it.
    (
        r#"{"id":99,"items":[{"id":1,"user":{"id":5}},{"id":2,"user":{"id":6}}]}"#,
        &[("ALL_IDS_FROM_STEP_1", "[1,2]"), ("ID_FROM_STEP_1", "99")],
    ),
    (
        r#"{"data":{"repository":{"id":"R","issues":{"nodes":[{"id":"a","author":{"id":"x"}},{"id":"b","author":{"id":"y"}}]}}}}"#,
        &[("IDS_FROM_STEP_1", r#"["a","b"]"#)],
    ),
    (
        r#"{"data":{"issues":{"edges":[{"cursor":"1","node":{"id":"a","author":{"id":"x"}}},{"cursor":"2","node":{"id":"b","author":{"id":"y"}}}]}}}"#,
        &[
            ("IDS_FROM_STEP_1", r#"["a","b"]"#),
            ("CURSORS_FROM_STEP_1", r#"["1","2"]"#),
        ],
    ),
    (
        r#"[[{"id":1,"user":{"id":5}},{"id":2}],[{"id":3,"user":{"id":6}}]]"#,
        &[("IDS_FROM_STEP_1", "[1,2,3]")],
    ),
    // A server that returns each item as a text of its own.
    (
        r#"{"content":[{"type":"text","text":"{\"id\":1,\"user\":{\"id\":5}}"},{"type":"text","text":"{\"id\":2,\"user\":{\"id\":6}}"}]}"#,
        &[("IDS_FROM_STEP_1", "[1,2]")],
    ),
    (
        "{\"id\":1,\"user\":{\"id\":5}}\n{\"id\":2,\"user\":{\"id\":6}}\n",
        &[("IDS_FROM_STEP_1", "[1,2]")],
    ),
    (
        r#"[{"title":"a","m":{"title":"x"}},{"title":"b"}]"#,
        &[("TITLES_FROM_STEP_1", r#"["a","b"]"#)],
    ),
    // Items of two kinds: each gives its own.
    (
        r#"[{"pull":{"id":1,"author":{"id":8}}},{"id":2,"author":{"id":9}},{"author":{"login":"x"}}]"#,
        &[("IDS_FROM_STEP_1", "[1,2]")],
    ),
    // Groups, whose members have the field.
    (
        r#"[{"team":"a","members":[{"id":1},{"id":2}]},{"team":"b","members":[{"id":3}]}]"#,
        &[
            ("IDS_FROM_STEP_1", "[1,2,3]"),
            ("MEMBER_IDS_FROM_STEP_1", "[1,2,3]"),
            ("TEAMS_FROM_STEP_1", r#"["a","b"]"#),
        ],
    ),
    // One object: with a list inside, with a list without the field, and without a list.
    (
        r#"{"team":"a","members":[{"id":1,"boss":{"id":5}},{"id":2}]}"#,
        &[("IDS_FROM_STEP_1", "[1,2]")],
    ),
    (
        r#"{"id":1,"user":{"id":5},"tags":["x","y"]}"#,
        &[
            ("ALL_IDS_FROM_STEP_1", "[1,5]"),
            ("ALL_TAGS_FROM_STEP_1", r#"["x","y"]"#),
            ("TAGS_FROM_STEP_1", r#"["x","y"]"#),
        ],
    ),
    // GitLab: merge requests with their pipelines.
    (
        r#"[{"iid":1,"state":"merged","pipeline":{"status":"failed"}},{"iid":2,"state":"opened","pipeline":{"status":"success"}}]"#,
        &[
            ("STATUSES_FROM_STEP_1", r#"["merged","opened"]"#),
            ("PIPELINE_STATUSES_FROM_STEP_1", r#"["failed","success"]"#),
        ],
    ),
    // NetBox: devices.
    (
        r#"{"count":2,"results":[{"id":1201,"name":"ams1-core-01","device_type":{"id":4,"model":"MX204"},"site":{"id":3,"name":"AMS1"},"serial":"A1","tags":[{"id":50,"name":"prod"}]},{"id":1202,"name":"ams1-core-02","device_type":{"id":4,"model":"MX204"},"site":{"id":3,"name":"AMS1"},"serial":"B2","tags":[]}]}"#,
        &[
            ("IDS_FROM_STEP_1", "[1201,1202]"),
            ("NAMES_FROM_STEP_1", r#"["ams1-core-01","ams1-core-02"]"#),
            ("SITE_IDS_FROM_STEP_1", "[3]"),
            ("TAG_NAMES_FROM_STEP_1", r#"["prod"]"#),
            ("SERIALS_FROM_STEP_1", r#"["A1","B2"]"#),
        ],
    ),
    // Jira: a search.
    (
        r#"{"startAt":0,"total":2,"issues":[{"id":"10068","key":"OPS-214","fields":{"summary":"One","status":{"id":"3","name":"To Do"},"priority":{"id":"2","name":"High"},"reporter":{"emailAddress":"bo@example.com"}}},{"id":"10069","key":"OPS-215","fields":{"summary":"Two","status":{"id":"4","name":"Done"},"priority":{"id":"2","name":"High"}}}]}"#,
        &[
            ("IDS_FROM_STEP_1", r#"["10068","10069"]"#),
            ("KEYS_FROM_STEP_1", r#"["OPS-214","OPS-215"]"#),
            ("TITLES_FROM_STEP_1", r#"["One","Two"]"#),
            ("ISSUE_KEYS_FROM_STEP_1", r#"["OPS-214","OPS-215"]"#),
            ("STATUS_NAMES_FROM_STEP_1", r#"["To Do","Done"]"#),
            ("REPORTER_EMAIL_FROM_STEP_1", r#""bo@example.com""#),
        ],
    ),
    // kubectl: pods.
    (
        r#"{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[{"kind":"Pod","metadata":{"name":"web-1","namespace":"shop","labels":{"name":"web"},"ownerReferences":[{"name":"web-rs","uid":"u"}]},"spec":{"containers":[{"name":"app","image":"shop:1"}],"volumes":[{"name":"tmp"}]},"status":{"phase":"Running"}},{"kind":"Pod","metadata":{"name":"web-2","namespace":"shop"},"spec":{"containers":[{"name":"app","image":"shop:2"}]},"status":{"phase":"Pending"}}]}"#,
        &[
            ("NAMES_FROM_STEP_1", r#"["web-1","web-2"]"#),
            ("ALL_NAMES_FROM_STEP_1", r#"["web-1","web-2"]"#),
            ("PHASES_FROM_STEP_1", r#"["Running","Pending"]"#),
            ("IMAGES_FROM_STEP_1", r#"["shop:1","shop:2"]"#),
            ("CONTAINER_NAMES_FROM_STEP_1", r#"["app"]"#),
            ("KINDS_FROM_STEP_1", r#"["Pod"]"#),
            ("CLASSES_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    // AWS: instances and volumes.
    (
        r#"{"Reservations":[{"ReservationId":"r-1","Instances":[{"InstanceId":"i-1","State":{"Code":16,"Name":"running"},"BlockDeviceMappings":[{"Ebs":{"VolumeId":"vol-1"}}]},{"InstanceId":"i-2","State":{"Code":80,"Name":"stopped"}}]},{"ReservationId":"r-2","Instances":[{"InstanceId":"i-3","State":{"Code":16,"Name":"running"}}]}]}"#,
        &[
            ("INSTANCE_IDS_FROM_STEP_1", r#"["i-1","i-2","i-3"]"#),
            ("ALL_INSTANCE_IDS_FROM_STEP_1", r#"["i-1","i-2","i-3"]"#),
            ("RESERVATION_IDS_FROM_STEP_1", r#"["r-1","r-2"]"#),
            ("STATE_NAMES_FROM_STEP_1", r#"["running","stopped"]"#),
            ("VOLUME_IDS_FROM_STEP_1", r#"["vol-1"]"#),
        ],
    ),
    (
        r#"{"Volumes":[{"VolumeId":"vol-1","Size":8},{"VolumeId":"vol-2","Size":100}],"Sizes":"both"}"#,
        &[
            ("ALL_SIZES_FROM_STEP_1", "[8,100]"),
            ("SIZES_FROM_STEP_1", r#""both""#),
            ("SIZE_FROM_STEP_1", "8"),
        ],
    ),
    (
        r#"{"Contents":[{"Key":"a.txt","Size":8},{"Key":"b.txt","Size":100}]}"#,
        &[
            ("SIZES_FROM_STEP_1", "[8,100]"),
            ("KEYS_FROM_STEP_1", r#"["a.txt","b.txt"]"#),
        ],
    ),
    // A list of the name itself.
    (
        r#"{"ids":[1,2],"items":[{"id":1,"user":{"id":5}}],"labels":["a","b"]}"#,
        &[
            ("ALL_IDS_FROM_STEP_1", "[1,2]"),
            ("IDS_FROM_STEP_1", "[1,2]"),
            ("ALL_LABELS_FROM_STEP_1", r#"["a","b"]"#),
        ],
    ),
    // One object is no list of what it has.
    (
        r#"{"key":"OPS-1","size":3}"#,
        &[("SIZES_FROM_STEP_1", "!field_not_found")],
    ),
];

const VALUES: &[Judged] = &[
    // The date of completion, in any spelling, before that of creation.
    (
        r#"{"createdDate":"2024-01-01","completionDate":"2025-01-01"}"#,
        &[
            ("DATE_FROM_STEP_1", r#""2025-01-01""#),
            ("RESULT_FROM_STEP_1_COMPLETION_DATE", r#""2025-01-01""#),
            ("DATE_FROM_STEP_1_DATE", r#""2025-01-01""#),
            ("CREATED_DATE_FROM_STEP_1", r#""2024-01-01""#),
        ],
    ),
    (
        r#"{"createdDate":"2024-01-01","completedDate":"2025-01-01","closedDate":null}"#,
        &[("DATE_FROM_STEP_1", r#""2025-01-01""#)],
    ),
    (
        r#"{"created_at":"2024-01-01","completed_at":"2025-01-01"}"#,
        &[("DATE_FROM_STEP_1", r#""2025-01-01""#)],
    ),
    (
        r#"{"updated":"2024-03-01","created":"2024-01-01","merged_at":"2025-01-01","completed":true}"#,
        &[("DATE_FROM_STEP_1", r#""2025-01-01""#)],
    ),
    (
        r#"{"created":"2024-01-01T00:00:00Z","completed":5,"closed":false}"#,
        &[
            ("DATE_FROM_STEP_1", r#""2024-01-01T00:00:00Z""#),
            ("COMPLETED_FROM_STEP_1", "5"),
            ("MERGED_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    (
        r#"{"fields":{"created":"2024-01-01","resolutiondate":"2025-01-01","updated":"2025-02-01"}}"#,
        &[("DATE_FROM_STEP_1", r#""2025-01-01""#)],
    ),
    (
        r#"{"metadata":{"creationTimestamp":"2024-01-01T00:00:00Z"},"lastUpdated":1}"#,
        &[
            ("DATE_FROM_STEP_1", r#""2024-01-01T00:00:00Z""#),
            ("CREATED_AT_FROM_STEP_1", r#""2024-01-01T00:00:00Z""#),
        ],
    ),
    // Of a list, that of the first item.
    (
        r#"[{"id":1,"created_at":"2024-01-01","closed_at":null},{"id":2,"created_at":"2024-01-02","closed_at":"2025-01-01"}]"#,
        &[
            ("ID_FROM_STEP_1", "1"),
            ("DATE_FROM_STEP_1", r#""2024-01-01""#),
            ("DATE_FROM_STEP_1_DATE", r#""2024-01-01""#),
            ("CLOSED_DATE_FROM_STEP_1", r#""2025-01-01""#),
        ],
    ),
    // The result as it was recorded, whatever is in it.
    (
        r#"{"result":{"id":5},"ok":true}"#,
        &[
            (
                "RESULT_FROM_STEP_1",
                r#""{\"result\":{\"id\":5},\"ok\":true}""#,
            ),
            ("RESULT_FROM_STEP_1_RESULT", r#"{"id":5}"#),
            ("RESULT_FROM_STEP_1_ID", "5"),
            ("RESULT_ID_FROM_STEP_1", "5"),
        ],
    ),
    ("plain", &[("RESULT_FROM_STEP_1_RESULT", r#""plain""#)]),
    // Ids of a text in the order of the text.
    (
        "order 12345 of account 550e8400-e29b-41d4-a716-446655440000",
        &[
            ("ID_FROM_STEP_1", r#""12345""#),
            (
                "ALL_IDS_FROM_STEP_1",
                r#"["12345","550e8400-e29b-41d4-a716-446655440000"]"#,
            ),
        ],
    ),
    (
        r#"{"note":"order 12345 of account 550e8400-e29b-41d4-a716-446655440000, see #77"}"#,
        &[
            ("NOTE_FROM_STEP_1_ID", r#""12345""#),
            (
                "ALL_IDS_FROM_STEP_1",
                r#"["12345","550e8400-e29b-41d4-a716-446655440000","77"]"#,
            ),
        ],
    ),
    (
        "account 550e8400-e29b-41d4-a716-446655440000 has order 12345",
        &[(
            "ID_FROM_STEP_1",
            r#""550e8400-e29b-41d4-a716-446655440000""#,
        )],
    ),
    // Addresses of people.
    (
        r#"{"fields":{"creator":{"emailAddress":"ana@example.com"},"assignee":{"emailAddress":"kim@example.com"}}}"#,
        &[
            ("AUTHOR_EMAIL_FROM_STEP_1", r#""ana@example.com""#),
            ("ASSIGNEE_EMAIL_FROM_STEP_1", r#""kim@example.com""#),
            ("CREATOR_EMAIL_FROM_STEP_1", r#""ana@example.com""#),
            ("REVIEWER_EMAIL_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    (
        r#"[{"creator":{"emailAddress":"ana@example.com"}},{"creator":{"emailAddress":"kim@example.com"}}]"#,
        &[(
            "AUTHOR_EMAILS_FROM_STEP_1",
            r#"["ana@example.com","kim@example.com"]"#,
        )],
    ),
    (
        r#"{"createdBy":{"displayName":"Zoë","uniqueName":"zoe@example.com"},"reviewer":"kim"}"#,
        &[
            ("AUTHOR_EMAIL_FROM_STEP_1", r#""zoe@example.com""#),
            ("REVIEWER_EMAIL_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    (
        "commit 6f27f631460fa6fe054bfcbb4b5b713b84c81500\nAuthor: Bo <bo@example.org>\nDate: 2025-09-02\n",
        &[("AUTHOR_EMAIL_FROM_STEP_1", r#""bo@example.org""#)],
    ),
];

/// Failed steps.
const FAILED: &[JudgedFailure] = &[
    (
        "",
        Some(r#"HTTP 422: {"field":"slug","id":91}"#),
        &[
            ("FIELD_FROM_FAILED_STEP_1", r#""slug""#),
            ("ID_FROM_FAILED_STEP_1", "91"),
            ("IDS_FROM_FAILED_STEP_1", "[91]"),
            ("ID_FROM_STEP_1", "!step_failed"),
            ("RESULT_FROM_FAILED_STEP_1", "!step_failed"),
            ("NAME_FROM_FAILED_STEP_1", "!step_failed"),
        ],
    ),
    (
        "",
        Some(r#"{"error":{"code":"conflict","details":[{"field":"name"},{"field":"slug"}]}}"#),
        &[
            ("CODE_FROM_FAILED_STEP_1", r#""conflict""#),
            ("FIELDS_FROM_FAILED_STEP_1", r#"["name","slug"]"#),
        ],
    ),
    (
        "",
        Some("order 70010 is locked, see https://shop.example/orders/70010"),
        &[
            ("ID_FROM_FAILED_STEP_1", r#""70010""#),
            (
                "URL_FROM_FAILED_STEP_1",
                r#""https://shop.example/orders/70010""#,
            ),
        ],
    ),
    // What the result has comes first.
    (
        r#"{"id":7}"#,
        Some(r#"HTTP 422: {"field":"slug","id":91}"#),
        &[
            ("ID_FROM_FAILED_STEP_1", "7"),
            ("FIELD_FROM_FAILED_STEP_1", r#""slug""#),
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"HTTP 422: {\"field\":\"slug\"}"}}"#,
        None,
        &[("FIELD_FROM_FAILED_STEP_1", r#""slug""#)],
    ),
];

#[test]
fn lists_dates_errors_and_addresses_are_what_a_person_would_mean() {
    judge_all(LISTS.iter().chain(VALUES), FAILED);
}
