//! Statements replace each other, or stand in dispute.

use proptest::prelude::*;

use crate::{Speaker, VersionState, Versions};

const AGENT: Speaker = Speaker::Agent;
const USER: Speaker = Speaker::User;

fn port(number: u32) -> String {
    format!("The API listens on port {number}.")
}

#[test]
fn a_later_statement_of_the_same_agent_or_of_the_user_replaces() {
    for (later, is_replaced) in [
        ((AGENT, "codex"), true),
        ((USER, "claude"), true),
        ((AGENT, "claude"), false),
    ] {
        let mut versions = Versions::default();
        versions.add(&port(8080), AGENT, "codex", &[]);
        versions.add("Prices are stored as cents.", AGENT, "codex", &[]);
        let place = versions.add(&port(9090), later.0, later.1, &[]);
        assert_eq!(!versions.is_current(0), is_replaced, "{later:?}");
        assert_eq!(versions.replaced_by(place) == [0], is_replaced);
        assert_eq!(versions.disputes(place) == [0], !is_replaced);
        assert!(versions.is_current(1));
    }
}

#[test]
fn an_agent_does_not_settle_what_the_user_said() {
    let mut versions = Versions::default();
    versions.add(&port(8080), USER, "codex", &[]);
    versions.add(&port(9090), AGENT, "codex", &[]);
    assert_eq!(
        (versions.disputes(0), versions.disputes(1)),
        (&[1][..], &[0][..])
    );
    // The user does.
    versions.add(&port(9090), USER, "claude", &[]);
    assert_eq!(versions.state(0), VersionState::Replaced(2));
    assert_eq!(versions.state(1), VersionState::Repeated(2));
    assert_eq!(versions.disputes(2), &[] as &[usize]);
}

#[test]
fn a_dispute_is_settled_by_a_newer_statement_or_a_person() {
    let disputed = || {
        let mut versions = Versions::default();
        versions.add(&port(8080), AGENT, "codex", &[]);
        versions.add(&port(9090), AGENT, "claude", &[]);
        versions
    };
    let mut by_another = disputed();
    by_another.add(&port(9090), AGENT, "gemini", &[]);
    assert_eq!(by_another.state(0), VersionState::Replaced(2));
    // Who repeats what he says himself settles nothing.
    let mut by_itself = disputed();
    by_itself.add(&port(9090), AGENT, "claude", &[]);
    assert_eq!(
        (by_itself.disputes(0), by_itself.disputes(2)),
        (&[2][..], &[0][..])
    );
    // Who takes it back does.
    let mut taken_back = disputed();
    taken_back.add(&port(9090), AGENT, "codex", &[]);
    assert!(!taken_back.is_current(0) && taken_back.disputes(2).is_empty());
    let mut by_person = disputed();
    by_person.accept(0);
    assert_eq!(by_person.state(1), VersionState::Replaced(0));
    assert!(by_person.is_current(0) && by_person.disputes(0).is_empty());
}

#[test]
fn the_words_of_the_user_stand_for_an_agent_who_repeats_them() {
    let mut versions = Versions::default();
    versions.add(&port(8080), USER, "codex", &[]);
    versions.add(&port(8080), AGENT, "codex", &[]);
    assert_eq!(versions.state(1), VersionState::Repeated(0));
    versions.add(&port(8080), USER, "codex", &[]);
    assert_eq!(versions.state(0), VersionState::Repeated(2));
}

#[test]
fn what_is_named_is_replaced_whatever_the_words_say() {
    let mut versions = Versions::default();
    versions.add("Ask Anna about the ledger.", USER, "codex", &[]);
    versions.add("The ledger is kept by the bank.", AGENT, "claude", &[0]);
    assert_eq!(versions.state(0), VersionState::Replaced(1));
    assert_eq!(versions.replaced_by(1), [0]);
}

fn said() -> impl Strategy<Value = Vec<(u32, bool, u8)>> {
    prop::collection::vec((0_u32..3, any::<bool>(), 0_u8..3), 0..20)
}

proptest! {
    /// Whatever is said: no two statements that stand contradict each other, unless both say so; and the last word of the
    /// user stands.
    #[test]
    fn what_stands_is_consistent_or_disputed(said in said()) {
        let mut versions = Versions::default();
        for (number, is_user, author) in &said {
            let speaker = if *is_user { USER } else { AGENT };
            versions.add(&port(8080 + number), speaker, &author.to_string(), &[]);
        }
        let current: Vec<usize> = (0..said.len()).filter(|at| versions.is_current(*at)).collect();
        for one in &current {
            for other in &current {
                let is_same = said[*one].0 == said[*other].0;
                prop_assert!(one == other || !is_same, "{:?}", versions);
                let is_disputed = versions.disputes(*one).contains(other);
                prop_assert_eq!(is_disputed, one != other);
            }
            prop_assert!(versions.disputes(*one).iter().all(|other| current.contains(other)));
        }
        if let Some(last) = said.iter().rposition(|(_, is_user, _)| *is_user) {
            let number = said[last].0;
            prop_assert!(current.iter().any(|at| said[*at].0 == number));
        }
    }
}
