//! Checkpoints: their events, and the objects that hold them.

use super::*;

/// Returns checkpoint events in every shape.
pub fn checkpoint_events() -> Vec<(&'static str, EncodedEvent)> {
    let (first, second) = (CheckpointKey::of([1; 16]), CheckpointKey::of([2; 16]));
    let mut keyframe = DeltaLink::to(Hash::of(b"keyframe"), 70_000, 20_000);
    keyframe.spent_bytes = 300;
    let whole = CheckpointSaved {
        checkpoint: first,
        hash: Hash::of(b"context").0.into(),
        stored_bytes: 20_350,
        new_bytes: 350,
        is_kept: true,
        critical: vec!["userGoal".to_owned()],
        parts: vec![
            ContextPart {
                key: Some("messages".to_owned()),
                chain: vec![DeltaLink::to(Hash::of(b"delta"), 70_500, 300), keyframe],
                since: 7,
            },
            ContextPart {
                key: None,
                chain: vec![DeltaLink::to(Hash::of(b"small"), 90, 50)],
                since: 0,
            },
        ],
        forked_from: Some(second),
    };
    let least = CheckpointSaved {
        checkpoint: second,
        hash: Hash::of(b"{}").0.into(),
        stored_bytes: 0,
        new_bytes: 0,
        is_kept: false,
        critical: Vec::new(),
        parts: Vec::new(),
        forked_from: None,
    };
    let deleted = |cause, objects: &[&[u8]], holders: &[(&str, u64)]| CheckpointsDeleted {
        gone: vec![DeletedCheckpoint {
            checkpoint: first,
            saved_at: 0,
            objects: objects.iter().map(|of| Hash::of(of).0.into()).collect(),
        }],
        cause,
        holders: holders
            .iter()
            .map(|(key, at)| ((*key).to_owned(), *at))
            .collect(),
    };
    let metadata = r#"{"name":"before the merge","tags":["web"],"ticket":17}"#;
    let mut events = Events::new(8, Some("s-1"), "p-1");
    for (name, saved, metadata) in [
        ("checkpoint_saved", whole, Some(metadata)),
        ("checkpoint_saved_least", least, None),
    ] {
        let metadata = metadata.map(str::to_owned);
        let body = CheckpointDescribed { metadata };
        events.add(name, EventKind::CheckpointSaved, &saved, &body);
    }
    let objects: &[&[u8]] = &[b"delta", b"small"];
    let holders = &[("userGoal", 9)];
    let mut with_position = deleted(DeletionCause::Asked, objects, holders);
    for gone in &mut with_position.gone {
        gone.saved_at = 7;
    }
    for (name, deleted) in [
        (
            "checkpoints_deleted",
            deleted(DeletionCause::Asked, objects, holders),
        ),
        (
            "checkpoints_deleted_for_count",
            deleted(DeletionCause::Count, &[], &[]),
        ),
        (
            "checkpoints_deleted_for_quota",
            deleted(DeletionCause::Quota, &[], &[]),
        ),
    ] {
        events.add_meta(name, EventKind::CheckpointsDeleted, &deleted);
    }
    for (name, is_unmarked) in [("key_marked", false), ("key_unmarked", true)] {
        let marked = KeyMarked {
            key: "userGoal".to_owned(),
            is_unmarked,
            held_by: None,
        };
        events.add_meta(name, EventKind::KeyMarked, &marked);
    }
    events.add_meta(
        "checkpoints_deleted_with_position",
        EventKind::CheckpointsDeleted,
        &with_position,
    );
    events.found
}

/// Returns objects in every form and place.
pub fn kept_objects() -> Vec<(Hash, Object)> {
    let blob = BlobRef::of(b"packed");
    let forms = [
        ObjectForm::Plain,
        ObjectForm::Whole,
        ObjectForm::Delta {
            base: Hash::of(b"keyframe"),
        },
    ];
    let places = [
        ObjectLocation::Inline(b"packed".to_vec()),
        ObjectLocation::Blob(blob),
    ];
    let of_form = |form: &ObjectForm| {
        places.clone().map(|place| Object {
            form: *form,
            bytes: 70_000,
            place,
        })
    };
    let objects = forms.iter().flat_map(of_form).enumerate();
    objects
        .map(|(number, object)| (Hash::of(&[number as u8]), object))
        .collect()
}
