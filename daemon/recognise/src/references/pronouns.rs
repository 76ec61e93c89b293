//! Pronouns: "it", "that", "she", "they", "there".

use super::{Outcome, Phrase, Resolver, THRESHOLD};
use crate::discourse::Referent;

/// Gain and loss by whether the verb, or the attribute, is one of the entity's kind.
const VERB_FITS: f32 = 0.3;
const VERB_DIFFERS: f32 = 0.2;
const ATTRIBUTE_FITS: f32 = 0.3;
const ATTRIBUTE_DIFFERS: f32 = 0.5;
/// Gain and loss of "on it" and "in it" by whether the entity contains others.
const CONTAINS: f32 = 0.3;
const CONTAINS_NOT: f32 = 0.2;
/// Least prominence of a possible candidate where none is prominent.
const FAINT: f32 = 0.2;
/// Gain of the only newcomer of the answer for "that".
const NEWCOMER: f32 = 0.45;
/// Least lead over the next candidate for a pronoun that is meant.
const GAP: f32 = 0.2;

/// Verbs with the kinds of what they are done to.
const VERBS: [(&[&str], &[&str]); 10] = [
    (
        &[
            "merge",
            "merged",
            "approve",
            "rebase",
            "review",
            "mergeable",
        ],
        &["pull_request", "merge_request", "branch"],
    ),
    (
        &["close", "reopen", "assign", "assigned", "escalate"],
        &["issue", "ticket", "pull_request", "merge_request"],
    ),
    (
        &["push", "revert", "amend", "squash", "cherry"],
        &["commit", "branch"],
    ),
    (
        &["migrate", "resize", "cap", "capped"],
        &["virtual_machine", "vm"],
    ),
    (
        &[
            "reboot",
            "restart",
            "ping",
            "upgrade",
            "reachable",
            "racked",
            "mounted",
            "patched",
        ],
        &["device", "virtual_machine"],
    ),
    (
        &[
            "call", "calls", "called", "returns", "tested", "refactor", "rename",
        ],
        &["symbol"],
    ),
    (
        &["pass", "passes", "fail", "fails", "rerun", "flaky"],
        &["symbol", "job", "pipeline", "pull_request", "test"],
    ),
    (&["shut", "unshut", "flapping", "trunk"], &["interface"]),
    (&["announced", "routed", "full"], &["prefix", "vlan"]),
    (
        &["publish", "published", "wrote", "written", "cite", "cites"],
        &["paper", "article", "study"],
    ),
];
/// Attributes with the kinds that have them.
const ATTRIBUTES: [(&[&str], &[&str]); 9] = [
    (
        &[
            "interfaces",
            "ports",
            "serial",
            "firmware",
            "management",
            "uptime",
            "units",
            "console",
            "psu",
        ],
        &["device"],
    ),
    (
        &["mtu", "speed", "duplex", "transceiver", "lag"],
        &["interface"],
    ),
    (
        &["vcpus", "cores", "memory", "vcpu", "ram", "disk"],
        &["virtual_machine", "device"],
    ),
    (
        &["ip", "address", "hostname", "os"],
        &["device", "virtual_machine", "interface", "host"],
    ),
    (
        &["gateway", "netmask", "addresses", "scope"],
        &["prefix", "vlan"],
    ),
    (
        &[
            "branch",
            "reviewers",
            "reviewer",
            "commits",
            "conflicts",
            "diff",
        ],
        &["pull_request", "merge_request"],
    ),
    (
        &["assignee", "milestone", "labels"],
        &["issue", "pull_request", "ticket"],
    ),
    (
        &["arguments", "signature", "callers", "caller"],
        &["symbol"],
    ),
    (
        &["authors", "citations", "venue", "abstract"],
        &["paper", "article"],
    ),
];

