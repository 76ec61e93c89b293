//! Results of measurements: medians and ratios.

use std::time::Duration;

/// Result of one measurement.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// Operations per second, of all clients together.
    pub per_second: f64,
    /// Median latency in microseconds.
    pub p50: f64,
    /// 99th percentile of the latency in microseconds.
    pub p99: f64,
    /// Server processor time per operation in microseconds; 0 if not measured.
    pub cpu: f64,
}

impl Figure {
    /// Adds the server's processor time of the whole measurement, in seconds.
    pub fn with_cpu(mut self, seconds: f64, wall: Duration) -> Self {
        self.cpu = seconds * 1e6 / (self.per_second * wall.as_secs_f64());
        self
    }

    /// Computes the figure of a sequential client from latencies in microseconds.
    pub fn of_quantiles(p50: f64, p99: f64) -> Self {
        Self {
            per_second: 1e6 / p50,
            p50,
            p99,
            cpu: 0.0,
        }
    }

    /// Computes the figure from round-trip latencies, `per_trip` operations each, over `wall` time.
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

/// Returns the median; of an even number of values, the upper middle one.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the median over the rounds of the ratio between two sides.
pub fn ratio_of_medians(ours: &[Figure], theirs: &[Figure], of: fn(&Figure) -> f64) -> f64 {
    median(
        ours.iter()
            .zip(theirs)
            .map(|(ours, theirs)| of(ours) / of(theirs)),
    )
}

/// Prints a table row: a name, and columns of width 10.
pub fn print_row(name: &str, columns: &[String]) {
    print!("{name:40}");
    for column in columns {
        print!(" {column:>10}");
    }
    println!();
}
