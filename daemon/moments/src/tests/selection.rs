//! What prompts and edits need, and when nothing: from the messages of a project through the cues to the selected items.

use std::path::Path;

use lored_models::Model;

use super::{Score, lines};
use crate::*;

/// Embeds items and prompts, or nothing.
struct Vectors {
    model: Option<Model>,
    items: Vec<Vec<f32>>,
}

impl Vectors {
    fn new(model: Option<&str>) -> Self {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
        Self {
            model: model.map(|name| Model::load(&models.join(name)).unwrap()),
            items: Vec::new(),
        }
    }

    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        self.model.as_ref().map(|model| model.embed(text))
    }

    /// Embeds what was pushed since.
    fn catch_up(&mut self, ids: &[(&'static str, String)]) {
        self.items.truncate(ids.len());
        for (_, text) in ids.iter().skip(self.items.len()) {
            self.items.extend(self.embed(text));
        }
    }

    fn cosine(&self, prompt: Option<&Vec<f32>>, at: usize) -> Option<f32> {
        let (prompt, item) = (prompt?, self.items.get(at)?);
        Some(
            prompt
                .iter()
                .zip(item)
                .map(|(one, other)| one * other)
                .sum(),
        )
    }
}

struct Statement {
    id: &'static str,
    speaker: Speaker,
    text: &'static str,
    /// What an agent asked before.
    asked: Option<&'static str>,
    /// Whether an edit came before.
    follows_edit: bool,
}

/// Returns a text of a fixture, in which a bar stands for the end of a line.
fn with_lines(text: &'static str) -> &'static str {
    match text.contains('|') {
        true => String::leak(text.replace('|', "\n")),
        false => text,
    }
}

fn said(rest: &'static str) -> Statement {
    let parts: Vec<&str> = rest.splitn(3, ' ').collect();
    let speaker = if parts[1] == "user" {
        Speaker::User
    } else {
        Speaker::Agent
    };
    Statement {
        id: parts[0],
        speaker,
        text: with_lines(parts[2]),
        asked: None,
        follows_edit: false,
    }
}

fn source(speaker: Speaker) -> ItemSource {
    match speaker {
        Speaker::User => ItemSource::User,
        Speaker::Agent => ItemSource::Agent,
    }
}

/// Adds what lasts of a message.
fn push(
    items: &mut Items,
    ids: &mut Vec<(&'static str, String)>,
    said: &Statement,
    turn: u64,
    files: &[&str],
) {
    let message = Message {
        speaker: said.speaker,
        previous_answer: said.asked,
        follows_edit: said.follows_edit,
        ..Message::prompt(said.text)
    };
    for one in durable(&message) {
        items.push(Item::new(&ItemText {
            text: &one.text,
            context: said.text,
            kind: one.kind,
            cue: one.cue,
            source: source(said.speaker),
            turn,
            files,
        }));
        ids.push((said.id, one.text));
    }
}

fn judge_prompts(
    fixture: &'static str,
    name: &str,
    vectors: &mut Vectors,
    recall: f64,
    silence: f64,
) {
    let (mut needing, mut others, mut near) =
        (Score::default(), Score::default(), Score::default());
    let (mut paraphrases, mut repeats) = (Score::default(), Score::default());
    let (mut items, mut ids, mut past) = (Items::default(), Vec::new(), PastScores::default());
    let mut turn = 0;
    let (mut asked, mut follows_edit) = (None, false);
    for line in lines(fixture) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        turn += 1;
        match word {
            "project" => {
                (items, ids, past) = (Items::default(), Vec::new(), PastScores::default());
                vectors.items.clear();
            }
            "q" => asked = Some(with_lines(rest)),
            "fix" => follows_edit = true,
            "s" => {
                let mut said = said(rest);
                if said.speaker == Speaker::User {
                    said.asked = asked.take();
                    said.follows_edit = std::mem::take(&mut follows_edit);
                }
                push(&mut items, &mut ids, &said, turn, &[]);
            }
            _ => {
                let (need, prompt) = rest.split_once(' ').unwrap();
                let (wanted, prompt) = if matches!(need, "need" | "para") {
                    prompt.split_once(' ').unwrap()
                } else {
                    ("", prompt)
                };
                items.count_prompt(prompt);
                vectors.catch_up(&ids);
                let own = vectors.embed(prompt);
                let cosine = |at| vectors.cosine(own.as_ref(), at);
                let found = select_for_prompt(prompt, &items, turn, &past, &|_| false, &cosine);
                past.push(found.top);
                let names: Vec<_> = found
                    .items
                    .iter()
                    .map(|one| (ids[one.index].0, one.score))
                    .collect();
                let query = Query::new(prompt, &items);
                let describe = || {
                    let at = ids
                        .iter()
                        .position(|(id, _)| *id == wanted)
                        .or(found.items.first().map(|one| one.index));
                    let features =
                        at.map(|at| (query.features(items.get(at).unwrap(), &items), &ids[at].1));
                    let cosine = at.and_then(cosine);
                    format!(
                        "{wanted:6} {prompt}: {names:?} top {:.2}\n        {features:?} {cosine:?}",
                        found.top
                    )
                };
                let is_repeated = names.len() > 1 && names[0].0 == names[1].0;
                repeats.add(!is_repeated, describe);
                if need == "para" {
                    paraphrases.add(names.iter().any(|(id, _)| *id == wanted), describe);
                } else if need == "near" {
                    near.add(names.is_empty(), describe);
                } else if wanted.is_empty() {
                    others.add(names.is_empty(), describe);
                } else {
                    needing.add(names.iter().any(|(id, _)| *id == wanted), describe);
                }
            }
        }
    }
    let floor = if repeats.all < 200 { 1.0 } else { 0.98 };
    repeats.report(&format!("{name}: nothing said twice"), floor);
    needing.report(&format!("{name}: needed items said"), recall);
    others.report(&format!("{name}: silent for others"), silence);
    if paraphrases.all > 0 {
        // Of the projects that were written without sight of the rules, next to none.
        let floor = match vectors.model.is_some() && paraphrases.all < 20 {
            true => 0.15,
            false => 0.0,
        };
        paraphrases.report(&format!("{name}: needed items said, in other words"), floor);
    }
    if near.all > 0 {
        let floor = match near.all {
            0..5 => 0.5,
            5..20 => 0.87,
            _ => 0.5,
        };
        near.report(
            &format!("{name}: silent for others of the same topic"),
            floor,
        );
    }
}

fn judge_edits(
    fixture: &'static str,
    name: &str,
    vectors: &mut Vectors,
    recall: f64,
    silence: f64,
) {
    let (mut needing, mut others) = (Score::default(), Score::default());
    let (mut items, mut ids) = (Items::default(), Vec::new());
    let (mut turn, mut open, mut files) = (0, Vec::<Statement>::new(), Vec::<&str>::new());
    for line in lines(fixture) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if matches!(word, "turn" | "edit" | "project") {
            for said in open.drain(..) {
                push(&mut items, &mut ids, &said, turn, &files);
            }
            files.clear();
            turn += 1;
        }
        match word {
            "project" => {
                (items, ids) = (Items::default(), Vec::new());
                vectors.items.clear();
            }
            "turn" => {}
            "touch" => files.push(rest),
            "s" => open.push(said(rest)),
            _ => {
                let (wanted, rest) = rest.split_once(' ').unwrap();
                let (path, text) = rest.split_once(" | ").unwrap();
                vectors.catch_up(&ids);
                let own = vectors.embed(&edit_subject(path, text));
                let cosine = |at| vectors.cosine(own.as_ref(), at);
                let found = select_for_edit(path, text, &items, &|_| false, &cosine);
                let names: Vec<_> = found
                    .items
                    .iter()
                    .map(|one| (ids[one.index].0, one.score))
                    .collect();
                let query = EditQuery::new(path, text, &items);
                let describe = || {
                    let at = ids
                        .iter()
                        .position(|(id, _)| *id == wanted)
                        .or(found.items.first().map(|one| one.index));
                    let features =
                        at.map(|at| (query.features(items.get(at).unwrap(), &items), &ids[at].1));
                    let cosine = at.and_then(cosine);
                    format!(
                        "{wanted:6} {path}: {names:?} top {:.2}\n        {features:?} {cosine:?}",
                        found.top
                    )
                };
                if wanted == "none" {
                    others.add(names.is_empty(), describe);
                } else {
                    needing.add(names.iter().any(|(id, _)| *id == wanted), describe);
                }
            }
        }
    }
    needing.report(&format!("{name}: recorded decisions said"), recall);
    others.report(&format!("{name}: silent for others"), silence);
}

#[test]
fn figures_of_prompts() {
    judge_prompts(
        include_str!("fixtures/prompts-open.txt"),
        "prompts",
        &mut Vectors::new(None),
        0.8,
        0.95,
    );
}

#[test]
fn figures_of_edits() {
    let cases = include_str!("fixtures/edits-open.txt");
    judge_edits(cases, "edits", &mut Vectors::new(None), 0.9, 0.95);
    let mut vectors = Vectors::new(Some(MEANING));
    judge_edits(cases, "edits with vectors", &mut vectors, 0.9, 0.95);
}

#[test]
fn figures_of_held_prompts() {
    judge_prompts(
        include_str!("fixtures/prompts-held.txt"),
        "held prompts",
        &mut Vectors::new(None),
        0.7,
        0.95,
    );
}

#[test]
fn figures_of_held_edits() {
    let cases = include_str!("fixtures/edits-held.txt");
    judge_edits(cases, "held edits", &mut Vectors::new(None), 0.9, 0.95);
    let mut vectors = Vectors::new(Some(MEANING));
    judge_edits(cases, "held edits with vectors", &mut vectors, 0.9, 0.95);
}

#[test]
fn figures_of_edits_of_other_files() {
    let cases = include_str!("fixtures/edits-meaning.txt");
    let name = "edits of files that no decision names";
    judge_edits(cases, name, &mut Vectors::new(None), 0.0, 0.85);
    let mut vectors = Vectors::new(Some(MEANING));
    judge_edits(cases, "the same with vectors", &mut vectors, 0.7, 0.95);
}

/// The model of the daemon's second tier, with which it compares prompts and items.
const MEANING: &str = "minilm-l6";

#[test]
fn figures_of_prompts_in_other_words() {
    let cases = include_str!("fixtures/prompts-meaning.txt");
    judge_prompts(cases, "varied prompts", &mut Vectors::new(None), 0.75, 0.95);
    let mut vectors = Vectors::new(Some(MEANING));
    judge_prompts(
        cases,
        "varied prompts with vectors",
        &mut vectors,
        0.8,
        0.95,
    );
}

#[test]
fn figures_of_prompts_after_replies() {
    let cases = include_str!("fixtures/prompts-fresh.txt");
    judge_prompts(cases, "fresh prompts", &mut Vectors::new(None), 0.58, 0.95);
    let mut vectors = Vectors::new(Some(MEANING));
    let name = "fresh prompts with vectors";
    judge_prompts(cases, name, &mut vectors, 0.9, 0.95);
}

#[test]
fn figures_of_untidy_prompts() {
    let cases = include_str!("fixtures/prompts-untidy.txt");
    judge_prompts(cases, "untidy prompts", &mut Vectors::new(None), 0.65, 0.95);
    let mut vectors = Vectors::new(Some(MEANING));
    let name = "untidy prompts with vectors";
    judge_prompts(cases, name, &mut vectors, 0.9, 0.95);
}

#[test]
fn figures_of_unseen_projects() {
    let mut vectors = Vectors::new(Some(MEANING));
    let cases = include_str!("fixtures/prompts-projects.txt");
    judge_prompts(cases, "projects with vectors", &mut vectors, 0.78, 0.92);
    let cases = include_str!("fixtures/prompts-projects-more.txt");
    judge_prompts(
        cases,
        "more projects with vectors",
        &mut vectors,
        0.66,
        0.94,
    );
}

#[test]
fn figures_of_held_untidy_prompts() {
    let cases = include_str!("fixtures/prompts-untidy-held.txt");
    let mut vectors = Vectors::new(Some(MEANING));
    judge_prompts(cases, "held untidy prompts", &mut vectors, 0.55, 0.95);
}

#[test]
fn figures_of_prompts_with_vectors() {
    let mut vectors = Vectors::new(Some(MEANING));
    let open = include_str!("fixtures/prompts-open.txt");
    judge_prompts(open, "prompts with vectors", &mut vectors, 0.85, 0.95);
    let held = include_str!("fixtures/prompts-held.txt");
    judge_prompts(held, "held prompts with vectors", &mut vectors, 0.8, 0.95);
}
