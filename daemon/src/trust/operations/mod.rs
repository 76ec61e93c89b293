//! Whose words a text is, on the wire and in the rules.

use lore::protocol::search::Origin as WireOrigin;
use lored_suspicion::Origin;

/// Converts an origin to the protocol.
#[must_use]
pub const fn wire_origin(origin: Origin) -> WireOrigin {
    match origin {
        Origin::User => WireOrigin::User,
        Origin::Agent => WireOrigin::Agent,
        Origin::Tool => WireOrigin::Tool,
        Origin::Document => WireOrigin::Document,
    }
}

/// Converts an origin from the protocol.
#[must_use]
pub const fn origin_of(origin: WireOrigin) -> Origin {
    match origin {
        WireOrigin::User => Origin::User,
        WireOrigin::Agent => Origin::Agent,
        WireOrigin::Tool => Origin::Tool,
        WireOrigin::Document => Origin::Document,
    }
}
