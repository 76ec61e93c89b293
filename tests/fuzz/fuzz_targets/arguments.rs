//! Arguments of calls: any JSON is parsed, or refused with a short message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lore::protocol::{Args, Code};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads arguments as text and as a parsed value; both succeed or both refuse.
fn read<T: DeserializeOwned>(bytes: &[u8], value: Option<&Value>) {
    let read = Args::Json(bytes.to_vec()).read::<T>().map(drop);
    if let Err(refusal) = &read {
        assert!(refusal.message.len() < 4096, "{}", refusal.message);
        assert_ne!(refusal.code, Code::Internal);
    }
    if let Some(value) = value {
        let _ = Args::Value(value.clone()).read::<T>();
    }
}

fuzz_target!(|bytes: &[u8]| {
    let value = serde_json::from_slice::<Value>(bytes).ok();
    let value = value.as_ref();
    read::<lore::protocol::checkpoints::SaveArgs>(bytes, value);
    read::<lore::protocol::checkpoints::LoadArgs>(bytes, value);
    read::<lore::protocol::documents::AddSourceArgs>(bytes, value);
    read::<lore::protocol::entities::RelateEntitiesArgs>(bytes, value);
    read::<lore::protocol::log::ForgetArgs>(bytes, value);
    read::<lore::protocol::messages::RecordToolArgs>(bytes, value);
    read::<lore::protocol::packs::ContextPackArgs>(bytes, value);
    read::<lore::protocol::projects::UpdateContextArgs>(bytes, value);
    read::<lore::protocol::search::SearchArgs>(bytes, value);
    read::<lore::protocol::search::SearchDocumentsArgs>(bytes, value);
    read::<lore::protocol::sessions::ListSessionsArgs>(bytes, value);
    read::<lore::protocol::steps::RecordStepArgs>(bytes, value);
    read::<lore::protocol::steps::ResolveParametersArgs>(bytes, value);
});
