//! Judging cases with their figures, and properties.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod compactions;
mod contradictions;
mod failures;
mod properties;
mod quotations;
mod selection;
mod sentences;
mod texts;
mod versions;

/// The lines of a fixture that are no comments.
fn lines(fixture: &'static str) -> impl Iterator<Item = &'static str> {
    fixture
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// Hits among cases, with those that are wrong.
#[derive(Default)]
struct Score {
    hits: usize,
    all: usize,
    wrong: Vec<String>,
}

impl Score {
    fn add(&mut self, is_hit: bool, case: impl FnOnce() -> String) {
        self.all += 1;
        self.hits += usize::from(is_hit);
        if !is_hit {
            self.wrong.push(case());
        }
    }

    fn share(&self) -> f64 {
        self.hits as f64 / self.all.max(1) as f64
    }

    /// Prints the figure, and asserts that it is at least as good as it was.
    fn report(&self, name: &str, floor: f64) {
        println!(
            "{name}: {} of {} ({:.2})",
            self.hits,
            self.all,
            self.share()
        );
        for case in &self.wrong {
            println!("    {case}");
        }
        assert!(
            self.share() >= floor,
            "{name}: {:.2}, was at least {floor}",
            self.share()
        );
    }
}
