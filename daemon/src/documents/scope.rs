//! What a source means: its settings, and what the project that it is in leaves out.

use std::path::Path;

use super::sources::{SourceError, SourceScope};
use crate::events::documents::SourceAdded;
use crate::operation::Context;
use crate::projects;

/// What these settings mean of the file system, now. Reads it: off the event loop.
///
/// # Errors
/// [`SourceError`] says why they are no source.
pub fn scope(cx: &Context, added: &SourceAdded) -> Result<SourceScope, SourceError> {
    let own = [cx.folder.data.clone()];
    let path = Path::new(&added.path);
    let reach = SourceScope::new(path, &added.include, &added.exclude, &own)?;
    let place = cx
        .extensions
        .get::<projects::ProjectState>()
        .and_then(|room| room.place_of(reach.base()));
    Ok(match place {
        Some(place) => reach.within(&place.root, &place.marker.exclude),
        None => reach,
    })
}
