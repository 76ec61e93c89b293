//! Judged names of results with other things within: parts and wrappers answer for the whole, other things do not.

use super::judged::{Judged, judge_all};

const SUCCEEDED: &[Judged] = &[
    // What the result is about has none: another thing in it does not answer.
    (
        r#"{"id":7,"title":null,"description":null,"repository":{"id":9,"name":"shop","title":"The shop","description":"Sells"},"author":{"name":"Ana"}}"#,
        &[
            ("TITLE_FROM_STEP_1", "!field_not_found"),
            ("DESCRIPTION_FROM_STEP_1", "!field_not_found"),
            ("REPOSITORY_TITLE_FROM_STEP_1", r#""The shop""#),
            ("REPOSITORY_DESCRIPTION_FROM_STEP_1", r#""Sells""#),
            ("STATUS_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    (
        r#"{"id":7,"open":true,"user":{"name":"Ana","login":"ana"},"labels":[{"id":3,"name":"ui","description":"Looks"}],"head_pipeline":{"id":5,"status":"failed"}}"#,
        &[
            ("TITLE_FROM_STEP_1", "!field_not_found"),
            ("DESCRIPTION_FROM_STEP_1", "!field_not_found"),
            ("STATUS_FROM_STEP_1", "!field_not_found"),
            ("LABEL_NAME_FROM_STEP_1", r#""ui""#),
            ("HEAD_PIPELINE_STATUS_FROM_STEP_1", r#""failed""#),
        ],
    ),
    (
        r#"{"body":null,"number":7,"milestone":{"title":"v1","description":"First"}}"#,
        &[
            ("DESCRIPTION_FROM_STEP_1", "!field_not_found"),
            ("BODY_FROM_STEP_1", "!field_not_found"),
            ("MILESTONE_DESCRIPTION_FROM_STEP_1", r#""First""#),
        ],
    ),
    (
        r#"{"id":null,"user":{"id":5},"device":null}"#,
        &[
            ("ID_FROM_STEP_1", "!field_not_found"),
            ("USER_ID_FROM_STEP_1", "5"),
            ("DEVICE_FROM_STEP_1", "!field_not_found"),
        ],
    ),
    // Parts of the thing and what only wraps it answer.
    (
        r#"{"id":"10001","key":"P-1","fields":{"summary":"Crash","description":"On start","status":{"name":"Open"}}}"#,
        &[
            ("TITLE_FROM_STEP_1", r#""Crash""#),
            ("DESCRIPTION_FROM_STEP_1", r#""On start""#),
        ],
    ),
    (
        r#"{"device":{"id":4,"name":"sw-1","description":"Top","status":"active"}}"#,
        &[
            ("TITLE_FROM_STEP_1", r#""sw-1""#),
            ("DESCRIPTION_FROM_STEP_1", r#""Top""#),
            ("STATUS_FROM_STEP_1", r#""active""#),
        ],
    ),
    (
        r#"{"status":"ok","id":1,"data":{"title":"Deep","pull":{"state":"open"}}}"#,
        &[
            ("TITLE_FROM_STEP_1", r#""Deep""#),
            ("STATUS_FROM_STEP_1", r#""ok""#),
        ],
    ),
];

#[test]
fn names_mean_the_thing_that_a_result_is_about() {
    judge_all(SUCCEEDED, []);
}
