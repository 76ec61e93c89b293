//! The gate of entities and references: conversations in which each question is marked with what it means, and
//! everyday sentences that mean nothing.
//!
//! A line is `U:` with a message, `=>` and the entities that it means by name (after `~` those that may be named as
//! well), `T:` with a tool's name and its JSON result, or `A:` with an answer. `{kind:name}` marks the first mention
//! of a thing that no pattern could recognise; it is given to the conversation as known.

use super::*;
use std::collections::HashMap;

const CONVERSATIONS: [(&str, &str); 27] = [
    ("release", include_str!("conversations/release.txt")),
    ("migration", include_str!("conversations/migration.txt")),
    ("cabling", include_str!("conversations/cabling.txt")),
    ("orders", include_str!("conversations/orders.txt")),
    ("gateway", include_str!("conversations/gateway.txt")),
    ("pipelines", include_str!("conversations/pipelines.txt")),
    ("onboarding", include_str!("conversations/onboarding.txt")),
    ("travel", include_str!("conversations/travel.txt")),
    ("twins", include_str!("conversations/twins.txt")),
    ("net1", include_str!("conversations/net1.txt")),
    ("net2", include_str!("conversations/net2.txt")),
    ("net3", include_str!("conversations/net3.txt")),
    ("net5", include_str!("conversations/net5.txt")),
    ("code5", include_str!("conversations/code5.txt")),
    ("net4", include_str!("conversations/net4.txt")),
    ("code1", include_str!("conversations/code1.txt")),
    ("code2", include_str!("conversations/code2.txt")),
    ("code3", include_str!("conversations/code3.txt")),
    ("code4", include_str!("conversations/code4.txt")),
    ("fresh1", include_str!("conversations/fresh1.txt")),
    ("fresh2", include_str!("conversations/fresh2.txt")),
    ("papers", include_str!("conversations/papers.txt")),
    ("research2", include_str!("conversations/research2.txt")),
    ("support", include_str!("conversations/support.txt")),
    ("support2", include_str!("conversations/support2.txt")),
    ("net6", include_str!("conversations/net6.txt")),
    ("support3", include_str!("conversations/support3.txt")),
];
/// Terse conversations in the shapes of data of many tools, written by an author who knew no rule. Little of what they name was
/// given as known: most of it has to be found.
const TERSE: [(&str, &str); 8] = [
    ("net7", include_str!("conversations/net7.txt")),
    ("support4", include_str!("conversations/support4.txt")),
    ("operations1", include_str!("conversations/operations1.txt")),
    ("move1", include_str!("conversations/move1.txt")),
    ("code6", include_str!("conversations/code6.txt")),
    ("research3", include_str!("conversations/research3.txt")),
    ("code7", include_str!("conversations/code7.txt")),
    ("product1", include_str!("conversations/product1.txt")),
];
/// Conversations that were written like [`CONVERSATIONS`] by an author who knew no rule, and judged once: 87 of 100 stated as
/// meant were right, 65 of 100 meant ones were reached. No rule was changed for them.
const LATE: [(&str, &str); 4] = [
    ("net8", include_str!("conversations/net8.txt")),
    ("code8", include_str!("conversations/code8.txt")),
    ("support5", include_str!("conversations/support5.txt")),
    ("research4", include_str!("conversations/research4.txt")),
];
/// Conversations that were written before the rules they are judged by: what they reach is a floor, below the target.
const NEW: [&str; 9] = [
    "release",
    "migration",
    "twins",
    "cabling",
    "orders",
    "gateway",
    "travel",
    "pipelines",
    "onboarding",
];
/// Sentences of an office, with `=>` and the entities that they name; most name none.
const OFFICE: &str = include_str!("conversations/office.txt");
const EVERYDAY: &str = include_str!("conversations/everyday.txt");
/// Kinds of what a message names besides what it means, which the gold does not list.
const DETAILS: [&str; 6] = [
    "error_code",
    "exception",
    "url",
    "email",
    "environment_variable",
    "package",
];

/// What was found in the messages of a conversation.
#[derive(Default)]
struct Score {
    stated: usize,
    right: usize,
    gold: usize,
    reached: usize,
    wrong: Vec<String>,
    missed: Vec<String>,
    /// Possible references by tenths of their score: how many, and how many of them are right.
    possible: [(usize, usize); 11],
}

/// A conversation as far as it is read.
#[derive(Default)]
struct Conversation {
    session: Gazetteer,
    past: Vec<Arc<PastText>>,
    /// All names of each entity, lower-cased.
    names: HashMap<(Arc<str>, String), Vec<String>>,
}

