//! Servers that hang, die, or return malformed or oversized answers.

use lored::upstream::{Resolution, State};

use super::{Fixture, LIMIT};
use tests::{has_words, until};

/// Each failure is reported with resolver, problem and entity; the next lookup works.
#[test]
fn every_failure_is_a_sentence_and_heals() {
    for (mode, wanted) in [
        // It depends on timing whether the server still reads `initialize`; its exit status is reported.
        ("die-at-start", "(exit status: 3)"),
        ("die", "ended in the middle of the call"),
        ("nonsense", "did not start: conflict"),
        ("broken-answer", "did not answer with the result of a tool"),
        (
            "tool-error",
            "answered an error: the database\\u{202e} is away",
        ),
        ("protocol-error", "answered an error: no such tool"),
        ("huge", "sent a message of over 4194304 bytes"),
        ("endless", "sent a message of over 4194304 bytes"),
    ] {
        let fixture = Fixture::once(mode);
        let said = fixture.failure("bad\u{1b}");
        assert!(said.contains(wanted), "{mode}: {said}");
        let start = "the resolver rig ";
        let end = "; the device \"bad\\u{1b}\" stays unresolved";
        assert!(
            said.starts_with(start) && said.ends_with(end),
            "{mode}: {said}"
        );
        let again = fixture.resolve("ams1");
        assert!(
            matches!(again, Resolution::Found { .. }),
            "{mode}: {again:?}"
        );
        let status = &fixture.resolvers.status()[0];
        assert_eq!((status.calls, status.failures), (2, 1), "{mode}");
        fixture.close();
    }
}

/// A server that never answers, or only with malformed messages, is abandoned after its timeout and restarted.
/// That does not happen at once, because its first answer may be slow.
#[test]
fn a_server_that_does_not_answer_is_given_up() {
    for mode in ["hang", "noise"] {
        let fixture = Fixture::with(mode, false, |settings| settings.timeout_ms = 1000);
        for (ask, starts) in [1, 1, 2].into_iter().enumerate() {
            let said = fixture.failure(&format!("ams{ask}"));
            assert!(
                said.contains("did not answer within 1000 ms"),
                "{mode}: {said}"
            );
            assert_eq!(fixture.left("start").len(), starts, "{mode}");
        }
    }
}

/// A lookup that timed out is retried if the time was short because the server had to start.
#[test]
fn a_server_that_was_late_once_is_kept() {
    let fixture = Fixture::with("hang", true, |settings| settings.timeout_ms = 1000);
    fixture.failure("ams1");
    fixture.recovers("ams1");
    assert_eq!(fixture.left("start").len(), 1);
}

/// A server that never answers `initialize` delays lookups only once, and is finally restarted.
#[test]
fn a_server_that_hangs_at_its_start_is_given_up() {
    let fixture = Fixture::with("hang-at-start", true, |settings| {
        settings.timeout_ms = 200;
        settings.start_ms = 1000;
    });
    let said = fixture.failure("ams1");
    has_words(&said, &["was not ready within 200 ms, and still starts"]);
    let said = until("the start's end", LIMIT, || {
        let said = fixture.failure("ams2");
        (!said.contains("still starts")).then_some(said)
    });
    assert!(said.contains("was not ready within 1000 ms"), "{said}");
    fixture.recovers("ams1");
}

/// A name that a server refused is not looked up again for a while; other names are.
#[test]
fn a_refusal_is_remembered() {
    let fixture = Fixture::with("tool-error", true, |_| {});
    let said = fixture.failure("ams1");
    assert_eq!(fixture.failure("ams1"), said);
    assert!(matches!(fixture.resolve("ams2"), Resolution::Found { .. }));
    assert_eq!(fixture.left("call").len(), 2);
}

/// After a number of failures the server is not called for a while.
#[test]
fn a_broken_server_is_left_alone() {
    let fixture = Fixture::with("die", false, |settings| {
        settings.failures_max = 2;
        settings.pause_ms = 600_000;
    });
    for name in ["a", "b"] {
        let said = fixture.failure(name);
        assert!(said.contains("ended in the middle"), "{said}");
    }
    let said = fixture.failure("c");
    assert!(said.contains("is left alone for "), "{said}");
    assert!(said.contains("since it ended in the middle"), "{said}");
    assert!(matches!(fixture.state(), State::Broken { for_ms } if for_ms > 0));
    assert_eq!(fixture.left("call").len(), 2);
}

/// After the pause it is tried again, and used again when it works.
#[test]
fn a_broken_server_is_tried_again() {
    let fixture = Fixture::with("die", true, |settings| {
        settings.failures_max = 1;
        settings.pause_ms = 20;
    });
    fixture.failure("ams1");
    assert!(matches!(fixture.state(), State::Broken { .. }));
    fixture.recovers("ams1");
    assert_eq!(fixture.state(), State::Running);
}
