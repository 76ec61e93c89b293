//! Builds a context pack: the sections in order, within the exact token budget.
//!
//! Every section but the last ends with a blank line, and no section begins with a line end or a slash.
//! o200k never joins text across this seam. So the tokens of the sections add up to those of the prompt (a test
//! counts both).

use std::ops::Range;

use lore::protocol::names::{Part, SectionName, WhyLeftOut};

use super::entity;
use super::fit::{BudgetPlan, EntitySize, PASSAGES_SHARE, Sizes, TEXT_TOKENS};
use super::inputs::{PackEntity, PackInputs, PackMessage, Source};
use super::labels;
use super::pack::{BudgetTooSmall, BuiltPack, Omission, Section};
use super::pieces::TextPiece;
use crate::tokens::Tokens;

/// Builds a pack within `max_tokens`. [`super::fit`] defines what is left out.
///
/// # Errors
/// [`BudgetTooSmall`] when not even the message and the instruction fit.
pub fn build(
    of: &PackInputs,
    max_tokens: usize,
    tokens: &Tokens,
) -> Result<BuiltPack, BudgetTooSmall> {
    let parts = Parts::of(of, max_tokens, tokens);
    let mut target = max_tokens;
    loop {
        let plan = BudgetPlan::of(&parts.sizes, target);
        let sections = parts.sections(&plan, tokens);
        let total: usize = sections.iter().map(|section| section.tokens).sum();
        let surplus = total
            .saturating_sub(max_tokens)
            .max(parts.over_share(&sections, max_tokens));
        if surplus == 0 {
            let texts: Vec<&str> = sections.iter().map(|one| one.text.as_str()).collect();
            return Ok(BuiltPack {
                prompt: texts.join(labels::BETWEEN),
                tokens: total,
                left_out: parts.left_out(&plan, tokens),
                sections,
            });
        }
        if plan.is_bare() {
            return Err(BudgetTooSmall { least: total });
        }
        // Sizes are those of separate pieces: a frame can cost more than a cut leaves for it.
        target = target.saturating_sub(surplus);
    }
}

/// The formatted ingredients with their sizes.
struct Parts<'i> {
    of: &'i PackInputs,
    /// The beginning of the history that can fill the budget.
    history: Vec<TextPiece>,
    values: Vec<TextPiece>,
    passages: Vec<TextPiece>,
    sizes: Sizes,
}

impl<'i> Parts<'i> {
    fn of(of: &'i PackInputs, max_tokens: usize, tokens: &Tokens) -> Self {
        let several = of.has_several_authors();
        // Pieces get a beginning of the list: those after what fills the whole budget are neither framed nor counted.
        let mut filled = 0;
        let history = of.history.iter().map_while(|one| {
            let is_full = filled > max_tokens;
            (!is_full).then(|| {
                let piece = TextPiece::message(one, several, tokens, max_tokens);
                filled += piece.tokens.min(TEXT_TOKENS);
                piece
            })
        });
        let history: Vec<TextPiece> = history.collect();
        let values = of.values.iter();
        let values: Vec<_> = values
            .map(|value| TextPiece::value(value, tokens, max_tokens))
            .collect();
        let passages = of.passages.iter();
        let passages: Vec<_> = passages
            .map(|one| TextPiece::passage(one, tokens, max_tokens))
            .collect();
        let line = |line: Option<String>| line.map_or(0, |line| tokens.count(&line));
        let entities = of.entities.iter().map(|entity| EntitySize {
            lines: tokens.count(&entity::lines(entity)),
            details: line(entity::details(entity)),
            relations: line(entity::relations(entity)),
        });
        let label = |label: &str| tokens.count(label) + 2;
        let topic = of.topic.as_ref();
        let sizes = Sizes {
            history: history.iter().map(|piece| piece.tokens).collect(),
            entities: entities.collect(),
            values: values.iter().map(|piece| piece.tokens).collect(),
            passages: passages.iter().map(|piece| piece.tokens).collect(),
            topic: topic.map_or(0, |(_, topic)| label(&labels::topic(topic))),
            labels: [
                label(labels::HISTORY),
                label(labels::entities(false)),
                label(labels::values(of.purpose)),
                label(labels::passages(&of.passages)),
            ],
            fixed: label(&labels::message(of)) + tokens.count(&labels::instruction(of, true, true)),
        };
        Self {
            of,
            history,
            values,
            passages,
            sizes,
        }
    }

    /// Returns the tokens by which the passages exceed their share of the budget.
    fn over_share(&self, sections: &[Section], max_tokens: usize) -> usize {
        let mut sections = sections.iter();
        let files = sections.find(|section| section.name == SectionName::ContextFiles);
        files.map_or(0, |section| {
            section.tokens.saturating_sub(max_tokens / PASSAGES_SHARE)
        })
    }

