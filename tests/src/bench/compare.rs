//! One table: measurements in interleaved rounds, each compared with the last of them.

use super::figures::{Figure, median, print_row, ratio_of_medians};
use super::setup::Setup;

/// A name and its measurement.
pub type Measure<'a> = (&'a str, Box<dyn Fn() -> Figure + 'a>);

/// Prints the p50 of each side and its ratio to the last one, which is the baseline.
/// Prints nothing if the table is not selected.
pub fn compare(setup: &Setup, title: &str, sides: &[Measure<'_>]) {
    if !setup.wants(title) {
        return;
    }
    let mut found: Vec<Vec<Figure>> = sides.iter().map(|_| Vec::new()).collect();
    for _ in 0..setup.rounds {
        for ((_, measure), figures) in sides.iter().zip(&mut found) {
            figures.push(measure());
        }
    }
    print_row(title, &["p50 us", "p99 us", "x p50"].map(str::to_owned));
    let baseline = found.last().cloned().unwrap_or_default();
    for ((name, _), figures) in sides.iter().zip(&found) {
        let columns = [
            format!("{:.1}", median(figures.iter().map(|figure| figure.p50))),
            format!("{:.1}", median(figures.iter().map(|figure| figure.p99))),
            format!(
                "{:.3}",
                ratio_of_medians(figures, &baseline, |figure| figure.p50)
            ),
        ];
        print_row(&format!("  {name}"), &columns);
    }
}
