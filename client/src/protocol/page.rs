//! Wire types of the page that people look at with a browser.

use lore_wire::wire;

/// Arguments of `open_page`.
#[wire(args(agent))]
#[derive(Default)]
pub struct OpenPageArgs {}

/// Reply of `open_page`.
#[wire(reply(warnings))]
pub struct OpenPageReply {
    /// The address. Its fragment is a secret that works once, within five minutes.
    pub url: String,
}