impl Resolver<'_> {
    pub(super) fn pronoun(&self, at: usize) -> Phrase {
        let next = self.word(at + 1);
        match self.word(at) {
            "he" | "she" | "him" | "his" | "her" | "hers" | "himself" | "herself" => {
                Some((1, self.person(self.word(at))))
            }
            "it" | "its" => Some((1, self.thing(at, false))),
            "they" | "them" | "their" | "theirs" => Some((1, self.several(at))),
            "that" if next == "one" => Some((2, self.thing(at, true))),
            "that" if self.is_alone(at) => Some((1, self.thing(at, true))),
            "those" | "these"
                if self.is_alone(at) || (self.words.joins(at) && !next.ends_with('s')) =>
            {
                Some((1, self.several(at)))
            }
            "there" => Some((1, self.place_meant())),
            _ => None,
        }
    }

    /// Returns whether a "that" stands for something itself: nothing that it could join follows.
    fn is_alone(&self, at: usize) -> bool {
        let next = self.word(at + 1);
        let before = at.checked_sub(1).map_or("", |at| self.word(at));
        // A relative clause: "the host that runs it".
        let is_relative = !before.is_empty()
            && self.words.joins(at.saturating_sub(1))
            && !super::modifiers::is_function(before)
            && !is_verb_before(before);
        if is_relative && !self.words.ends(at) {
            return false;
        }
        self.words.ends(at)
            || !self.words.joins(at)
            || super::modifiers::is_function(next)
            || matches!(
                next,
                "peer"
                    | "called"
                    | "one"
                    | "again"
                    | "before"
                    | "exactly"
                    | "affect"
                    | "mean"
                    | "change"
                    | "public"
                    | "come"
                    | "work"
                    | "happen"
                    | "need"
                    | "include"
                    | "still"
                    | "already"
                    | "fail"
            )
    }

    /// "it", "its", "that": meant with evidence, else possible.
    fn thing(&self, at: usize, is_that: bool) -> Outcome {
        let verbs = |kinds: &[&str], one: &Referent<'_>| kinds.contains(&&*one.mention.kind);
        let sentence: Vec<&str> = self.words.sentence(at).collect();
        let verb = VERBS
            .iter()
            .find(|(words, _)| words.iter().any(|word| sentence.contains(word)));
        let behind = [self.word(at + 1), self.word(at + 2)];
        // "Whose address is that?" asks for the owner of an address: what is meant is no device.
        let is_predicate = is_that && matches!(self.word(at.wrapping_sub(1)), "is" | "was" | "s");
        let attribute = ATTRIBUTES
            .iter()
            .filter(|_| !is_predicate)
            .find(|(words, _)| {
                words
                    .iter()
                    .any(|word| behind.contains(word) || sentence.contains(word))
            });
        let before = at.checked_sub(1).map_or("", |at| self.word(at));
        let is_inside =
            matches!(before, "on" | "in" | "into" | "inside" | "within") && self.word(at) != "its";
        // Things of the last answer; without one, of the last message.
        let is_unanswered = self.discourse.answer.is_empty();
        let is_of_last = |one: &Referent<'_>| match is_unanswered {
            true => one.is_focus,
            false => one.in_answer.is_some(),
        };
        let things: Vec<usize> = (0..self.discourse.referents.len())
            .filter(|at| {
                self.referent(*at)
                    .is_some_and(|one| is_of_last(one) && one.is_thing() && !one.is_nested)
            })
            .collect();
        let newcomers: Vec<usize> = things
            .iter()
            .copied()
            .filter(|at| self.referent(*at).is_some_and(|one| one.is_newcomer))
            .collect();
        let mut against: Vec<usize> = Vec::new();
        let mut evidence: Vec<usize> = Vec::new();
        // "Add sw-1 to it": what the same clause names is something else.
        let is_target = matches!(before, "to" | "into" | "from" | "with" | "for")
            && !sentence
                .iter()
                .any(|word| matches!(*word, "and" | "then" | "but" | "if" | "so"));
        let mut ranked = self
            .discourse
            .ranked(&|one| one.is_thing() && !one.is_absent && !(is_target && one.is_here));
        let is_known = |kinds: &[&str]| {
            let recent = ranked.iter().filter_map(|(at, _)| self.referent(*at));
            recent
                .filter(|one| one.turn <= 2)
                .any(|one| verbs(kinds, one))
        };
        // A verb of other kinds than those that are known: what it is done to was perhaps never mentioned.
        let strange = verb.filter(|(_, kinds)| !is_known(kinds));
        let verb = verb.filter(|(_, kinds)| is_known(kinds));
        let attribute = attribute.filter(|(_, kinds)| is_known(kinds));
        for (place, score) in &mut ranked {
            let Some(one) = self.discourse.referents.get(*place) else {
                continue;
            };
            if let Some((_, kinds)) = verb {
                if verbs(kinds, one) {
                    *score += VERB_FITS;
                    evidence.push(*place);
                } else {
                    *score -= VERB_DIFFERS;
                    against.push(*place);
                }
            }
            if let Some((_, kinds)) = attribute {
                if verbs(kinds, one) {
                    *score += ATTRIBUTE_FITS;
                    evidence.push(*place);
                } else {
                    *score -= ATTRIBUTE_DIFFERS;
                    against.push(*place);
                }
            }
            if is_inside {
                *score += if one.is_container() {
                    CONTAINS
                } else {
                    -CONTAINS_NOT
                };
            }
            if is_that && newcomers == [*place] {
                *score += NEWCOMER;
            }
            if one.is_organisation()
                || one.is_place()
                || strange.is_some_and(|(_, kinds)| !verbs(kinds, one))
            {
                against.push(*place);
            }
        }
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let is_here = |at: &usize| self.referent(*at).is_some_and(|one| one.is_here);
        if let [only] = self.discourse.result.as_slice()
            && self.discourse.answer.is_empty()
            && !is_that
            && !against.contains(only)
            && ranked.iter().any(|(at, _)| at == only)
            && !ranked.iter().any(|(at, _)| is_here(at))
        {
            // A result about one thing, and no answer that says more.
            return Outcome::one(*only, 0.65);
        }
        let faint: Vec<(usize, f32)> = ranked
            .iter()
            .copied()
            .filter(|(_, score)| *score >= FAINT)
            .collect();
        ranked.retain(|(_, score)| *score >= THRESHOLD);
        let Some((first, best)) = ranked.first().copied() else {
            return Outcome::best_of(&faint);
        };
        let next = ranked.get(1).map_or(0.0, |(_, next)| *next);
        let is_named = self
            .referent(first)
            .is_some_and(|one| (is_of_last(one) || one.is_here) && !one.is_nested);
        let is_against = against.contains(&first);
        let gap = best - next;
        // Named alone: by the last text, or by this message.
        let here: Vec<usize> = ranked.iter().map(|(at, _)| *at).filter(is_here).collect();
        let is_only = here == [first] || (here.is_empty() && things == [first]);
        let has_evidence = evidence.contains(&first) && gap >= GAP / 2.0;
        let is_clear = if is_that {
            (has_evidence && verb.is_some() && is_named)
                || (newcomers == [first] && things == [first])
        } else {
            (has_evidence && is_named) || (is_named && is_only && gap >= GAP)
        };
        if is_clear && !is_against {
            return Outcome::one(first, if has_evidence { 0.8 } else { 0.7 });
        }
        Outcome::best_of(&ranked)
    }

    /// "there": a place, else something that contains others.
    fn place_meant(&self) -> Outcome {
        let mut ranked = self
            .discourse
            .ranked(&|one| one.is_container() && !one.is_here && (one.turn <= 3 || one.is_place()));
        for (at, score) in &mut ranked {
            *score += if self.referent(*at).is_some_and(Referent::is_place) {
                0.2
            } else {
                0.0
            };
        }
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        Outcome::best_of(&ranked)
    }

    /// Returns the gain of an entity by the verbs and the attributes among words, as far as something recent has
    /// them.
    pub(super) fn kind_gain(&self, one: &Referent<'_>, words: &[&str]) -> f32 {
        let gain = |all: &[(&[&str], &[&str])], fits: f32, differs: f32| {
            let found = all
                .iter()
                .find(|(listed, _)| listed.iter().any(|word| words.contains(word)));
            let Some((_, kinds)) = found else {
                return 0.0;
            };
            let is_of = |one: &Referent<'_>| kinds.contains(&&*one.mention.kind);
            let mut recent = self.discourse.referents.iter().filter(|one| one.turn <= 2);
            match (recent.any(is_of), is_of(one)) {
                (false, _) => 0.0,
                (true, true) => fits,
                (true, false) => -differs,
            }
        };
        gain(&VERBS, VERB_FITS, VERB_DIFFERS) + gain(&ATTRIBUTES, ATTRIBUTE_FITS, ATTRIBUTE_DIFFERS)
    }
}

/// Returns whether a "that" behind a verb is its object.
fn is_verb_before(word: &str) -> bool {
    matches!(
        word,
        "wrote"
            | "add"
            | "save"
            | "keep"
            | "make"
            | "made"
            | "show"
            | "open"
            | "call"
            | "fix"
            | "use"
            | "run"
            | "see"
            | "close"
            | "assign"
            | "move"
            | "delete"
            | "remove"
            | "revert"
            | "merge"
            | "note"
            | "review"
            | "broke"
            | "caused"
            | "explain"
            | "check"
            | "test"
            | "order"
            | "block"
            | "send"
            | "put"
            | "commit"
            | "likes"
            | "shut"
            | "drop"
            | "undo"
            | "set"
            | "says"
            | "wants"
            | "did"
            | "owns"
            | "knows"
            | "means"
            | "maintains"
            | "resolve"
            | "read"
            | "print"
            | "find"
            | "approve"
            | "take"
            | "give"
            | "get"
            | "like"
    )
}