    fn sections(&self, plan: &BudgetPlan, tokens: &Tokens) -> Vec<Section> {
        let mut sections = Vec::new();
        let mut add = |name, (text, ranges): ListedText, sources: Vec<Source>| {
            sections.push(Section {
                name,
                tokens: tokens.count(&format!("{text}{}", labels::BETWEEN)),
                text,
                sources,
                ranges,
            });
        };
        let of = self.of;
        let rendered = |pieces: &[TextPiece], given: &[usize]| -> Vec<String> {
            let pieces = pieces.iter().zip(given);
            let lines = pieces.map(|(piece, given)| piece.within(tokens, *given).lines);
            lines.collect()
        };
        if !plan.history.is_empty() {
            let lines = rendered(&self.history, &plan.history);
            let mut shown: Vec<(&PackMessage, String)> = of.history.iter().zip(lines).collect();
            // The sort is stable: results of one event keep their order.
            shown.sort_by_key(|(one, _)| (one.source.position, one.place));
            let sources = shown.iter().map(|(one, _)| one.source.clone()).collect();
            let lines = shown.into_iter().map(|(_, lines)| lines);
            add(
                SectionName::History,
                listed(labels::HISTORY, lines),
                sources,
            );
        }
        if plan.entities > 0 {
            let (text, sources) = self.entities(plan);
            add(SectionName::Entities, text, sources);
        }
        if !plan.values.is_empty() {
            let lines = rendered(&self.values, &plan.values).into_iter();
            let text = listed(labels::values(of.purpose), lines);
            let values = of.values.iter().take(plan.values.len());
            let sources = values.map(|value| value.source.clone());
            add(SectionName::Values, text, sources.collect());
        }
        if !plan.passages.is_empty() {
            let lines = rendered(&self.passages, &plan.passages).into_iter();
            let text = listed(labels::passages(&of.passages), lines);
            let passages = of.passages.iter().take(plan.passages.len());
            let sources = passages.map(|passage| passage.source.clone());
            add(SectionName::ContextFiles, text, sources.collect());
        }
        if let Some((source, topic)) = of.topic.as_ref().filter(|_| plan.has_topic) {
            let sources = vec![source.clone()];
            let topic = labels::topic(topic);
            let whole = 0..topic.len();
            add(SectionName::Topic, (topic, vec![whole]), sources);
        }
        let message = (labels::message(of), Vec::new());
        add(SectionName::Message, message, Vec::new());
        let instruction = labels::instruction(of, !plan.is_bare(), plan.entities > 0);
        let tokens = tokens.count(&instruction);
        sections.push(Section {
            name: SectionName::Instruction,
            text: instruction,
            tokens,
            sources: Vec::new(),
            ranges: Vec::new(),
        });
        sections
    }

    fn entities(&self, plan: &BudgetPlan) -> (ListedText, Vec<Source>) {
        let all = &self.of.entities;
        let label = labels::entities(all.iter().all(|entity| entity.is_netbox));
        let entities = all.iter().take(plan.entities);
        let sources = entities.clone().map(|entity| entity.source.clone());
        let lines = entities.enumerate();
        let lines = lines.map(|(at, entity)| described(entity, at, plan));
        (listed(label, lines), sources.collect())
    }

    fn left_out(&self, plan: &BudgetPlan, tokens: &Tokens) -> Vec<Omission> {
        let (budget, share) = (WhyLeftOut::Budget, WhyLeftOut::Share);
        let of = self.of;
        let sources = of.history.iter().map(|one| &one.source);
        let mut left_out = omitted(sources, &self.history, &plan.history, budget, tokens);
        for (at, known) in of.entities.iter().enumerate() {
            let mut add = |part| left_out.push(Omission::of(&known.source, part, budget));
            if at >= plan.entities {
                add(Part::Whole);
                continue;
            }
            if at >= plan.details && entity::details(known).is_some() {
                add(Part::Details);
            }
            if at >= plan.relations && entity::relations(known).is_some() {
                add(Part::Relations);
            }
        }
        let sources = of.values.iter().map(|one| &one.source);
        left_out.extend(omitted(sources, &self.values, &plan.values, budget, tokens));
        if let Some((source, _)) = of.topic.as_ref().filter(|_| !plan.has_topic) {
            left_out.push(Omission::of(source, Part::Whole, budget));
        }
        let sources = of.passages.iter().map(|one| &one.source);
        left_out.extend(omitted(
            sources,
            &self.passages,
            &plan.passages,
            share,
            tokens,
        ));
        left_out
    }
}

/// Lists the texts that are not included, and the ones that are cut.
fn omitted<'s>(
    sources: impl Iterator<Item = &'s Source>,
    pieces: &[TextPiece],
    given: &[usize],
    why: WhyLeftOut,
    tokens: &Tokens,
) -> Vec<Omission> {
    let omitted = sources.enumerate().filter_map(|(at, source)| {
        let (Some(piece), Some(given)) = (pieces.get(at), given.get(at)) else {
            return Some(Omission::of(source, Part::Whole, why));
        };
        let bytes = match piece.tokens > *given {
            true => piece.within(tokens, *given).left_out,
            false => 0,
        };
        (bytes > 0).then(|| Omission::of_text(source, bytes, why))
    });
    omitted.collect()
}

/// A text with the ranges of its pieces, in bytes.
type ListedText = (String, Vec<Range<usize>>);

/// Joins the label and the pieces below it, without the last line end. The ranges are without the line ends of the pieces.
fn listed(label: &str, pieces: impl Iterator<Item = String>) -> ListedText {
    let mut text = format!("{label}\n");
    let mut ranges = Vec::new();
    for lines in pieces {
        let start = text.len();
        text.push_str(&lines);
        ranges.push(start..start + lines.trim_end().len());
    }
    text.truncate(text.trim_end().len());
    (text, ranges)
}

fn described(known: &PackEntity, at: usize, plan: &BudgetPlan) -> String {
    let mut text = entity::lines(known);
    if at < plan.details {
        text.extend(entity::details(known));
    }
    if at < plan.relations {
        text.extend(entity::relations(known));
    }
    text
}
