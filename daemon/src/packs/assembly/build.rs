//! Builds a context pack: the sections in order, within the exact token budget.
//!
//! Every section but the last ends with a blank line, and no section begins with a line end or a slash.
//! o200k never joins text across this seam. So the tokens of the sections add up to those of the prompt (a test
//! counts both).

use lore::protocol::names::{Part, SectionName, WhyLeftOut};

use super::entity;
use super::fit::{BudgetPlan, EntitySize, Sizes};
use super::inputs::{PackEntity, PackInputs, Source};
use super::labels;
use super::pack::{BudgetTooSmall, BuiltPack, Omission, Section};
use super::pieces::TextPiece;
use super::share::Shared;
use crate::tokens::Tokens;

/// Builds a pack within `max_tokens`. [`super::fit`] defines what is left out first.
///
/// # Errors
/// [`BudgetTooSmall`] when not even the message and the instruction fit.
pub fn build(
    of: &PackInputs,
    max_tokens: usize,
    tokens: &Tokens,
) -> Result<BuiltPack, BudgetTooSmall> {
    let parts = Parts::of(of, max_tokens, tokens);
    let mut cut = BudgetPlan::nothing(&parts.sizes);
    let mut target = max_tokens;
    loop {
        cut.fit(&parts.sizes, target);
        let sections = parts.sections(&cut, tokens);
        if parts.is_over_share(&sections) {
            // The frame alone can exceed a passage's share.
            cut.passages -= 1;
            continue;
        }
        let total = sections.iter().map(|section| section.tokens).sum();
        if total <= max_tokens {
            let texts: Vec<&str> = sections.iter().map(|one| one.text.as_str()).collect();
            return Ok(BuiltPack {
                prompt: texts.join(labels::BETWEEN),
                tokens: total,
                left_out: parts.left_out(&cut, tokens),
                sections,
            });
        }
        if cut.is_bare() {
            return Err(BudgetTooSmall { least: total });
        }
        // Sizes are those of separate pieces: a frame can cost more than a cut leaves for it.
        target = target.saturating_sub((total - max_tokens).max(1));
    }
}

/// The formatted ingredients with their sizes.
struct Parts<'i> {
    of: &'i PackInputs,
    history: Vec<TextPiece>,
    values: Vec<TextPiece>,
    passages: Shared,
    sizes: Sizes,
}

impl<'i> Parts<'i> {
    fn of(of: &'i PackInputs, max_tokens: usize, tokens: &Tokens) -> Self {
        let reported = of.history.iter();
        let history: Vec<_> = reported
            .map(|reported| TextPiece::message(reported, tokens, max_tokens))
            .collect();
        let values = of.values.iter();
        let values: Vec<_> = values
            .map(|value| TextPiece::value(value, tokens, max_tokens))
            .collect();
        let line = |line: Option<String>| line.map_or(0, |line| tokens.count(&line));
        let entities = of.entities.iter().map(|entity| EntitySize {
            lines: tokens.count(&entity::lines(entity)),
            details: line(entity::details(entity)),
            relations: line(entity::relations(entity)),
        });
        let label = |label: &str| tokens.count(label) + 2;
        let topic = of.topic.as_ref();
        let files = label(labels::passages(&of.passages));
        let passages = of.passages.iter();
        let passages = passages.map(|one| TextPiece::passage(one, tokens, max_tokens));
        let passages = Shared::of(passages, files, max_tokens);
        let sizes = Sizes {
            history: history.iter().map(|piece| piece.tokens).collect(),
            entities: entities.collect(),
            values: values.iter().map(|piece| piece.tokens).collect(),
            passages: passages.sizes(),
            topic: topic.map_or(0, |(_, topic)| label(&labels::topic(topic))),
            labels: [
                label(labels::HISTORY),
                label(labels::entities(false)),
                label(labels::values(of.purpose)),
                files,
            ],
            fixed: label(&labels::message(of))
                + tokens.count(&labels::instruction(of.purpose, true, true)),
        };
        Self {
            of,
            history,
            values,
            passages,
            sizes,
        }
    }

    fn is_over_share(&self, sections: &[Section]) -> bool {
        let mut sections = sections.iter();
        let files = sections.find(|section| section.name == SectionName::ContextFiles);
        files.is_some_and(|section| section.tokens > self.passages.most)
    }

