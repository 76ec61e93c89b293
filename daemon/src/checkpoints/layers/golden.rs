//! What a careful person says about 90 keys, compared with what the words say.
//!
//! The expectations were written down before the words were tried on them. Where the two differ, the
//! expectation stays: the test prints it, and at least 95 % must agree.

use super::{ContextRules, Layer, LayerAssignment, LayerWords};

use Layer::{Critical, Ephemeral, Important, Useful};

const KEYS: &[(&str, Layer)] = &[
    // What the work is for, what came out of it, what went wrong.
    ("userGoal", Critical),
    ("usergoal", Critical),
    ("goal_2", Critical),
    ("objectives", Critical),
    ("target_requirements", Critical),
    ("acceptanceCriteria", Critical),
    ("User Request", Critical),
    ("userInfo", Critical),
    ("loggedInUser", Critical),
    ("customerEmail", Critical),
    ("finalAnswer", Critical),
    ("queryResult", Critical),
    ("resultOfAnalysis", Critical),
    ("conclusions", Critical),
    ("decisionLog", Critical),
    ("decisionsMade", Critical),
    ("lastError", Critical),
    ("errorMessage", Critical),
    ("errorDetails", Critical),
    ("HTTPError", Critical),
    ("api.error.message", Critical),
    ("internalError", Critical),
    ("failed_tests", Critical),
    ("reasonForFailure", Critical),
    ("urgent-issues", Critical),
    // How the work goes on.
    ("plan", Important),
    ("planDetails", Important),
    ("nextSteps", Important),
    ("deployment-strategy", Important),
    ("migration_approach", Important),
    ("testingMethod", Important),
    ("workflowState", Important),
    ("currentStatus", Important),
    ("taskProgress", Important),
    ("cacheConfig", Important),
    ("appConfiguration", Important),
    ("logSettings", Important),
    ("userSettings", Important),
    ("parametersForTest", Important),
    ("BUILD_CONFIG", Important),
    // Worth having; words of other layers are in some only by their letters.
    ("catalog", Useful),
    ("changelog", Useful),
    ("changeLog", Useful),
    ("loginFlow", Useful),
    ("dialogHistory", Useful),
    ("blogPosts", Useful),
    ("backtrace", Useful),
    ("stackTrace", Useful),
    ("template", Useful),
    ("temperature", Useful),
    ("tempCelsius", Useful),
    ("explanation", Useful),
    ("planetNames", Useful),
    ("internationalization", Useful),
    ("timeZone", Useful),
    ("userAgent", Useful),
    ("dataset", Useful),
    ("sampleData", Useful),
    ("codeAnalysis", Useful),
    ("weeklyReport", Useful),
    ("findings", Useful),
    ("fileContents", Useful),
    ("logLevel", Useful),
    ("cacheSize", Useful),
    ("notes", Useful),
    // What nobody misses tomorrow.
    ("debugLog", Ephemeral),
    ("debugInfo", Ephemeral),
    ("errorLog", Ephemeral),
    ("ERROR_LOG", Ephemeral),
    ("logEntries", Ephemeral),
    ("tmpCache", Ephemeral),
    ("tempResult", Ephemeral),
    ("cachedResponse", Ephemeral),
    ("outputBuffer", Ephemeral),
    ("internalNotes", Ephemeral),
    ("trace_id", Ephemeral),
    ("requestTimestamp", Ephemeral),
    ("time_stamp", Ephemeral),
    ("createdAt", Ephemeral),
    ("_userGoal", Ephemeral),
    ("__internal", Ephemeral),
];

/// Keys of which the value says more than the words.
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
    let plain = KEYS
        .iter()
        .map(|(key, layer)| (*key, "\"some text\"".to_owned(), *layer));
    let cases: Vec<_> = plain.chain(with_values()).collect();
    let mut agreed = 0;
    for (key, value, expected) in &cases {
        let LayerAssignment { layer, rule } = words.place(key, value, false, &rules);
        if layer == *expected {
            agreed += 1;
        } else {
            println!("{key}: a careful person says {expected}, we say {layer} ({rule})");
        }
    }
    assert!(cases.len() >= 60);
    assert!(
        agreed * 100 >= cases.len() * 95,
        "{agreed} of {}",
        cases.len()
    );
}
