//! `lore session metrics`: how the size of a session went.

use lore::protocol::sessions::{MetricsArgs, MetricsReply};

use crate::cli::exchange::{Told, ask, moment};
use crate::cli::given::Which;
use crate::cli::output::{shown, table};
use crate::cli::{Caller, End, Failure};

/// Show how the size of a session went
#[derive(Debug, clap::Args)]
pub struct Metrics {
    #[command(flatten)]
    which: Which,
    /// Of the last so many milliseconds; otherwise of an hour, or as the daemon is set
    #[arg(long, value_name = "COUNT")]
    since_ms: Option<u64>,
    /// At most so many points, the newest, 1 to 10000
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    /// As things stood at this position or RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    as_of: Option<String>,
}

impl Metrics {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = MetricsArgs {
            session: self.which.session()?,
            since_ms: self.since_ms,
            limit: self.limit,
            as_of: moment(self.as_of.as_deref())?,
            at_least: None,
            agent: None,
        };
        ask(caller, "metrics", &args, |reply| Told::good(human(reply)))
    }
}

fn human(reply: &MetricsReply) -> String {
    let sizes = |sizes: [u64; 3]| sizes.map(|size| size.to_string());
    let row = |at: String, position: String, [context, entities, tokens]: [String; 3]| {
        [at, position, context, entities, tokens]
    };
    let mut rows: Vec<_> = reply
        .points
        .iter()
        .map(|point| {
            let all = [point.context_size, point.entity_count, point.token_usage];
            row(shown(&point.at, 30), point.position.to_string(), sizes(all))
        })
        .collect();
    let now = [reply.context_size, reply.entity_count, reply.token_usage];
    rows.push(row(
        "now".to_owned(),
        reply.position.to_string(),
        sizes(now),
    ));
    let heading = ["at", "position", "working set", "entities", "tokens"];
    table(heading, &rows)
}