    fn sections(&self, cut: &BudgetPlan, tokens: &Tokens) -> Vec<Section> {
        let mut sections = Vec::new();
        let mut add = |name, text: String, sources: Vec<Source>| {
            sections.push(Section {
                name,
                tokens: tokens.count(&format!("{text}{}", labels::BETWEEN)),
                text,
                sources,
            });
        };
        let of = self.of;
        if cut.history > 0 {
            let (text, sources) = self.history(cut, tokens);
            add(SectionName::History, text, sources);
        }
        if cut.entities > 0 {
            let (text, sources) = self.entities(cut);
            add(SectionName::Entities, text, sources);
        }
        if cut.values > 0 {
            let pieces = self.values.iter().take(cut.values);
            let lines = pieces.map(|piece| piece.within(tokens, cut.text_max).lines);
            let text = listed(labels::values(of.purpose), lines);
            let values = of.values.iter().take(cut.values);
            let sources = values.map(|value| value.source.clone());
            add(SectionName::Values, text, sources.collect());
        }
        if cut.passages > 0 {
            let shown = self.passages.render(cut.text_max, tokens);
            let lines = shown.take(cut.passages).map(|shown| shown.lines);
            let text = listed(labels::passages(&of.passages), lines);
            let passages = of.passages.iter().take(cut.passages);
            let sources = passages.map(|passage| passage.source.clone());
            add(SectionName::ContextFiles, text, sources.collect());
        }
        if let Some((source, topic)) = of.topic.as_ref().filter(|_| cut.has_topic) {
            let sources = vec![source.clone()];
            add(SectionName::Topic, labels::topic(topic), sources);
        }
        add(SectionName::Message, labels::message(of), Vec::new());
        let instruction = labels::instruction(of.purpose, !cut.is_bare(), cut.entities > 0);
        let tokens = tokens.count(&instruction);
        sections.push(Section {
            name: SectionName::Instruction,
            text: instruction,
            tokens,
            sources: Vec::new(),
        });
        sections
    }

    fn history(&self, cut: &BudgetPlan, tokens: &Tokens) -> (String, Vec<Source>) {
        let first = self.history.len() - cut.history;
        let pieces = self.history.iter().skip(first);
        let lines = pieces.map(|piece| piece.within(tokens, cut.text_max).lines);
        let reported = self.of.history.iter().skip(first);
        let sources = reported.map(|reported| reported.source.clone()).collect();
        (listed(labels::HISTORY, lines), sources)
    }

    fn entities(&self, cut: &BudgetPlan) -> (String, Vec<Source>) {
        let all = &self.of.entities;
        let label = labels::entities(all.iter().all(|entity| entity.is_netbox));
        let entities = all.iter().take(cut.entities);
        let sources = entities.clone().map(|entity| entity.source.clone());
        let lines = entities.enumerate();
        let lines = lines.map(|(at, entity)| described(entity, at, cut));
        (listed(label, lines), sources.collect())
    }

    fn left_out(&self, cut: &BudgetPlan, tokens: &Tokens) -> Vec<Omission> {
        let budget = WhyLeftOut::Budget;
        let text = |source: &Source, piece: &TextPiece, is_in: bool| {
            if !is_in {
                return Some(Omission::of(source, Part::Whole, budget));
            }
            let bytes = match piece.tokens > cut.text_max {
                true => piece.within(tokens, cut.text_max).left_out,
                false => 0,
            };
            (bytes > 0).then(|| Omission::of_text(source, bytes, budget))
        };
        let mut left_out = Vec::new();
        let first = self.history.len() - cut.history;
        let history = self.of.history.iter().zip(&self.history).enumerate();
        left_out.extend(
            history
                .filter_map(|(at, (reported, piece))| text(&reported.source, piece, at >= first)),
        );
        for (at, known) in self.of.entities.iter().enumerate() {
            let mut add = |part| left_out.push(Omission::of(&known.source, part, budget));
            if at >= cut.entities {
                add(Part::Whole);
                continue;
            }
            if at >= cut.details && entity::details(known).is_some() {
                add(Part::Details);
            }
            if at >= cut.relations && entity::relations(known).is_some() {
                add(Part::Relations);
            }
        }
        let values = self.of.values.iter().zip(&self.values).enumerate();
        left_out.extend(
            values.filter_map(|(at, (value, piece))| text(&value.source, piece, at < cut.values)),
        );
        if let Some((source, _)) = self.of.topic.as_ref().filter(|_| !cut.has_topic) {
            left_out.push(Omission::of(source, Part::Whole, budget));
        }
        left_out.extend(self.passages_left_out(cut, tokens));
        left_out
    }

    fn passages_left_out(&self, cut: &BudgetPlan, tokens: &Tokens) -> Vec<Omission> {
        let mut shown = self.passages.render(cut.text_max, tokens);
        let passages = self.of.passages.iter().enumerate();
        let left_out = passages.filter_map(|(at, passage)| {
            let bytes = shown.next().map_or(0, |shown| shown.left_out);
            let (is_over_share, is_over_budget) = (at >= self.passages.len(), at >= cut.passages);
            let why =
                match is_over_share || !is_over_budget && self.passages.is_cut(at, cut.text_max) {
                    true => WhyLeftOut::Share,
                    false => WhyLeftOut::Budget,
                };
            match (is_over_share || is_over_budget, bytes) {
                (true, _) => Some(Omission::of(&passage.source, Part::Whole, why)),
                (false, 0) => None,
                (false, bytes) => Some(Omission::of_text(&passage.source, bytes, why)),
            }
        });
        left_out.collect()
    }
}

/// Joins the label and the lines below it, without the last line end.
fn listed(label: &str, lines: impl Iterator<Item = String>) -> String {
    let mut text = format!("{label}\n");
    text.extend(lines);
    text.truncate(text.trim_end().len());
    text
}

fn described(known: &PackEntity, at: usize, cut: &BudgetPlan) -> String {
    let mut text = entity::lines(known);
    if at < cut.details {
        text.extend(entity::details(known));
    }
    if at < cut.relations {
        text.extend(entity::relations(known));
    }
    text
}
