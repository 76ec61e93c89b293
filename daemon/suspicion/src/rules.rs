//! The rules of `tables/rules.txt`: words in an order and at a distance, with what they mean together.

use std::sync::LazyLock;

use crate::Kind;
use crate::lexicon::{Class, Classes, LEXICON, lines};

const RULES: &str = include_str!("tables/rules.txt");

/// A step of a rule: the classes that fit, and the maximum distance from the step before.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub classes: Classes,
    pub gap: usize,
}

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// What it means. `None`: the text addresses a model, which alone is harmless.
    pub kind: Option<Kind>,
    pub weight: u8,
    pub begins_line: bool,
    pub in_sentence: bool,
    /// Only within markup that people do not see.
    pub is_hidden: bool,
    pub steps: Vec<Step>,
}

/// The rules, by the classes of their last steps.
pub struct Rules {
    rules: Vec<Rule>,
    by_last: Vec<Vec<usize>>,
}

pub static ALL: LazyLock<Rules> = LazyLock::new(Rules::new);

impl Rules {
    fn new() -> Self {
        let rules: Vec<Rule> = lines(RULES).filter_map(rule).collect();
        let mut by_last = vec![Vec::new(); Classes::BITS as usize];
        for (at, rule) in rules.iter().enumerate() {
            let last = rule.steps.last().map_or(0, |step| step.classes);
            for (class, list) in by_last.iter_mut().enumerate() {
                if last >> class & 1 == 1 {
                    list.push(at);
                }
            }
        }
        Self { rules, by_last }
    }

    /// Returns the rules that end with a class.
    pub fn ending_with(&self, class: Class) -> impl Iterator<Item = &Rule> {
        let list = self.by_last.get(usize::from(class));
        list.into_iter()
            .flatten()
            .filter_map(|at| self.rules.get(*at))
    }

    /// Returns the number of rules.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.rules.len()
    }
}

/// Returns the number of lines of the table.
#[cfg(test)]
pub fn lines_of_table() -> usize {
    lines(RULES).count()
}

fn rule(line: &str) -> Option<Rule> {
    let (head, steps) = line.split_once(": ")?;
    let mut head = head.split(' ');
    let kind = head.next()?;
    let weight = head.next()?.parse().ok()?;
    let flags: Vec<&str> = head.collect();
    let mut gap = 0;
    let mut parsed = Vec::new();
    for word in steps.split(' ') {
        match word.parse::<usize>() {
            Ok(number) => gap = number,
            Err(_) => {
                let mut classes = 0;
                for name in word.split('|') {
                    classes |= 1 << LEXICON.class(name)?;
                }
                parsed.push(Step { classes, gap });
            }
        }
    }
    Some(Rule {
        kind: match kind {
            "address" => None,
            name => Some(Kind::of_name(name)?),
        },
        weight,
        begins_line: flags.contains(&"line"),
        in_sentence: flags.contains(&"sentence"),
        is_hidden: flags.contains(&"hidden"),
        steps: parsed,
    })
}
