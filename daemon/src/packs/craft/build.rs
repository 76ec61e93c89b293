//! Builds a context pack: the sections in their order, within the budget to the token.
//!
//! Every section but the last ends with a blank line, and no section begins with a line end or a slash.
//! o200k never joins what is on both sides of such a seam, so the tokens of the sections add up to those
//! of the prompt (a test counts both).

use super::entity;
use super::fit::{Cut, EntitySize, Sizes};
use super::ingredients::{Ingredients, Known, Source};
use super::labels;
use super::told::Piece;
use crate::tokens::Tokens;

/// A context pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The prompt: the sections' texts joined by [`labels::BETWEEN`].
    pub prompt: String,
    /// Tokens of the prompt.
    pub tokens: usize,
    /// The sections that are in it, in order.
    pub sections: Vec<Section>,
    /// What is not in it, though it belongs there.
    pub left_out: Vec<LeftOut>,
}

/// One section of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Which.
    pub name: SectionName,
    /// Its text.
    pub text: String,
    /// Its tokens, with the blank line behind it; they add up to those of the prompt.
    pub tokens: usize,
    /// Where its pieces come from, in order.
    pub sources: Vec<Source>,
}

/// The sections, in the order of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SectionName {
    /// What was said before.
    History,
    /// What it was about.
    Entities,
    /// Values that are referred to by name.
    Values,
    /// The session's topic.
    Topic,
    /// The message, or the task.
    Message,
    /// What to do with the rest.
    Instruction,
}

impl SectionName {
    /// Its name in events.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Entities => "entities",
            Self::Values => "values",
            Self::Topic => "topic",
            Self::Message => "message",
            Self::Instruction => "instruction",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        let all = [
            Self::History,
            Self::Entities,
            Self::Values,
            Self::Topic,
            Self::Message,
            Self::Instruction,
        ];
        all.into_iter().find(|name| name.word() == word)
    }
}

/// Something that is not in the pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Where it comes from.
    pub source: Source,
    /// Which part of it: all, or what is named.
    pub part: Part,
    /// Why.
    pub why: Why,
}

/// How much of a piece was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// So many bytes of its text.
    Bytes(u64),
    /// The line of an entity's data.
    Details,
    /// The line of an entity's relations.
    Relations,
}

/// Why something is not in the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The budget is too small for it.
    Budget,
    /// It is there in other words: the message itself, or what it repeats.
    Duplicate,
    /// The session was pruned.
    Pruned,
    /// It repeats what an earlier pack said.
    Quoted,
}

/// The budget is too small for the message and the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall {
    /// The least budget that would do.
    pub least: usize,
}

/// Builds the pack that `max_tokens` allow: what goes first when not all fits, see [`super::fit`].
///
/// # Errors
/// [`TooSmall`] when not even message and instruction fit.
pub fn build(of: &Ingredients, max_tokens: usize, tokens: &Tokens) -> Result<Built, TooSmall> {
    let parts = Parts::of(of, max_tokens, tokens);
    let mut cut = Cut::nothing(&parts.sizes);
    let mut target = max_tokens;
    loop {
        cut.fit(&parts.sizes, target);
        let sections = parts.sections(&cut, tokens);
        let total = sections.iter().map(|section| section.tokens).sum();
        if total <= max_tokens {
            let texts: Vec<&str> = sections
                .iter()
                .map(|section| section.text.as_str())
                .collect();
            return Ok(Built {
                prompt: texts.join(labels::BETWEEN),
                tokens: total,
                left_out: parts.left_out(&cut, tokens),
                sections,
            });
        }
        if cut.is_bare() {
            return Err(TooSmall { least: total });
        }
        // Sizes are those of pieces by themselves: a frame can cost more than a cut leaves to it.
        target = target.saturating_sub((total - max_tokens).max(1));
    }
}

/// The ingredients as they would be shown, with their sizes.
struct Parts<'i> {
    of: &'i Ingredients,
    history: Vec<Piece>,
    values: Vec<Piece>,
    sizes: Sizes,
}

