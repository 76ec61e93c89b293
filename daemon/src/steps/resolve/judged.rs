//! Judged names: results as services return them, and the value that a person would mean by each name.
//!
//! The results are shortened replies of GitHub, GitLab, Azure DevOps, Jira, NetBox, Slack and others. An expected
//! value is JSON; `!reason` means that there is no value, and why.
#![allow(clippy::unwrap_used)]

use super::Resolver;
use crate::steps::extract::{ExtractorSet, FieldMapping};
use crate::steps::memory::Session;
use std::sync::Arc;

/// Names with their values.
type Names = &'static [(&'static str, &'static str)];

/// A result, and names with their values.
pub(super) type Judged = (&'static str, Names);

/// A failed step: its result, the error that the recorder gave, and names with their values.
pub(super) type JudgedFailure = (&'static str, Option<&'static str>, Names);

const SUCCEEDED: &[Judged] = &[
    // Azure DevOps: pull requests as a list.
    (
        r#"[{"repository":{"id":"3411ebc1-d5aa-464f-9615-0b527bc66719","name":"shop","description":"The web shop","project":{"state":"wellFormed"}},"pullRequestId":22417,"title":"Retry payments","description":"Retries twice.","status":"completed","createdBy":{"displayName":"Zoë","uniqueName":"zoe@example.com","id":"54d125f7-69f7-4191-904f-c5b96b6261c8"},"creationDate":"2025-01-10T08:00:00Z","closedDate":"2025-01-15T10:30:00Z","sourceRefName":"refs/heads/fix/retry","targetRefName":"refs/heads/main"}]"#,
        &[
            ("ID_FROM_STEP_1", "22417"),
            ("ID_FROM_STEP_1_ID", "22417"),
            ("PULL_REQUEST_ID_FROM_STEP_1_RESULT", "22417"),
            ("PULL_REQUEST_ID_FROM_STEP_1", "22417"),
            ("PR_ID_FROM_STEP_1", "22417"),
            ("ALL_PR_IDS_FROM_STEP_1", "[22417]"),
            ("ALL_IDS_FROM_STEP_1", "[22417]"),
            (
                "REPOSITORY_ID_FROM_STEP_1",
                r#""3411ebc1-d5aa-464f-9615-0b527bc66719""#,
            ),
            ("REPOSITORY_NAME_FROM_STEP_1", r#""shop""#),
            ("TITLE_FROM_STEP_1", r#""Retry payments""#),
            ("NAME_FROM_STEP_1", r#""Retry payments""#),
            ("DESCRIPTION_FROM_STEP_1", r#""Retries twice.""#),
            ("STATUS_FROM_STEP_1", r#""completed""#),
            ("STATE_FROM_STEP_1", r#""completed""#),
            ("DATE_FROM_STEP_1", r#""2025-01-15T10:30:00Z""#),
            ("CREATION_DATE_FROM_STEP_1", r#""2025-01-10T08:00:00Z""#),
            ("CREATED_AT_FROM_STEP_1", r#""2025-01-10T08:00:00Z""#),
            (
                "RESULT_FROM_STEP_1_COMPLETION_DATE",
                r#""2025-01-15T10:30:00Z""#,
            ),
            ("AUTHOR_DISPLAY_NAME_FROM_STEP_1", r#""Zoë""#),
            ("AUTHOR_FROM_STEP_1_EMAIL", r#""zoe@example.com""#),
            ("EMAIL_FROM_STEP_1", r#""zoe@example.com""#),
        ],
    ),
    // Azure DevOps: the list in an object, two pull requests, each with its repository first.
    (
        r#"{"value":[{"repository":{"id":"aa11"},"pullRequestId":501,"title":"One"},{"repository":{"id":"aa11"},"pullRequestId":502,"title":"Two"}],"count":2}"#,
        &[
            ("ID_FROM_STEP_1", "501"),
            ("ALL_PR_IDS_FROM_STEP_1", "[501,502]"),
            ("PR_IDS_FROM_STEP_1", "[501,502]"),
            ("IDS_FROM_STEP_1", "[501,502]"),
            ("TITLES_FROM_STEP_1", r#"["One","Two"]"#),
            ("URLS_FROM_STEP_1", "!field_not_found"),
            ("WHEELS_FROM_STEP_1", "!field_not_found"),
            ("ALL_PULL_REQUEST_IDS_FROM_STEP_1", "[501,502]"),
            ("ALL_IDS_FROM_STEP_1", "[501,502]"),
            ("ALL_TITLES_FROM_STEP_1", r#"["One","Two"]"#),
            ("ALL_NAMES_FROM_STEP_1", r#"["One","Two"]"#),
            ("COUNT_FROM_STEP_1", "2"),
        ],
    ),
    // Azure DevOps: a service hook. The event has an id of its own.
    (
        r#"{"id":"evt-77","eventType":"git.pullrequest.created","resource":{"pullRequestId":22418,"title":"Faster start","status":"active"}}"#,
        &[
            ("ID_FROM_STEP_1", r#""evt-77""#),
            ("PULL_REQUEST_ID_FROM_STEP_1", "22418"),
            ("PR_ID_FROM_STEP_1", "22418"),
            ("TITLE_FROM_STEP_1", r#""Faster start""#),
        ],
    ),
    // Azure DevOps: a work item, whose fields have dotted names.
    (
        r#"{"id":131489,"rev":4,"fields":{"System.AssignedTo":{"displayName":"Jamal H","name":"jamal","uniqueName":"jamal@example.com"},"System.Title":"Login fails after update","System.State":"Active","System.CreatedDate":"2025-02-01T09:00:00Z","Microsoft.VSTS.Common.Priority":2,"System.CreatedBy":{"displayName":"Ines","name":"ines"}},"url":"https://dev.azure.com/x/_apis/wit/workItems/131489"}"#,
        &[
            ("ID_FROM_STEP_1", "131489"),
            ("TITLE_FROM_STEP_1", r#""Login fails after update""#),
            ("STATUS_FROM_STEP_1", r#""Active""#),
            ("STATE_FROM_STEP_1", r#""Active""#),
            ("PRIORITY_FROM_STEP_1", "2"),
            ("DATE_FROM_STEP_1", r#""2025-02-01T09:00:00Z""#),
            ("CREATED_DATE_FROM_STEP_1", r#""2025-02-01T09:00:00Z""#),
            ("SYSTEM_TITLE_FROM_STEP_1", r#""Login fails after update""#),
            ("System.Title_FROM_STEP_1", r#""Login fails after update""#),
            ("ASSIGNED_TO_NAME_FROM_STEP_1", r#""jamal""#),
            ("AUTHOR_NAME_FROM_STEP_1", r#""ines""#),
            (
                "URL_FROM_STEP_1",
                r#""https://dev.azure.com/x/_apis/wit/workItems/131489""#,
            ),
        ],
    ),
    // GitHub: a pull request. Its repository is deep inside.
    (
        r#"{"url":"https://api.github.com/repos/acme/shop/pulls/1347","id":1,"number":1347,"state":"open","title":"Amazing new feature","user":{"login":"octocat","id":583231},"body":"Please pull these in!","created_at":"2011-01-26T19:01:12Z","updated_at":"2011-01-27T19:01:12Z","closed_at":null,"merged_at":null,"head":{"label":"octocat:new-topic","ref":"new-topic","repo":{"id":1296269,"name":"Hello-World","description":"This your first repo!"}},"milestone":{"id":1002604,"state":"closed","closed_at":"2013-02-12T13:22:01Z","description":"Tracking milestone"}}"#,
        &[
            ("ID_FROM_STEP_1", "1"),
            ("NUMBER_FROM_STEP_1", "1347"),
            ("DESCRIPTION_FROM_STEP_1", r#""Please pull these in!""#),
            ("DESC_FROM_STEP_1", r#""Please pull these in!""#),
            ("BODY_FROM_STEP_1", r#""Please pull these in!""#),
            ("STATUS_FROM_STEP_1", r#""open""#),
            ("DATE_FROM_STEP_1", r#""2011-01-26T19:01:12Z""#),
            ("CREATED_DATE_FROM_STEP_1", r#""2011-01-26T19:01:12Z""#),
            ("TITLE_FROM_STEP_1", r#""Amazing new feature""#),
            ("USER_LOGIN_FROM_STEP_1", r#""octocat""#),
            ("USER_FROM_STEP_1_ID", "583231"),
        ],
    ),
    // GitHub: issues as a list, unwrapped from an MCP result.
    (
        r#"{"content":[{"type":"text","text":"[{\"number\":42,\"title\":\"Crash on start\",\"labels\":[{\"id\":208045946,\"name\":\"bug\",\"description\":\"Something is broken\"}],\"state\":\"open\",\"user\":{\"login\":\"mona\",\"id\":9}},{\"number\":43,\"title\":\"Typo\",\"labels\":[],\"state\":\"closed\",\"user\":{\"login\":\"hubot\",\"id\":10}}]"}]}"#,
        &[
            ("ID_FROM_STEP_1", "42"),
            ("TITLE_FROM_STEP_1", r#""Crash on start""#),
            ("STATUS_FROM_STEP_1", r#""open""#),
            ("ALL_NUMBERS_FROM_STEP_1", "[42,43]"),
            ("ALL_STATUSES_FROM_STEP_1", r#"["open","closed"]"#),
            ("ALL_STATES_FROM_STEP_1", r#"["open","closed"]"#),
            ("COUNT_FROM_STEP_1", "2"),
        ],
    ),
    // GitHub: a search, whose main list is inside.
    (
        r#"{"total_count":2,"incomplete_results":false,"items":[{"id":3081286,"name":"Tetris","owner":{"login":"dtrupenn","id":872147},"description":"Classic game"},{"id":3081287,"name":"Snake","owner":{"login":"x","id":5},"description":null}]}"#,
        &[
            ("ID_FROM_STEP_1", "3081286"),
            ("TITLE_FROM_STEP_1", r#""Tetris""#),
            ("DESCRIPTION_FROM_STEP_1", r#""Classic game""#),
            ("ALL_TITLES_FROM_STEP_1", r#"["Tetris","Snake"]"#),
            ("COUNT_FROM_STEP_1", "2"),
            ("TOTAL_COUNT_FROM_STEP_1", "2"),
        ],
    ),
    // GitLab: a merge request with the state of its pipeline.
    (
        r#"{"id":155016530,"iid":133,"title":"Manual job rules","state":"merged","merged_at":"2018-09-07T11:16:17.520Z","created_at":"2018-09-03T13:12:00Z","author":{"id":4155490,"username":"marcel","state":"active","name":"Marcel"},"source_branch":"manual-job-rules","target_branch":"main","head_pipeline":{"id":29626725,"status":"failed","created_at":"2018-09-07T10:00:00Z"}}"#,
        &[
            ("STATUS_FROM_STEP_1", r#""merged""#),
            ("STATE_FROM_STEP_1", r#""merged""#),
            ("HEAD_PIPELINE_STATUS_FROM_STEP_1", r#""failed""#),
            ("BRANCH_FROM_STEP_1", r#""manual-job-rules""#),
            ("TARGET_BRANCH_FROM_STEP_1", r#""main""#),
            ("SOURCE_BRANCH_FROM_STEP_1", r#""manual-job-rules""#),
            ("DATE_FROM_STEP_1", r#""2018-09-07T11:16:17.520Z""#),
            ("CLOSED_DATE_FROM_STEP_1", r#""2018-09-07T11:16:17.520Z""#),
            ("NAME_FROM_STEP_1", r#""Manual job rules""#),
            ("AUTHOR_NAME_FROM_STEP_1", r#""Marcel""#),
            ("AUTHOR_ID_FROM_STEP_1", "4155490"),
            ("AUTHOR_FROM_STEP_1_ID", "4155490"),
        ],
    ),
    // Jira: an issue. Its title is called summary, and its status is an object with a name.
    (
        r#"{"expand":"names","id":"10068","key":"OPS-214","self":"https://acme.atlassian.net/rest/api/3/issue/10068","fields":{"status":{"self":"https://acme.atlassian.net/rest/api/3/status/10000","description":"","name":"To Do","id":"10000"},"assignee":{"emailAddress":"kim@example.com","displayName":"Kim"},"summary":"Rotate the certificates","created":"2025-03-04T10:11:12.000+0100","creator":{"displayName":"Ana","email":"ana@example.com"},"priority":{"name":"High","id":"2"}}}"#,
        &[
            ("TITLE_FROM_STEP_1", r#""Rotate the certificates""#),
            ("SUMMARY_FROM_STEP_1", r#""Rotate the certificates""#),
            ("ID_FROM_STEP_1", r#""10068""#),
            ("KEY_FROM_STEP_1", r#""OPS-214""#),
            ("STATUS_NAME_FROM_STEP_1", r#""To Do""#),
            ("PRIORITY_NAME_FROM_STEP_1", r#""High""#),
            ("AUTHOR_EMAIL_FROM_STEP_1", r#""ana@example.com""#),
            ("AUTHOR_FROM_STEP_1_EMAIL", r#""ana@example.com""#),
            ("ASSIGNEE_FROM_STEP_1_EMAIL", r#""kim@example.com""#),
        ],
    ),
    // NetBox: devices, each with the objects around it.
    (
        r#"{"count":2,"next":null,"results":[{"id":1201,"url":"http://netbox.example/api/dcim/devices/1201/","display":"ams1-core-01","name":"ams1-core-01","device_type":{"id":4,"model":"MX204"},"site":{"id":3,"name":"AMS1","slug":"ams1","description":"Amsterdam"},"status":{"value":"active","label":"Active"},"description":"","created":"2024-05-06T07:08:09Z"},{"id":1202,"url":"http://netbox.example/api/dcim/devices/1202/","display":"ams1-core-02","name":"ams1-core-02","site":{"id":3,"name":"AMS1"},"status":{"value":"planned","label":"Planned"}}]}"#,
        &[
            ("ID_FROM_STEP_1", "1201"),
            ("NAME_FROM_STEP_1", r#""ams1-core-01""#),
            ("TITLE_FROM_STEP_1", r#""ams1-core-01""#),
            ("DESCRIPTION_FROM_STEP_1", r#""""#),
            ("SITE_ID_FROM_STEP_1", "3"),
            ("SITE_SLUG_FROM_STEP_1", r#""ams1""#),
            ("STATUS_VALUE_FROM_STEP_1", r#""active""#),
            ("DEVICE_TYPE_ID_FROM_STEP_1", "4"),
            (
                "URL_FROM_STEP_1_URL",
                r#""http://netbox.example/api/dcim/devices/1201/""#,
            ),
            ("COUNT_FROM_STEP_1", "2"),
            ("ALL_SITE_IDS_FROM_STEP_1", "[3]"),
        ],
    ),
    // Slack: a message, whose channel and sender are objects.
    (
        r#"{"ok":true,"channel":{"id":"C012AB3CD","name":"general"},"message":{"text":"Deploy is done","user":"U061F7AUR","ts":"1482960137.003543"}}"#,
        &[
            ("CHANNEL_ID_FROM_STEP_1", r#""C012AB3CD""#),
            ("CHANNEL_NAME_FROM_STEP_1", r#""general""#),
            ("CHANNEL_FROM_STEP_1_ID", r#""C012AB3CD""#),
            ("TEXT_FROM_STEP_1", r#""Deploy is done""#),
            ("TS_FROM_STEP_1", r#""1482960137.003543""#),
            ("MESSAGE_USER_FROM_STEP_1", r#""U061F7AUR""#),
        ],
    ),
    // An alert: its own summary is the title, a runbook has a title of its own.
    (
        r#"{"incident":{"number":9001,"created_at":"2025-05-05T05:05:05Z","summary":"Disk full on db-02","service":{"summary":"Database","id":"PSVC1"},"runbook":{"title":"Free disk space"}}}"#,
        &[
            ("TITLE_FROM_STEP_1", r#""Disk full on db-02""#),
            ("ID_FROM_STEP_1", "9001"),
            ("RUNBOOK_TITLE_FROM_STEP_1", r#""Free disk space""#),
            ("DATE_FROM_STEP_1", r#""2025-05-05T05:05:05Z""#),
        ],
    ),
    // Two names at equal depth: the direct one wins.
    (
        r#"{"state":"open","status":"in review","name":"n","title":"t","body":"b","description":"d","number":7,"id":8,"Author":"a","creator":"c"}"#,
        &[
            ("STATUS_FROM_STEP_1", r#""in review""#),
            ("STATE_FROM_STEP_1", r#""open""#),
            ("TITLE_FROM_STEP_1", r#""t""#),
            ("NAME_FROM_STEP_1", r#""n""#),
            ("DESCRIPTION_FROM_STEP_1", r#""d""#),
            ("BODY_FROM_STEP_1", r#""b""#),
            ("ID_FROM_STEP_1", "8"),
            ("NUMBER_FROM_STEP_1", "7"),
            ("AUTHOR_FROM_STEP_1", r#""a""#),
            ("CREATOR_FROM_STEP_1", r#""c""#),
        ],
    ),
    // A summary that is an object is no title.
    (
        r#"{"summary":{"passed":5,"failed":1},"suites":[{"name":"unit","status":"passed"}]}"#,
        &[
            ("TITLE_FROM_STEP_1", r#""unit""#),
            ("SUMMARY_FROM_STEP_1", r#"{"passed":5,"failed":1}"#),
            ("FAILED_FROM_STEP_1", "1"),
        ],
    ),
    // An opening date is no closing date, and a source branch no target.
    (
        r#"{"createdDate":"2025-01-01","sourceBranch":"fix/a"}"#,
        &[
            ("CLOSED_DATE_FROM_STEP_1", "!field_not_found"),
            ("TARGET_BRANCH_FROM_STEP_1", "!field_not_found"),
            ("DATE_FROM_STEP_1", r#""2025-01-01""#),
            ("BRANCH_FROM_STEP_1", r#""fix/a""#),
        ],
    ),
    // Lines of a text.
    (
        "Pull request 612 was created.\nTitle: Bump tokio\n- **State:** open\nURL: https://git.example/pr/612\n",
        &[
            ("TITLE_FROM_STEP_1", r#""Bump tokio""#),
            ("STATUS_FROM_STEP_1", r#""open""#),
            ("URL_FROM_STEP_1", r#""https://git.example/pr/612""#),
            ("ID_FROM_STEP_1", r#""612""#),
        ],
    ),
    // Prose with JSON.
    (
        "Here is the issue:\n```json\n{\"issue\":{\"id\":5,\"reporter\":{\"name\":\"Bo\"}},\"title\":\"Slow search\"}\n```",
        &[
            ("TITLE_FROM_STEP_1", r#""Slow search""#),
            ("NAME_FROM_STEP_1", r#""Slow search""#),
            ("ISSUE_ID_FROM_STEP_1", "5"),
            ("REPORTER_NAME_FROM_STEP_1", r#""Bo""#),
        ],
    ),
    // Names as agents mark them up.
    (
        r#"{"id":31,"note":"see https://example.com/a"}"#,
        &[
            ("**ID_FROM_STEP_1**", "31"),
            ("*ID_FROM_STEP_1*", "31"),
            ("${ID_FROM_STEP_1}", "31"),
            ("<ID_FROM_STEP_1>", "31"),
            ("`${ID_FROM_STEP_1}`", "31"),
            ("**`ID_FROM_STEP_1`**", "31"),
            ("\"ID_FROM_STEP_1\"", "31"),
            ("{{ ID_FROM_STEP_1 }}", "31"),
            ("$ID_FROM_STEP_1", "31"),
            ("NOTE_FROM_STEP_1_URL", r#""https://example.com/a""#),
            ("ID_FROM_STEP_1_URL", r#""https://example.com/a""#),
            ("ID_FROM_STEP_1_EMAIL", "!type_mismatch"),
            ("NONEXISTENT_FROM_STEP_1", "!field_not_found"),
            ("ID_FROM_STEP_99", "!step_not_found"),
        ],
    ),
    // Digits stay as they came.
    (
        r#"{"big":1e400,"exact":1.10,"long":123456789012345678901234567890123456789,"minus":-0.0,"plus":1E+5}"#,
        &[
            ("BIG_FROM_STEP_1", "1e400"),
            ("EXACT_FROM_STEP_1", "1.10"),
            (
                "LONG_FROM_STEP_1",
                "123456789012345678901234567890123456789",
            ),
            ("MINUS_FROM_STEP_1", "-0.0"),
            ("PLUS_FROM_STEP_1", "1E+5"),
        ],
    ),
];

/// Failed steps.
const FAILED: &[JudgedFailure] = &[
    (
        r#"{"content":[{"type":"text","text":"HTTP 400: {\"site\": [\"lax9 is not one of the choices\"]}"}],"isError":true}"#,
        None,
        &[
            ("SITE_FROM_STEP_1", "!step_failed"),
            ("ALL_SITES_FROM_STEP_1", "!step_failed"),
            ("ID_FROM_STEP_1_ID", "!step_failed"),
            ("RESULT_FROM_STEP_1", "!step_failed"),
            ("COUNT_FROM_STEP_1", "!step_failed"),
            ("COMBINED_RESULTS_FROM_STEPS_1_TO_1", "!step_failed"),
            (
                "ERROR_FROM_STEP_1",
                r#""HTTP 400: {\"site\": [\"lax9 is not one of the choices\"]}""#,
            ),
            ("STATUS_FROM_STEP_1", r#""failed""#),
            (
                "SITE_FROM_FAILED_STEP_1",
                r#"["lax9 is not one of the choices"]"#,
            ),
            (
                "ALL_SITES_FROM_FAILED_STEP_1",
                r#"["lax9 is not one of the choices"]"#,
            ),
            (
                "{{site_from_failed_step_last}}",
                r#"["lax9 is not one of the choices"]"#,
            ),
            ("SITE_ID_FROM_FAILED_STEP_1", "!step_failed"),
        ],
    ),
    (
        "",
        Some("connection refused"),
        &[
            ("RESULT_FROM_STEP_1", "!step_failed"),
            ("RESULT_FROM_FAILED_STEP_1", "!step_failed"),
            ("ERROR_FROM_STEP_1", r#""connection refused""#),
            ("ERROR_FROM_FAILED_STEP_1", r#""connection refused""#),
            ("STATUS_FROM_STEP_1", r#""failed""#),
        ],
    ),
    (
        r#"{"detail":"Method \"POST\" not allowed.","status":405}"#,
        Some("HTTP 405"),
        &[
            ("DETAIL_FROM_STEP_1", "!step_failed"),
            (
                "DETAIL_FROM_FAILED_STEP_1",
                r#""Method \"POST\" not allowed.""#,
            ),
            ("STATUS_FROM_STEP_1", "405"),
            ("ERROR_FROM_STEP_1", r#""HTTP 405""#),
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}"#,
        None,
        &[
            ("ERROR_FROM_STEP_1", r#""Method not found""#),
            ("CODE_FROM_STEP_1", "!step_failed"),
            ("CODE_FROM_FAILED_STEP_1", "-32601"),
            ("ID_FROM_STEP_1", "!step_failed"),
        ],
    ),
    (
        r#"{"error":"no such device","hint":"try ams1-core-02"}"#,
        None,
        &[
            ("ERROR_FROM_STEP_1", r#""no such device""#),
            ("HINT_FROM_STEP_1", "!step_failed"),
            ("HINT_FROM_FAILED_STEP_1", r#""try ams1-core-02""#),
            ("HINT_FROM_FAILED_STEP_2", "!step_not_found"),
        ],
    ),
];

fn judge(session: &Session, name: &str, expected: &str) -> Option<String> {
    let resolver = Resolver {
        history: session,
        set: &session.set,
        current_step: None,
        all_values: false,
        explain: true,
    };
    let Ok(found) = resolver.resolve(name);
    let given = match found.reason {
        Some(reason) => format!("!{}", reason.name()),
        None => found.value.to_string(),
    };
    let origin_is_told = found.reason.is_some() || found.found_at.is_some();
    match (given == expected, origin_is_told) {
        (true, true) => None,
        (true, false) => Some(format!("{name}: found, but not told where")),
        (false, _) => Some(format!("{name}: {given} instead of {expected}")),
    }
}

/// Asserts that each name over these results has its value.
pub(super) fn judge_all(
    succeeded: impl IntoIterator<Item = &'static Judged>,
    failed: impl IntoIterator<Item = &'static JudgedFailure>,
) {
    let succeeded = succeeded
        .into_iter()
        .map(|(result, names)| (Session::of(&[result]), result, names));
    let failed = failed.into_iter().map(|(result, error, names)| {
        let mut session = Session::default();
        session.failed(1, result, *error);
        (session, result, names)
    });
    let mut wrong = Vec::new();
    let mut count = 0;
    for (session, result, names) in succeeded.chain(failed) {
        count += names.len();
        let problems = names
            .iter()
            .filter_map(|(name, expected)| judge(&session, name, expected));
        let start: String = result.chars().take(100).collect();
        wrong.extend(problems.map(|problem| format!("{problem}\n    in {start}")));
    }
    assert!(
        count > 0 && wrong.is_empty(),
        "{} of {count} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn names_mean_what_a_person_would_mean() {
    judge_all(SUCCEEDED, FAILED);
}

/// Mappings that a session registered: they come before the built-in ones at equal depth, after a direct name.
#[test]
fn a_sessions_own_aliases_come_before_built_in_ones() {
    let list = |field: &str, aliases: &[&str]| FieldMapping {
        field: field.to_owned(),
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
    };
    let mappings = [
        list("status", &["phase"]),
        list("description", &["details"]),
        list("state", &["lifecycle"]),
        list("ticket", &["ticket_id", "issue"]),
    ];
    let set = Arc::new(ExtractorSet::new(&[], &mappings).unwrap());
    let mut session = Session {
        set,
        ..Session::default()
    };
    session.add(1, r#"{"state":"old","phase":"new"}"#);
    session.add(2, r#"{"status":"direct","phase":"alias"}"#);
    session.add(3, r#"{"state":"shallow","inner":{"phase":"deep"}}"#);
    session.add(4, r#"{"body":"old","details":"new","desc":"other"}"#);
    session.add(5, r#"{"status":"built in","lifecycle":"own"}"#);
    session.add(6, r#"[{"issue":71,"id":3},{"issue":72,"id":4}]"#);
    let wrong: Vec<String> = [
        ("STATUS_FROM_STEP_1", r#""new""#),
        ("STATUS_FROM_STEP_2", r#""direct""#),
        ("STATUS_FROM_STEP_3", r#""shallow""#),
        ("PHASE_FROM_STEP_3", r#""shallow""#),
        ("DESCRIPTION_FROM_STEP_4", r#""new""#),
        ("STATE_FROM_STEP_5", r#""own""#),
        ("TICKET_FROM_STEP_6", "71"),
        ("ALL_TICKETS_FROM_STEP_6", "[71,72]"),
    ]
    .into_iter()
    .filter_map(|(name, expected)| judge(&session, name, expected))
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
