//! Compares the layers of 112 keys with a careful person's assignment.
//!
//! The assignment was written before the words were tried. Differences stay: the test prints them, and at least 95 %
//! must agree.

use super::{ContextRules, Layer, LayerAssignment, LayerWords};

use Layer::{Critical, Ephemeral, Important, Useful};

/// Keys of each layer, separated by `|`.
const KEYS: &[(Layer, &str)] = &[
    // The purpose of the work, its results, its failures.
    (
        Critical,
        "userGoal|usergoal|goal_2|objectives|target_requirements|acceptanceCriteria|User Request|\
         userInfo|loggedInUser|customerEmail|finalAnswer|results|testResult|resultOfAnalysis|\
         conclusions|decisionLog|decisionsMade|lastError|errorMessage|errorDetails|HTTPError|\
         api.error.message|internalError|failed_tests|reasonForFailure|urgent-issues|\
         task|currentTask|instructions|question|openQuestions|userRequest",
    ),
    // How the work continues.
    (
        Important,
        "plan|planDetails|nextSteps|deployment-strategy|migration_approach|testingMethod|\
         workflowState|currentStatus|taskProgress|cacheConfig|appConfiguration|logSettings|\
         userSettings|parametersForTest|BUILD_CONFIG|blockers|hypothesis|\
         assumptions|currentFile",
    ),
    // Useful material; words of other layers occur in some only by their letters.
    (
        Useful,
        "catalog|changelog|changeLog|loginFlow|dialogHistory|blogPosts|backtrace|stackTrace|\
         template|temperature|tempCelsius|explanation|planetNames|internationalization|timeZone|\
         userAgent|dataset|sampleData|codeAnalysis|weeklyReport|findings|fileContents|logLevel|\
         cacheSize|notes|queryResult|searchResults|toolResults|user_id|userIds|errorRate|\
         answerOptions|userMessages|taskId|goalkeeper|resultsPage",
    ),
    // Worthless tomorrow.
    (
        Ephemeral,
        "debugLog|debugInfo|errorLog|ERROR_LOG|logEntries|tmpCache|tempResult|cachedResponse|\
         outputBuffer|internalNotes|trace_id|requestTimestamp|time_stamp|createdAt|_userGoal|\
         __internal",
    ),
];

/// Keys whose value matters more than the words.
fn with_values() -> Vec<(&'static str, String, Layer)> {
    let text = |length: usize| format!("\"{}\"", "line of output\\n".repeat(length / 15));
    vec![
        ("stdout", text(1_500), Useful),
        ("description", text(100_000), Useful),
        ("attachment", "null".to_owned(), Ephemeral),
        ("items", "[]".to_owned(), Ephemeral),
        ("comment", "\"  \\n\"".to_owned(), Ephemeral),
        ("count", "0".to_owned(), Useful),
        ("isReady", "false".to_owned(), Useful),
        (
            "avatar",
            "\"data:image/png;base64,iVBORw0KGgo=\"".to_owned(),
            Ephemeral,
        ),
        ("result", "null".to_owned(), Critical),
    ]
}

#[test]
fn a_careful_person_agrees() {
    let (words, rules) = (LayerWords::default(), ContextRules::default());
    let plain = KEYS.iter().flat_map(|(layer, keys)| {
        let keys = keys.split('|');
        keys.map(|key| (key, "\"some text\"".to_owned(), *layer))
    });
    let cases: Vec<_> = plain.chain(with_values()).collect();
    let mut agreed = 0;
    for (key, value, expected) in &cases {
        let LayerAssignment { layer, rule } = words.place(key, value, false, &rules);
        if layer == *expected {
            agreed += 1;
        } else {
            println!("{key}: a careful person says {expected:?}, we say {layer:?} ({rule})");
        }
    }
    assert_eq!(cases.len(), 112);
    assert!(
        agreed * 100 >= cases.len() * 95,
        "{agreed} of {}",
        cases.len()
    );
}