impl Conversation {
    /// Recognises a text and remembers it, as a session does.
    fn read(&mut self, text: &str, source: TextSource) -> TextMentions {
        let (text, given) = unmarked(text);
        for (kind, name) in &given {
            self.know(
                &Mention {
                    kind: kind.as_str().into(),
                    key: canonical_key(kind, name),
                    name: name.clone(),
                },
                &[],
            );
        }
        let knowledge = Knowledge {
            gazetteers: &[&self.session],
            past: &self.past,
            source,
            ..Knowledge::default()
        };
        let mut found = recognise(&PACKS, &text, &knowledge);
        unify(&mut found.matches, &knowledge);
        self.past.insert(
            0,
            PastText::of(source, &found.matches, &found.marked).into(),
        );
        self.past.truncate(64);
        for hit in &found.matches {
            let mention = Mention {
                kind: hit.kind.clone(),
                key: hit.key.clone(),
                name: hit.name.clone(),
            };
            let others: Vec<String> = hit
                .slug
                .iter()
                .chain(&hit.aliases)
                .chain(&hit.display)
                .cloned()
                .collect();
            self.know(&mention, &others);
        }
        found
    }

    fn know(&mut self, mention: &Mention, others: &[String]) {
        let known = KnownName::new(&mention.kind, &mention.key, &mention.name);
        let aliases: Vec<KnownName> = others.iter().map(|other| known.alias(other)).collect();
        self.session = self.session.with(aliases.into_iter().chain([known]));
        let names = self
            .names
            .entry((mention.kind.clone(), mention.key.clone()))
            .or_default();
        for name in others.iter().chain([&mention.name, &mention.key]) {
            names.push(plain(name));
        }
    }

    /// Returns whether an entity has one of the names of a gold list.
    fn is_one_of(&self, mention: &Mention, gold: &[String]) -> Option<usize> {
        let own = [plain(&mention.name), plain(&mention.key)];
        let known = self.names.get(&(mention.kind.clone(), mention.key.clone()));
        gold.iter().position(|gold| {
            own.contains(gold)
                || known.is_some_and(|names| names.contains(gold))
                || (&*mention.kind == "commit"
                    && own.iter().any(|own| own.starts_with(gold.as_str())))
        })
    }
}

/// Gives the objects of a text the keys under which they are known, by their name, else by their slug: sessions merge
/// such entities.
fn unify(matches: &mut [Match], knowledge: &Knowledge<'_>) {
    let layers = || knowledge.gazetteers.iter();
    let mut known_as: Vec<(Arc<str>, String, String)> = Vec::new();
    for hit in matches.iter() {
        // A key within a parent is no name alone.
        if hit.how != RecognitionMethod::Json || hit.key != canonical_key(&hit.kind, &hit.name) {
            continue;
        }
        let names = std::iter::once(&hit.name).chain(&hit.slug);
        let known = names
            .into_iter()
            .find_map(|name| layers().find_map(|layer| layer.lookup(&hit.kind, name)));
        if let Some(known) = known.filter(|known| *known.key != *hit.key) {
            known_as.push((hit.kind.clone(), hit.key.clone(), known.key.to_string()));
        }
    }
    if known_as.is_empty() {
        return;
    }
    let known = |kind: &str, key: &str| {
        let mut all = known_as.iter();
        let found = all.find(|(of, own, _)| **of == *kind && own == key);
        found.map(|(_, _, known)| known.clone())
    };
    for hit in matches {
        if let Some(key) = known(&hit.kind, &hit.key) {
            hit.key = key;
        }
        for parent in &mut hit.parents {
            if let Some(key) = known(&parent.kind, &parent.key) {
                parent.key = key;
            }
        }
    }
}

fn plain(name: &str) -> String {
    let name = name
        .trim()
        .trim_start_matches(['#', '!'])
        .trim_end_matches("()");
    name.to_lowercase()
}

