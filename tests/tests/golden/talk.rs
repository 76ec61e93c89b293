//! One event of every conversation kind, in every shape of its fields.

use super::{Events, NoFields};
use lored::entities::{
    EntitiesExtracted, EntitiesRelated, EntityData, EntityMerge, EntityMerges, EntityRef,
    EntityResolved, Mention, MentionSource, MergeBasis, Source, TextEntities,
};
use lored::log::{EncodedEvent, EventKind};
use lored::messages::{
    Kind, MessageMeta, MessageRecorded, Sender, Status, ToolCallMeta, ToolRecorded, ToolUse,
};
use lored::packs::{
    ContextPruned, ContextUnpruned, Item, PackBuilt, PackDependency, PackPurpose, Strategy,
};
use lored::projects::FileVersion;
use lored::sessions::{
    LeaseReleased, Parent, SessionClosed, SessionCreated, SessionLeased, SessionOrigin,
    SessionUpdated,
};
use lored::steps::Text;

fn entity(kind: &str, key: &str) -> EntityRef {
    EntityRef {
        kind: kind.to_owned(),
        key: key.to_owned(),
    }
}

fn mention(name: &str, how: MentionSource) -> Mention {
    Mention {
        kind: "device".to_owned(),
        key: name.to_lowercase(),
        name: name.to_owned(),
        how,
        span: None,
        id: None,
        slug: None,
        parents: Vec::new(),
        nested: false,
        score: 0,
        weight: 0,
        aliases: Vec::new(),
        words: Vec::new(),
    }
}

/// Returns the kinds in the order of their introduction.
pub fn events() -> Vec<(&'static str, EncodedEvent)> {
    let mut events = Events::new(11, Some("s-1"), "p-1");
    sessions(&mut events);
    messages(&mut events);
    let parsed = Mention {
        span: Some((3, 16)),
        id: Some("101".to_owned()),
        slug: Some("sw".to_owned()),
        parents: vec![entity("site", "berlin")],
        nested: true,
        ..mention("SW-NYC-01", MentionSource::Json)
    };
    let in_step = TextEntities {
        source: Source::Step {
            step: 2,
            attempt: 1,
        },
        mentions: vec![parsed.clone()],
    };
    let entities_found = EntitiesExtracted {
        rules: vec![7; 4],
        found: vec![in_step],
    };
    let related = EntitiesRelated {
        from: entity("device", "sw-nyc-01"),
        from_name: "SW-NYC-01".to_owned(),
        relation: "connected_to".to_owned(),
        to: entity("device", "router-la-02"),
        to_name: "router-la-02".to_owned(),
    };
    let resolved = EntityResolved {
        entity: entity("device", "sw-nyc-01"),
        name: "SW-NYC-01".to_owned(),
        id: Some("101".to_owned()),
        slug: Some("sw".to_owned()),
        resolver: "netbox".to_owned(),
        expires: super::TIME + 1,
        parents: vec![entity("site", "berlin")],
        around: vec![parsed],
    };
    let data = EntityData {
        data: r#"{"id":101}"#.to_owned(),
    };
    let unpruned = ContextUnpruned {
        tokens_before: 100,
        tokens_after: 5000,
    };
    events.add_meta("entities_found", EventKind::EntitiesFound, &entities_found);
    events.add_meta("entities_related", EventKind::EntitiesRelated, &related);
    events.add(
        "entity_resolved",
        EventKind::EntityResolved,
        &resolved,
        &data,
    );
    events.add_meta("pack_made", EventKind::PackMade, &pack());
    events.add_meta("context_pruned", EventKind::ContextPruned, &pruned());
    events.add_meta("context_unpruned", EventKind::ContextUnpruned, &unpruned);
    let closed = SessionClosed {
        reason: Some("done".to_owned()),
    };
    events.add(
        "session_closed",
        EventKind::SessionClosed,
        &NoFields {},
        &closed,
    );
    let merges = EntityMerges {
        merges: vec![EntityMerge {
            from: entity("device", "switch nyc 01"),
            into: entity("device", "sw-nyc-01"),
            by: MergeBasis::Slug,
            value: "sw-nyc-01".to_owned(),
        }],
    };
    events.add_meta("entities_merged", EventKind::EntitiesMerged, &merges);
    events.add_meta("entities_unmerged", EventKind::EntitiesUnmerged, &merges);
    events.found
}

