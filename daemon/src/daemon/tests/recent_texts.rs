//! The texts that a session's next one may refer to: what is kept in memory is what the rows say.

use super::capture::Fixture;
use super::*;
use crate::entities::{self, Entities};
use crate::state::State;

/// Fails if the kept texts of a session differ from its rows. Returns their number.
async fn same_as_stored(cx: &Arc<Context>, session: &str) -> usize {
    let state = State::live(cx, None).await.unwrap();
    let lines = sessions::lineage(&state, session).unwrap();
    let kept = Entities::of(cx).unwrap().recent_texts(&state, &lines);
    let kept = kept.unwrap();
    assert_eq!(kept, entities::recent(&state, &lines).unwrap());
    kept.len()
}

#[tokio::test]
async fn kept_texts_are_those_of_the_rows_in_forks_and_after_a_forgetting() {
    let memory = Fixture::new();
    let cx = memory.context();
    let say = async |session: &str, number: usize| {
        let text = format!("switch-nyc-{number:02} and router-la-{number:02} are down; it flaps");
        let args = json!({"session": session, "sender": "user", "content": text});
        call(&cx, "record_message", args).await;
    };
    for session in ["first", "second"] {
        call(&cx, "create_session", json!({"session": session})).await;
    }
    // More than references reach back to.
    for number in 0..70 {
        say("first", number).await;
        if number % 9 == 0 {
            same_as_stored(&cx, "first").await;
        }
    }
    assert_eq!(same_as_stored(&cx, "first").await, 64);
    let args = json!({"session": "first", "new_session": "fork"});
    call(&cx, "fork_session", args).await;
    for (session, number) in [("fork", 70), ("first", 71), ("fork", 72)] {
        say(session, number).await;
        same_as_stored(&cx, "first").await;
        same_as_stored(&cx, "fork").await;
    }
    say("second", 1).await;
    assert_eq!(same_as_stored(&cx, "second").await, 1);
    call(&cx, "forget_session", json!({"session": "second"})).await;
    assert_eq!(same_as_stored(&cx, "second").await, 0);
}