/// Takes the marks off a text, and returns what they give.
fn unmarked(text: &str) -> (String, Vec<(String, String)>) {
    let (mut out, mut given) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let mark = behind
            .split_once('}')
            .and_then(|(mark, rest)| Some((mark.split_once(':')?, rest)));
        match mark {
            Some(((kind, name), after))
                if kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
                    && !kind.is_empty() =>
            {
                out.push_str(before);
                out.push_str(name);
                given.push((kind.to_owned(), name.to_owned()));
                rest = after;
            }
            _ => {
                out.push_str(before);
                out.push('{');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    (out, given)
}

fn judged(name: &str, conversation: &str) -> Score {
    let (mut talk, mut score) = (Conversation::default(), Score::default());
    for line in conversation.lines().filter(|line| !line.trim().is_empty()) {
        let (mark, text) = line.split_once(": ").unwrap();
        match mark {
            "T" => {
                let (_, result) = text.split_once(' ').unwrap();
                talk.read(result, TextSource::Result);
            }
            "A" => {
                talk.read(text, TextSource::Agent);
            }
            _ => {
                let (said, gold) = text.rsplit_once("=>").unwrap();
                let (gold, also) = gold.split_once('~').unwrap_or((gold, ""));
                let list = |list: &str| -> Vec<String> {
                    let names = list.split(", ").map(plain);
                    names.filter(|name| !name.is_empty()).collect()
                };
                let (gold, also) = (list(gold), list(also));
                let found = talk.read(said.trim(), TextSource::Person);
                let mut reached: Vec<usize> = Vec::new();
                for hit in &found.matches {
                    let mention = Mention {
                        kind: hit.kind.clone(),
                        key: hit.key.clone(),
                        name: hit.name.clone(),
                    };
                    let wanted = talk.is_one_of(&mention, &gold);
                    let is_detail = DETAILS.contains(&&*hit.kind);
                    if wanted.is_none() && is_detail {
                        continue;
                    }
                    score.stated += 1;
                    if wanted.is_some() || talk.is_one_of(&mention, &also).is_some() {
                        score.right += 1;
                    } else {
                        score.wrong.push(format!(
                            "{name}: {said}=> {gold:?}, meant {} {}, by {:?}",
                            hit.kind, hit.name, hit.how
                        ));
                    }
                    reached.extend(wanted);
                }
                let possible = found
                    .possible
                    .iter()
                    .filter_map(|one| talk.is_one_of(&one.mention, &gold));
                reached.extend(possible);
                for one in &found.possible {
                    let tenth = (one.score * 10.0) as usize;
                    let wanted = gold.iter().chain(&also).cloned().collect::<Vec<_>>();
                    let is_right = talk.is_one_of(&one.mention, &wanted).is_some();
                    let bin = &mut score.possible[tenth.min(10)];
                    *bin = (bin.0 + 1, bin.1 + usize::from(is_right));
                }
                for (at, wanted) in gold.iter().enumerate() {
                    score.gold += 1;
                    if reached.contains(&at) {
                        score.reached += 1;
                    } else {
                        let possible: Vec<&str> = found
                            .possible
                            .iter()
                            .map(|one| one.mention.name.as_str())
                            .collect();
                        let meant: Vec<&str> =
                            found.matches.iter().map(|one| one.name.as_str()).collect();
                        score.missed.push(format!(
                            "{name}: {said}=> {wanted}; meant {meant:?}, possible {possible:?}"
                        ));
                    }
                }
            }
        }
    }
    score
}

/// What is stated as meant is right in 96 of 100 cases, and what is meant is among meant and possible in 87. Conversations
/// that no rule has seen reach less: two of these reached 89 and 75 of 100 when they were judged first.
#[test]
fn references_are_right_or_open() {
    let (mut all, mut new) = (Score::default(), Score::default());
    let mut report = Vec::new();
    for (name, conversation) in CONVERSATIONS {
        let score = judged(name, conversation);
        report.push(format!(
            "{name}: meant {} of {} right, reached {} of {}",
            score.right, score.stated, score.reached, score.gold
        ));
        all.stated += score.stated;
        all.right += score.right;
        all.gold += score.gold;
        all.reached += score.reached;
        for (sum, own) in all.possible.iter_mut().zip(score.possible) {
            *sum = (sum.0 + own.0, sum.1 + own.1);
        }
        if NEW.contains(&name) {
            new.stated += score.stated;
            new.right += score.right;
            new.gold += score.gold;
            new.reached += score.reached;
        }
        report.extend(score.wrong.iter().map(|line| format!("  wrong  {line}")));
        report.extend(score.missed.iter().map(|line| format!("  missed {line}")));
    }
    report.push(format!(
        "all: meant {} of {} right, reached {} of {}",
        all.right, all.stated, all.reached, all.gold
    ));
    for (tenth, (count, right)) in all.possible.iter().enumerate() {
        report.push(format!("possible .{tenth}: {right} of {count} right"));
    }
    let report = report.join("\n");
    println!("{report}");
    assert!(new.right * 100 >= new.stated * 95, "{report}");
    assert!(new.reached * 100 >= new.gold * 84, "{report}");
    assert!(all.right * 100 >= all.stated * 96, "{report}");
    assert!(all.reached * 100 >= all.gold * 87, "{report}");
}

/// Sums up what is found in conversations; returns the sum and a report.
fn judged_all(conversations: &[(&str, &str)]) -> (Score, String) {
    let (mut all, mut report) = (Score::default(), Vec::new());
    for (name, conversation) in conversations {
        let score = judged(name, conversation);
        report.push(format!(
            "{name}: meant {} of {} right, reached {} of {}",
            score.right, score.stated, score.reached, score.gold
        ));
        report.extend(score.wrong.iter().map(|line| format!("  wrong  {line}")));
        report.extend(score.missed.iter().map(|line| format!("  missed {line}")));
        all.stated += score.stated;
        all.right += score.right;
        all.gold += score.gold;
        all.reached += score.reached;
    }
    report.push(format!(
        "all: meant {} of {} right, reached {} of {}",
        all.right, all.stated, all.reached, all.gold
    ));
    (all, report.join("\n"))
}

#[test]
fn terse_conversations_are_understood_in_part() {
    let (all, report) = judged_all(&TERSE);
    println!("{report}");
    assert!(all.right * 100 >= all.stated * 88, "{report}");
    assert!(all.reached * 100 >= all.gold * 72, "{report}");
}

#[test]
fn late_conversations_are_understood_mostly() {
    let (all, report) = judged_all(&LATE);
    println!("{report}");
    assert!(all.right * 100 >= all.stated * 86, "{report}");
    assert!(all.reached * 100 >= all.gold * 64, "{report}");
}

/// A result that makes many common words names.
const LEARNED: &str = r#"[{"number":3,"title":"Fix the total","html_url":"https://git.example.com/a/b/pull/3","head":{"ref":"main"},"user":{"login":"will"}},
        {"device":{"name":"box","role":{"name":"Server"}},"site":{"name":"home"},"branch":"master","package":"test"}]"#;

/// In everyday sentences nothing is an entity, also not in a session that knows many names of common words.
#[test]
fn everyday_sentences_mention_nothing() {
    let mut wrong = Vec::new();
    for known in ["{}", LEARNED] {
        for sentence in EVERYDAY.lines() {
            let mut talk = Conversation::default();
            talk.read(known, TextSource::Result);
            let found = talk.read(sentence, TextSource::Person);
            let names = found
                .matches
                .iter()
                .filter(|hit| hit.how != RecognitionMethod::Reference);
            wrong.extend(names.map(|hit| format!("{sentence} {} {}", hit.kind, hit.name)));
        }
    }
    // 3 of 100 finds may be false: there is nothing to find, so at most 3 sentences in 100 may have one.
    let sentences = EVERYDAY.lines().count() * 2;
    assert!(EVERYDAY.lines().count() >= 60);
    assert!(wrong.len() * 100 <= sentences * 3, "{wrong:#?}");
}

/// Of what is found in sentences of an office, 97 of 100 are the entities that they name, and these are all found.
#[test]
fn sentences_of_an_office_name_few_things() {
    let (mut right, mut wrong, mut missed) = (0, Vec::new(), Vec::new());
    for known in ["{}", LEARNED] {
        for line in OFFICE.lines() {
            let (sentence, gold) = line.rsplit_once("=>").unwrap();
            let gold: Vec<String> = gold.split(", ").map(plain).collect();
            let mut talk = Conversation::default();
            talk.read(known, TextSource::Result);
            let found = talk.read(sentence.trim(), TextSource::Person);
            let names = found
                .matches
                .iter()
                .filter(|hit| hit.how != RecognitionMethod::Reference);
            let mut reached = Vec::new();
            for hit in names {
                match gold.iter().position(|gold| *gold == plain(&hit.name)) {
                    Some(at) => {
                        right += 1;
                        reached.push(at);
                    }
                    None => wrong.push(format!("{sentence} {} {}", hit.kind, hit.name)),
                }
            }
            let all = gold.iter().enumerate();
            let left = all.filter(|(at, gold)| !gold.is_empty() && !reached.contains(at));
            missed.extend(left.map(|(_, gold)| format!("{sentence} {gold}")));
        }
    }
    assert_eq!(OFFICE.lines().count(), 60);
    println!(
        "office: {right} right, {} wrong, {} missed\n{wrong:#?}\n{missed:#?}",
        wrong.len(),
        missed.len()
    );
    assert!(right * 3 >= wrong.len() * 97, "{wrong:#?}");
    assert!(missed.is_empty(), "{missed:#?}");
}
