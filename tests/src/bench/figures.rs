//! Figures: what a measurement gave, medians and ratios.

use std::time::Duration;

/// What one measurement gave.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// Operations a second, of all clients together.
    pub per_second: f64,
    /// Half of the answers came within, in microseconds.
    pub p50: f64,
    /// 99 of 100 answers came within, in microseconds.
    pub p99: f64,
    /// Processor time of the server for one operation, in microseconds; 0 where none was looked at.
    pub cpu: f64,
}

impl Figure {
    /// With the processor time of the server, in seconds, over the whole of a measurement.
    #[must_use]
    pub fn with_cpu(mut self, seconds: f64, wall: Duration) -> Self {
        self.cpu = seconds * 1e6 / (self.per_second * wall.as_secs_f64());
        self
    }

    /// Of one client that waits for each answer, in microseconds.
    #[must_use]
    pub fn of_quantiles(p50: f64, p99: f64) -> Self {
        Self {
            per_second: 1e6 / p50,
            p50,
            p99,
            cpu: 0.0,
        }
    }

    /// From the latency of each round trip, `per_trip` operations each, over `wall` time.
    #[must_use]
    pub fn of(mut trips: Vec<Duration>, per_trip: usize, wall: Duration) -> Self {
        assert!(!trips.is_empty(), "nothing was answered in {wall:?}");
        trips.sort_unstable();
        let at = |share: f64| {
            let index = (trips.len() as f64 * share) as usize;
            let trip = trips.get(index.min(trips.len() - 1));
            trip.map_or(0.0, |trip| trip.as_secs_f64() * 1e6)
        };
        Self {
            per_second: (trips.len() * per_trip) as f64 / wall.as_secs_f64(),
            p50: at(0.5),
            p99: at(0.99),
            cpu: 0.0,
        }
    }
}

/// The middle value; of an even number, the upper one of the two.
#[must_use]
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The median over the rounds of what one side is of the other.
#[must_use]
pub fn ratio_of_medians(ours: &[Figure], theirs: &[Figure], of: fn(&Figure) -> f64) -> f64 {
    median(
        ours.iter()
            .zip(theirs)
            .map(|(ours, theirs)| of(ours) / of(theirs)),
    )
}

/// Prints a line of a table: a name, and columns of 10.
pub fn print_row(name: &str, columns: &[String]) {
    print!("{name:40}");
    for column in columns {
        print!(" {column:>10}");
    }
    println!();
}