impl<'i> Parts<'i> {
    fn of(of: &'i Ingredients, max_tokens: usize, tokens: &Tokens) -> Self {
        let told = of.history.iter();
        let history: Vec<_> = told
            .map(|told| Piece::told(told, tokens, max_tokens))
            .collect();
        let values = of.values.iter();
        let values: Vec<_> = values
            .map(|value| Piece::value(value, tokens, max_tokens))
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
            topic: topic.map_or(0, |(_, topic)| label(&labels::topic(topic))),
            labels: [
                label(labels::HISTORY),
                label(labels::entities(false)),
                label(labels::values(of.purpose)),
            ],
            fixed: label(&labels::message(of))
                + tokens.count(&labels::instruction(of.purpose, true, true)),
        };
        Self {
            of,
            history,
            values,
            sizes,
        }
    }

    fn sections(&self, cut: &Cut, tokens: &Tokens) -> Vec<Section> {
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
            let first = self.history.len() - cut.history;
            let pieces = self.history.iter().skip(first);
            let lines = pieces.map(|piece| piece.within(tokens, cut.text_max).lines);
            let sources = of
                .history
                .iter()
                .skip(first)
                .map(|told| told.source.clone());
            add(
                SectionName::History,
                listed(labels::HISTORY, lines),
                sources.collect(),
            );
        }
        if cut.entities > 0 {
            let label = labels::entities(of.entities.iter().all(|entity| entity.is_netbox));
            let entities = of.entities.iter().take(cut.entities);
            let lines = entities.clone().enumerate();
            let lines = lines.map(|(at, entity)| described(entity, at, cut));
            let sources = entities.clone().map(|entity| entity.source.clone());
            add(
                SectionName::Entities,
                listed(label, lines),
                sources.collect(),
            );
        }
        if cut.values > 0 {
            let pieces = self.values.iter().take(cut.values);
            let lines = pieces.map(|piece| piece.within(tokens, cut.text_max).lines);
            let values = of.values.iter().take(cut.values);
            add(
                SectionName::Values,
                listed(labels::values(of.purpose), lines),
                values.map(|value| value.source.clone()).collect(),
            );
        }
        if let Some((source, topic)) = of.topic.as_ref().filter(|_| cut.has_topic) {
            add(
                SectionName::Topic,
                labels::topic(topic),
                vec![source.clone()],
            );
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

    fn left_out(&self, cut: &Cut, tokens: &Tokens) -> Vec<LeftOut> {
        let mut left_out = Vec::new();
        let mut add = |source: &Source, part| {
            left_out.push(LeftOut {
                source: source.clone(),
                part,
                why: Why::Budget,
            });
        };
        let first = self.history.len() - cut.history;
        for (at, (told, piece)) in self.of.history.iter().zip(&self.history).enumerate() {
            add_text(&mut add, &told.source, piece, at >= first, cut, tokens);
        }
        for (at, known) in self.of.entities.iter().enumerate() {
            if at >= cut.entities {
                add(&known.source, Part::Whole);
                continue;
            }
            if at >= cut.details && entity::details(known).is_some() {
                add(&known.source, Part::Details);
            }
            if at >= cut.relations && entity::relations(known).is_some() {
                add(&known.source, Part::Relations);
            }
        }
        for (at, (value, piece)) in self.of.values.iter().zip(&self.values).enumerate() {
            add_text(&mut add, &value.source, piece, at < cut.values, cut, tokens);
        }
        if let Some((source, _)) = self.of.topic.as_ref().filter(|_| !cut.has_topic) {
            add(source, Part::Whole);
        }
        left_out
    }
}

fn add_text(
    add: &mut impl FnMut(&Source, Part),
    source: &Source,
    piece: &Piece,
    is_in: bool,
    cut: &Cut,
    tokens: &Tokens,
) {
    if !is_in {
        add(source, Part::Whole);
    } else if piece.tokens > cut.text_max {
        match piece.within(tokens, cut.text_max).left_out {
            0 => {}
            bytes => add(source, Part::Bytes(bytes)),
        }
    }
}

/// The label, and the lines below it without the last line's end.
fn listed(label: &str, lines: impl Iterator<Item = String>) -> String {
    let mut text = format!("{label}\n");
    text.extend(lines);
    text.truncate(text.trim_end().len());
    text
}

fn described(known: &Known, at: usize, cut: &Cut) -> String {
    let mut text = entity::lines(known);
    if at < cut.details {
        text.extend(entity::details(known));
    }
    if at < cut.relations {
        text.extend(entity::relations(known));
    }
    text
}
