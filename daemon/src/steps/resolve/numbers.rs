//! The numbers of issues and of merge requests: GitLab has an `id` for the whole instance beside the `iid` that people use.

use super::field::{Match, MatchedBy, under};
use super::step::StepData;
use crate::steps::parse::{Kind, Node, NodeId, Nodes};
use crate::steps::words;

/// Names that ask for the number that people use, as words compare.
const NAMES: [&str; 11] = [
    "number",
    "prid",
    "prnumber",
    "pullrequestid",
    "pullrequestnumber",
    "mrid",
    "mrnumber",
    "mergerequestid",
    "mergerequestnumber",
    "issueid",
    "issuenumber",
];
const NUMBER: &str = "iid";
const ID: &str = "id";

/// Returns the numbers of the objects that have an id, too, if the name asks for the number of a thing.
pub(super) fn of(step: &StepData, field: &str) -> Vec<Match> {
    if !is_number_name(field) {
        return Vec::new();
    }
    let (nodes, index) = (step.parsed().nodes(), step.parsed().index());
    let with_id = under(index, nodes, NUMBER).filter_map(|id| {
        let node = nodes.get(id).filter(|node| is_plain(node))?;
        member(nodes, node.parent, ID)?;
        let mut found = Match::by_letters(id, node.depth);
        found.by = MatchedBy::Alias;
        Some(found)
    });
    with_id.collect()
}

/// Replaces the ids that a name found by the numbers beside them, if the name asks for the number of a thing.
pub(super) fn prefer(step: &StepData, field: &str, matches: &mut [Match]) {
    if !is_number_name(field) {
        return;
    }
    let nodes = step.parsed().nodes();
    for found in matches {
        let node = nodes.get(found.node);
        let object = node
            .filter(|node| nodes.key(node) == Some(ID))
            .map(|node| node.parent);
        if let Some(number) = object.and_then(|object| member(nodes, object, NUMBER)) {
            found.node = number;
        }
    }
}

fn is_number_name(field: &str) -> bool {
    NAMES.iter().any(|name| words::same(name, field))
}

fn is_plain(node: &Node) -> bool {
    matches!(node.kind, Kind::String | Kind::Number)
}

/// Returns the plain member of an object.
fn member(nodes: &Nodes, object: NodeId, key: &str) -> Option<NodeId> {
    let mut members = nodes.children(object);
    let found = members.find(|(_, node)| nodes.key(node) == Some(key) && is_plain(node));
    found.map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::super::judged::{Judged, judge_all};

    const CASES: &[Judged] = &[
        (
            r#"{"id":98432,"iid":17,"project_id":5,"title":"Retry","author":{"id":3},"head_pipeline":{"id":71,"iid":9},"web_url":"https://gitlab.example.com/a/b/-/merge_requests/17"}"#,
            &[
                ("NUMBER_FROM_STEP_1", "17"),
                ("PR_ID_FROM_STEP_1", "17"),
                ("MR_ID_FROM_STEP_1", "17"),
                ("PULL_REQUEST_ID_FROM_STEP_1", "17"),
                ("MERGE_REQUEST_ID_FROM_STEP_1", "17"),
                ("MR_NUMBER_FROM_STEP_1", "17"),
                ("IID_FROM_STEP_1", "17"),
                ("ID_FROM_STEP_1", "98432"),
                ("AUTHOR_ID_FROM_STEP_1", "3"),
            ],
        ),
        (
            r#"[{"id":501,"iid":4,"title":"One"},{"id":502,"iid":5,"title":"Two"}]"#,
            &[
                ("ISSUE_ID_FROM_STEP_1", "4"),
                ("ALL_ISSUE_IDS_FROM_STEP_1", "[4,5]"),
                ("PR_IDS_FROM_STEP_1", "[4,5]"),
                ("ALL_NUMBERS_FROM_STEP_1", "[4,5]"),
                ("ALL_IDS_FROM_STEP_1", "[501,502]"),
            ],
        ),
        (
            r#"{"issue":{"id":"i-8","iid":"2"},"project":{"id":5}}"#,
            &[
                ("ISSUE_ID_FROM_STEP_1", r#""2""#),
                ("PROJECT_ID_FROM_STEP_1", "5"),
            ],
        ),
        // Without an id of its own the number is only a field, and without a number the id answers.
        (r#"{"iid":6,"name":"x"}"#, &[("IID_FROM_STEP_1", "6")]),
        (r#"{"id":7,"iid":null}"#, &[("PR_ID_FROM_STEP_1", "7")]),
    ];

    /// Where an object has an `id` and an `iid`, names for a number give the `iid`, and `ID` gives the id.
    #[test]
    fn people_use_the_iid() {
        judge_all(CASES, &[]);
    }
}
