//! What a source means: its settings, and what the project that it is in leaves out.

use std::path::Path;

use super::sources::{Reach, Unusable};
use crate::events::documents::SourceAdded;
use crate::operation::Context;
use crate::projects;

/// What these settings mean of the file system, now. Reads it: off the event loop.
///
/// # Errors
/// [`Unusable`] says why they are no source.
pub fn meant(cx: &Context, added: &SourceAdded) -> Result<Reach, Unusable> {
    let own = [cx.folder.data.clone()];
    let path = Path::new(&added.path);
    let reach = Reach::new(path, &added.include, &added.exclude, &own)?;
    let place = cx
        .extensions
        .get::<projects::Room>()
        .and_then(|room| room.place_of(reach.base()));
    Ok(match place {
        Some(place) => reach.within(&place.root, &place.marker.exclude),
        None => reach,
    })
}
