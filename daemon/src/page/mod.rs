//! Links to the page that people look at in a browser: `open_page` asks the transport that serves it for one.

pub mod operations;

use lore::protocol::ErrorBody;
use tokio::sync::{mpsc, oneshot};

/// Asks the server of the page for links. One is among the extensions of each context.
#[derive(Clone)]
pub struct PageRequests(pub mpsc::Sender<LinkRequest>);

/// A request for a link.
pub struct LinkRequest {
    /// The user whose memory the link shows.
    pub uid: u32,
    /// Where the link goes.
    pub reply: oneshot::Sender<Result<String, ErrorBody>>,
}
