//! Server-sent events for a view: each has the newest position of the log. The view then calls its operations again.

use std::convert::Infallible;
use std::time::Duration;

use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::StatusCode;
use hyper::body::{Bytes, Frame};
use lore::protocol::log::{FollowEventsArgs, FollowEventsReply};
use lore::protocol::{Args, Position};
use tokio_util::sync::CancellationToken;

use super::access::StreamGuard;
use super::answers::{self, Answer};
use super::http::Visit;

/// Time that one call waits for an event, in milliseconds. Then a comment shows that the stream is alive.
const WAIT_MS: u64 = 20_000;
/// Least time between two messages.
const PAUSE: Duration = Duration::from_millis(250);

struct Follower {
    visit: Visit,
    next: Position,
    stop: CancellationToken,
    _stream: StreamGuard,
}

/// Answers with a message for each change after a position: `{"position": N}`.
pub fn stream(visit: Visit, after: u64, guard: StreamGuard, stop: CancellationToken) -> Answer {
    let follower = Follower {
        visit,
        next: Position(after.saturating_add(1)),
        stop,
        _stream: guard,
    };
    let messages = stream::unfold(follower, |mut follower| async move {
        let message = follower.message().await?;
        Some((Ok::<_, Infallible>(Frame::data(message)), follower))
    });
    let body = StreamBody::new(messages).boxed_unsync();
    answers::body(StatusCode::OK, "text/event-stream", body)
}

impl Follower {
    /// Waits for the next message; `None` ends the stream.
    async fn message(&mut self) -> Option<Bytes> {
        let stop = self.stop.clone();
        tokio::select! {
            message = self.wait() => message,
            () = stop.cancelled() => None,
        }
    }

    async fn wait(&mut self) -> Option<Bytes> {
        let args = FollowEventsArgs {
            from: Some(self.next),
            limit: Some(1),
            wait_ms: Some(WAIT_MS),
            ..FollowEventsArgs::default()
        };
        let args = Args::Json(serde_json::to_vec(&args).ok()?);
        let reply = self.visit.call("follow_events", args).await.ok()?;
        let reply: FollowEventsReply = serde_json::from_str(reply.json.get()).ok()?;
        if reply.events.is_empty() {
            return Some(Bytes::from_static(b": alive\n\n"));
        }
        self.next = Position(reply.position.0 + 1);
        // A busy log sends few messages, and each is the newest.
        tokio::time::sleep(PAUSE).await;
        Some(format!("data: {{\"position\":{}}}\n\n", reply.position.0).into())
    }
}
