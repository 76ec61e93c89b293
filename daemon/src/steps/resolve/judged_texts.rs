//! Judged names over results that are no plain JSON: tables, logs of git, errors of JSON-RPC, Python values in
//! prose, runs of pipelines, empty lists. Written before the parsers were mended.

use super::judged::{Judged, JudgedFailure, judge_all};

const SUCCEEDED: &[Judged] = &[
    // kubectl: columns with wide gaps.
    (
        "NAME                    READY   STATUS             RESTARTS   AGE\ncart-7c9d5-x2lkq        0/1     CrashLoopBackOff   14         3d\nsearch-6b8f4-9qwzt      1/1     Running            0          9d\n",
        &[
            ("NAME_FROM_STEP_1", r#""cart-7c9d5-x2lkq""#),
            ("STATUS_FROM_STEP_1", r#""CrashLoopBackOff""#),
            ("RESTARTS_FROM_STEP_1", r#""14""#),
            (
                "ALL_NAMES_FROM_STEP_1",
                r#"["cart-7c9d5-x2lkq","search-6b8f4-9qwzt"]"#,
            ),
            ("COUNT_FROM_STEP_1", "2"),
            ("NODE_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    // docker ps: headings of two words and an empty cell.
    (
        "CONTAINER ID   IMAGE          COMMAND                  CREATED        STATUS        PORTS                    NAMES\n4f1d2c3b5a6e   redis:7        \"docker-entrypoint.s…\"   2 days ago     Up 2 days     0.0.0.0:6379->6379/tcp   cache\n9c8b7a6d5e4f   worker:1.4     \"python run.py\"          3 hours ago    Up 3 hours                             worker-1\n",
        &[
            ("CONTAINER_ID_FROM_STEP_1", r#""4f1d2c3b5a6e""#),
            (
                "ALL_CONTAINER_IDS_FROM_STEP_1",
                r#"["4f1d2c3b5a6e","9c8b7a6d5e4f"]"#,
            ),
            ("IMAGE_FROM_STEP_1", r#""redis:7""#),
            ("ALL_NAMES_FROM_STEP_1", r#"["cache","worker-1"]"#),
            ("STATUS_FROM_STEP_1", r#""Up 2 days""#),
        ],
    ),
    // ps: one blank between some columns.
    (
        "  PID TTY          TIME CMD\n 4121 pts/0    00:00:01 bash\n 4177 pts/0    00:00:00 vim\n",
        &[
            ("PID_FROM_STEP_1", r#""4121""#),
            ("ALL_PIDS_FROM_STEP_1", r#"["4121","4177"]"#),
            ("CMD_FROM_STEP_1", r#""bash""#),
        ],
    ),
    // CSV with quotes.
    (
        "id,name,owner_email\n501,\"Gate, north\",ines@example.com\n502,Yard,paul@example.com\n",
        &[
            ("ID_FROM_STEP_1", r#""501""#),
            ("NAME_FROM_STEP_1", r#""Gate, north""#),
            ("ALL_IDS_FROM_STEP_1", r#"["501","502"]"#),
            ("OWNER_EMAIL_FROM_STEP_1", r#""ines@example.com""#),
            ("COUNT_FROM_STEP_1", "2"),
        ],
    ),
    // Tabs.
    (
        "sku\tqty\nCH-220\t6\nDK-100\t3\n",
        &[
            ("SKU_FROM_STEP_1", r#""CH-220""#),
            ("ALL_SKUS_FROM_STEP_1", r#"["CH-220","DK-100"]"#),
        ],
    ),
    // Markdown between prose.
    (
        "Two orders are open:\n\n| Order | Status | Total |\n| --- | :---: | ---: |\n| PO-4388 | delivered | 1290.00 |\n| PO-4431 | confirmed | 410.00 |\n\nAsk for more.\n",
        &[
            ("ORDER_FROM_STEP_1", r#""PO-4388""#),
            ("ALL_ORDERS_FROM_STEP_1", r#"["PO-4388","PO-4431"]"#),
            ("STATUS_FROM_STEP_1", r#""delivered""#),
            ("COUNT_FROM_STEP_1", "2"),
        ],
    ),
    // psql.
    (
        " id |   name   | state  \n----+----------+--------\n  7 | invoices | active\n  9 | payments | frozen\n(2 rows)\n",
        &[
            ("ID_FROM_STEP_1", r#""7""#),
            ("ALL_NAMES_FROM_STEP_1", r#"["invoices","payments"]"#),
            ("STATE_FROM_STEP_1", r#""active""#),
        ],
    ),
    // gh run list.
    (
        r#"{"total_count":2,"workflow_runs":[{"id":8811201,"name":"nightly","head_branch":"main","head_sha":"a91c04e77d","status":"completed","conclusion":"failure","actor":{"id":9,"login":"noor"}},{"id":8811177,"name":"lint","head_branch":"fix/lint","head_sha":"b20c04e77d","status":"completed","conclusion":"success","actor":{"id":9,"login":"noor"}}]}"#,
        &[
            ("RUN_ID_FROM_STEP_1", "8811201"),
            ("ALL_RUN_IDS_FROM_STEP_1", "[8811201,8811177]"),
            ("WORKFLOW_RUN_ID_FROM_STEP_1", "8811201"),
            ("BRANCH_FROM_STEP_1", r#""main""#),
            ("ALL_BRANCHES_FROM_STEP_1", r#"["main","fix/lint"]"#),
            ("COMMIT_FROM_STEP_1", r#""a91c04e77d""#),
            ("SHA_FROM_STEP_1", r#""a91c04e77d""#),
            ("ACTOR_ID_FROM_STEP_1", "9"),
        ],
    ),
    // git log.
    (
        "commit 4be19a07cc21d5f0a7b61f4fbb6b1f5c21a4cd01 (HEAD -> main)\nAuthor: Ines Duarte <ines@example.com>\nDate:   Mon Mar 2 10:11:12 2026 +0100\n\n    Cache tide tables\n",
        &[
            (
                "COMMIT_FROM_STEP_1",
                r#""4be19a07cc21d5f0a7b61f4fbb6b1f5c21a4cd01""#,
            ),
            ("AUTHOR_FROM_STEP_1", r#""Ines Duarte <ines@example.com>""#),
            ("EMAIL_FROM_STEP_1", r#""ines@example.com""#),
        ],
    ),
    // git commit and git status.
    (
        "[fix/reap-lock 77e0b1c] Close connections outside the lock\n 2 files changed, 14 insertions(+)\n",
        &[
            ("COMMIT_FROM_STEP_1", r#""77e0b1c""#),
            ("BRANCH_FROM_STEP_1", r#""fix/reap-lock""#),
        ],
    ),
    (
        "On branch feature/rate-limits\nYour branch is up to date with 'origin/feature/rate-limits'.\n\nnothing to commit, working tree clean\n",
        &[("BRANCH_FROM_STEP_1", r#""feature/rate-limits""#)],
    ),
    // Python values in prose.
    (
        "Created the ticket: {'id': 'T-771', 'title': \"Door's open\", 'closed': False, 'owner': None, 'tags': ['a', 'b']}\nDone.",
        &[
            ("ID_FROM_STEP_1", r#""T-771""#),
            ("TITLE_FROM_STEP_1", r#""Door's open""#),
            ("CLOSED_FROM_STEP_1", "false"),
            ("TAGS_FROM_STEP_1", r#"["a","b"]"#),
            ("OWNER_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    (
        "Found 2 hosts: [{'name': 'db-1', 'up': True}, {'name': 'db-2', 'up': False}]",
        &[
            ("ALL_NAMES_FROM_STEP_1", r#"["db-1","db-2"]"#),
            ("UP_FROM_STEP_1", "true"),
            ("COUNT_FROM_STEP_1", "2"),
        ],
    ),
    // Braces that are no value.
    (
        "fn main() { 'outer: loop { break 'outer; } }\nset {'a', b} of {'x': unknown}",
        &[
            ("A_FROM_STEP_1", "!field_not_found"),
            ("X_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    // Empty lists.
    (
        "[]",
        &[
            ("IDS_FROM_STEP_1", "[]"),
            ("ALL_IDS_FROM_STEP_1", "[]"),
            ("NAMES_FROM_STEP_1", "[]"),
            ("COUNT_FROM_STEP_1", "0"),
            ("ID_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    (
        r#"{"items":[],"total":0}"#,
        &[("IDS_FROM_STEP_1", "[]"), ("TOTAL_FROM_STEP_1", "0")],
    ),
    // A log in records: the first one answers, and each item has its own fields.
    (
        "Commit history:\nCommit: 1f9c2d7e\nAuthor: Ada Ruiz\nMessage: Second: the fix\n\nPR 18\nReviewed-by: Tom\n\n\nCommit: 77ab01c3\nAuthor: Tom Roe\nMessage: First\n",
        &[
            ("COMMIT_FROM_STEP_1", r#""1f9c2d7e""#),
            ("AUTHOR_FROM_STEP_1", r#""Ada Ruiz""#),
            ("MESSAGE_FROM_STEP_1", r#""Second: the fix""#),
            ("ALL_COMMITS_FROM_STEP_1", r#"["1f9c2d7e","77ab01c3"]"#),
            ("COUNT_FROM_STEP_1", "2"),
            ("REVIEWED_BY_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    // One record after another block is no list.
    (
        "Name: edge-7\nState: up\n\nOwner: Ines\nTeam: field\n",
        &[
            ("NAME_FROM_STEP_1", r#""edge-7""#),
            ("OWNER_FROM_STEP_1", r#""Ines""#),
            ("COUNT_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    // sqlite, pip: underlined headings.
    (
        "id   sku      price_cents\n---  -------  -----------\n301  CUP-006  3490\n302           7990\n",
        &[
            ("ID_FROM_STEP_1", r#""301""#),
            ("ALL_IDS_FROM_STEP_1", r#"["301","302"]"#),
            ("PRICE_CENTS_FROM_STEP_1", r#""3490""#),
            ("ALL_SKUS_FROM_STEP_1", r#"["CUP-006"]"#),
            ("COUNT_FROM_STEP_1", "2"),
        ],
    ),
    // Rows that do not fit below their headings.
    (
        "name and more\n---- --------\nprose does not fit here\n",
        &[
            ("NAME_FROM_STEP_1", "!field_not_found"),
            ("COUNT_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    // A page for people is the address of a thing that has no other.
    (
        r#"{"id":5,"author":{"name":"Ada","web_url":"https://git.example/ada"},"web_url":"https://git.example/x/5"}"#,
        &[
            ("URL_FROM_STEP_1", r#""https://git.example/x/5""#),
            ("AUTHOR_URL_FROM_STEP_1", r#""https://git.example/ada""#),
        ],
    ),
    // Prose that only looks like a table.
    (
        "It was late, so we left, again.\nNobody spoke, not even Tom, then.\n",
        &[
            ("ALL_NAMES_FROM_STEP_1", "!field_not_found"),
            ("COUNT_FROM_STEP_1", "!field_not_found"),
        ],
    ),
];

/// Failed steps.
const FAILED: &[JudgedFailure] = &[
    (
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"order 88231 is locked by 5512"}}"#,
        None,
        &[
            ("ID_FROM_FAILED_STEP_1", r#""88231""#),
            ("CODE_FROM_FAILED_STEP_1", "-32000"),
            ("ALL_IDS_FROM_FAILED_STEP_1", r#"["88231","5512"]"#),
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":17,"error":{"code":-32601,"message":"Method not found"}}"#,
        None,
        &[
            ("ID_FROM_FAILED_STEP_1", "17"),
            ("ID_FROM_STEP_1", "!step_failed"),
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"invalid","data":{"id":"dev-9","field":"name"}}}"#,
        None,
        &[
            ("ID_FROM_FAILED_STEP_1", r#""dev-9""#),
            ("FIELD_FROM_FAILED_STEP_1", r#""name""#),
        ],
    ),
];

#[test]
fn names_over_texts_mean_what_a_person_would_mean() {
    judge_all(SUCCEEDED, FAILED);
}