fn sessions(events: &mut Events) {
    let begun = SessionOrigin {
        preferences: Some(r#"{"theme":"dark"}"#.to_owned()),
        host: None,
        parent: Some(Parent {
            session: "s-0".to_owned(),
            position: 17,
            last_step: 3,
        }),
    };
    let created = SessionCreated {
        topic: Some("uplinks".to_owned()),
        ..SessionCreated::default()
    };
    events.create("session_forked", begun, &created);
    let updated = SessionUpdated {
        title: Some("t".to_owned()),
        topic: Some(String::new()),
        tags: Some(vec!["web".to_owned()]),
        add_tags: vec!["bug".to_owned()],
        remove_tags: vec!["old".to_owned()],
        preferences: Some(r#"{"theme":null}"#.to_owned()),
    };
    let leased = |token| SessionLeased {
        name: "session".to_owned(),
        until: super::TIME + 30_000_000,
        token,
    };
    let released = LeaseReleased {
        name: "session".to_owned(),
        token: 3,
    };
    events.add(
        "session_updated",
        EventKind::SessionUpdated,
        &NoFields {},
        &updated,
    );
    let kind = EventKind::SessionLeased;
    events.add_meta("session_leased", kind, &leased(None));
    events.add_meta("session_leased_again", kind, &leased(Some(3)));
    events.add_meta("lease_released", EventKind::LeaseReleased, &released);
}

fn messages(events: &mut Events) {
    let said = MessageMeta {
        id: "m-1".to_owned(),
        sender: Sender::User,
        kind: Kind::Query,
        tokens: 9,
        tools: 1,
        rules: vec![7; 4],
        known_at: 5,
        mentions: vec![
            mention("SW-NYC-01", MentionSource::Pattern),
            mention("it", MentionSource::Reference),
        ],
        possible: Vec::new(),
        marked: Vec::new(),
        remembered: None,
        suspect: Vec::new(),
        blobs: vec![[8; 32].into()],
    };
    let recorded = MessageRecorded {
        content: Text::Inline("Is SW-NYC-01 up? It was.".to_owned()),
        tools: vec![ToolUse {
            name: "ping".to_owned(),
            status: Some(Status::Completed),
            result: Some(Text::Inline("ok".to_owned())),
        }],
        pack: Some("p-1".to_owned()),
        quoted: vec![(2, 11)],
        evidence: Vec::new(),
        replaces: Vec::new(),
    };
    let least = MessageMeta {
        id: "m-2".to_owned(),
        sender: Sender::Tool,
        kind: Kind::Error,
        tokens: 0,
        tools: 0,
        rules: Vec::new(),
        known_at: 0,
        mentions: Vec::new(),
        possible: Vec::new(),
        marked: Vec::new(),
        remembered: None,
        suspect: Vec::new(),
        blobs: Vec::new(),
    };
    let nothing = MessageRecorded {
        content: Text::Inline(String::new()),
        tools: Vec::new(),
        pack: None,
        quoted: Vec::new(),
        evidence: Vec::new(),
        replaces: Vec::new(),
    };
    let executed = ToolCallMeta {
        id: "t-1".to_owned(),
        status: Status::Error,
        rules: vec![7; 4],
        mentions: vec![mention("SW-NYC-01", MentionSource::Known)],
        suspect: Vec::new(),
        blobs: Vec::new(),
    };
    let tool = ToolRecorded {
        tool: "ping".to_owned(),
        parameters: Some(Text::Inline(r#"{"host":"SW-NYC-01"}"#.to_owned())),
        result: None,
        error: Some(Text::Inline("no route to SW-NYC-01".to_owned())),
    };
    let kind = EventKind::MessageRecorded;
    events.add("message_recorded", kind, &said, &recorded);
    events.add("message_recorded_least", kind, &least, &nothing);
    events.add("tool_recorded", EventKind::ToolRecorded, &executed, &tool);
}

fn pack() -> PackBuilt {
    let rests_on = |session: Option<&str>, item| PackDependency {
        session: session.map(str::to_owned),
        item,
    };
    PackBuilt {
        id: "p-1".to_owned(),
        made_for: PackPurpose::Message,
        wanted: vec![6; 8],
        budget: 4000,
        tokens: 120,
        sections: vec![("history".to_owned(), 80)],
        rests_on: vec![
            rests_on(None, Item::Message("m-1".to_owned())),
            rests_on(
                None,
                Item::Step {
                    step: 2,
                    attempt: 1,
                },
            ),
            rests_on(Some("s-0"), Item::Tool("t-1".to_owned())),
            rests_on(None, Item::entity("device", "sw-nyc-01")),
            rests_on(None, Item::Checkpoint("cp-1".to_owned())),
            rests_on(None, Item::Topic),
        ],
        pieces: vec![5; 16],
    }
}

/// Returns a pack that cites a version of a context file.
pub fn pack_of_files() -> PackBuilt {
    let file = FileVersion {
        project: "shop-12345678".to_owned(),
        file_type: "bugs".to_owned(),
        version: 3,
    };
    PackBuilt {
        sections: vec![("context_files".to_owned(), 80)],
        rests_on: vec![PackDependency {
            session: None,
            item: Item::ContextFile(file),
        }],
        ..pack()
    }
}

/// Returns a pack that cites a document.
pub fn pack_of_documents() -> PackBuilt {
    PackBuilt {
        sections: vec![("context_files".to_owned(), 80)],
        rests_on: vec![PackDependency {
            session: None,
            item: Item::Document {
                document: "doc-0123456789abcdef".to_owned(),
                chunk: 3,
            },
        }],
        ..pack()
    }
}

fn pruned() -> ContextPruned {
    ContextPruned {
        strategy: Strategy::Comprehensive,
        tokens_before: 5000,
        tokens_after: 100,
        messages: vec!["m-1".to_owned()],
        tools: vec![Item::Tool("t-1".to_owned())],
        entities: vec![entity("device", "sw-nyc-01")],
        went: [3, 2, 1],
    }
}
