//! What was forgotten stays forgotten when the event that forgot it is damaged before the content is erased.

use super::*;

/// Returns the positions of the events of the forgotten session that still show something.
fn visible(opened: &OpenedStore) -> Vec<u64> {
    let mut visible = Vec::new();
    let log = Log::new(&opened.store);
    let walked = log.walk_whole(Position(1), &mut |event, _| {
        let is_its = event.header.session.as_deref() == Some(SECRET);
        let is_tombstone = event.header.kind.forgets();
        let says = (event.payload.is_some() || event.key.is_some())
            && !Projections.is_forgotten(&opened.store, &event.header)?;
        visible.extend((is_its && says && !is_tombstone).then_some(event.position().0));
        Ok(ControlFlow::Continue(()))
    });
    walked.unwrap();
    visible
}

/// The position of the event that forgot the session.
fn tombstone(events: &[LoggedEvent]) -> usize {
    let at = events.iter().position(|event| event.header.kind.forgets());
    at.unwrap()
}

/// What damages the event.
type Damage = (&'static str, fn(&mut Vec<LoggedEvent>, usize));

/// The event that forgot a session is damaged, gone, or in a gap with others, and its content is still stored: it is put
/// back from its copy outside of the data folder, so nothing that was forgotten is shown.
#[tokio::test]
async fn a_damaged_forgetting_event_still_forgets() {
    let original = Original::new().await;
    let whole = opened(&original.again()).unwrap();
    assert_eq!(visible(&whole), [0; 0]);
    drop(whole);
    let damages: [Damage; 5] = [
        ("another body", |events, at| {
            flip(&mut events[at].payload.as_mut().unwrap().body)
        }),
        ("another code", |events, at| {
            flip(events[at].seal.as_mut().unwrap())
        }),
        ("no payload", |events, at| events[at].payload = None),
        ("it is gone", |events, at| drop(events.remove(at))),
        ("a gap", |events, at| drop(events.drain(at - 1..=at))),
    ];
    for (name, damage) in damages {
        let folder = original.again();
        edit_events(&folder, |events| {
            let at = tombstone(events);
            damage(events, at);
        });
        let opened = opened(&folder).unwrap();
        let mut events = 0;
        let log = Log::new(&opened.store);
        let walked = log.walk_whole(Position(1), &mut |event, _| {
            events += u64::from(event.header.kind.forgets());
            Ok(ControlFlow::Continue(()))
        });
        walked.unwrap();
        assert_eq!(events, 1, "{name}: it is back");
        assert_eq!(visible(&opened), [0; 0], "{name}");
    }
}

/// Without its copy the event is lost, and then the content would come back: the case that the copies are for.
#[tokio::test]
async fn without_the_copy_it_would_come_back() {
    let original = Original::new().await;
    let folder = original.again();
    edit_events(&folder, |events| {
        let at = tombstone(events);
        events.remove(at);
    });
    let id = Store::identify(&folder.store()).unwrap();
    let copies = crate::store::seal::ForgettingCopies::of(&folder.seals, id);
    assert_eq!(copies.read().unwrap().len(), 1);
    copies.remove().unwrap();
    replay_all(&folder);
    assert_ne!(visible(&opened(&folder).unwrap()), [0; 0]);
}

/// Folds every view again, as a start does after damage.
fn replay_all(folder: &DataFolder) {
    let opened = opened(folder).unwrap();
    replay::clear(&opened.store, &Projections).unwrap();
    replay::catch_up(&opened.store, &Projections, |_, _| {}).unwrap();
}
