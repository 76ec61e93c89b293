//! Recall over conversations: packs and searches find what was said many turns or several sessions ago.
//!
//! The conversations are made up: four people talk over several days, and each fact is said once, between other talk
//! with the same names. A question marks the turns that hold its evidence.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::{Daemon, serve};

/// Budget of the packs.
const TOKENS: u64 = 2_000;

/// A turn with a fact: its name, its session, its speaker, and the text.
const FACTS: &[(&str, usize, &str, &str)] = &[
    (
        "kite",
        0,
        "Mira",
        "I flew my first stunt kite at the lake last Sunday, and it broke twice.",
    ),
    (
        "cello",
        0,
        "Jonas",
        "My daughter started cello lessons with Mrs. Adeyemi this week.",
    ),
    (
        "oven",
        0,
        "Mira",
        "The oven in the new flat has no fan, so my bread stays pale.",
    ),
    (
        "visa",
        0,
        "Tarek",
        "The consulate wants the visa papers by the nineteenth.",
    ),
    (
        "dog",
        0,
        "Ines",
        "We adopted a greyhound from the shelter; he is called Bruno.",
    ),
    (
        "knee",
        0,
        "Jonas",
        "The doctor said that I must not run for six weeks because of my knee.",
    ),
    (
        "loom",
        1,
        "Ines",
        "Grandmother left me her old loom, and I want to weave a rug on it.",
    ),
    (
        "ferry",
        1,
        "Tarek",
        "From Split we took the night ferry to Ancona, which was cheaper than flying.",
    ),
    (
        "exam",
        1,
        "Mira",
        "I passed the statics exam with the second best mark of the course.",
    ),
    (
        "bees",
        1,
        "Jonas",
        "My neighbour gave me a hive, so I keep bees behind the garage now.",
    ),
    (
        "allergy",
        1,
        "Tarek",
        "I cannot eat hazelnuts, my throat swells at once.",
    ),
    (
        "choir",
        1,
        "Ines",
        "Our choir sings the Fauré Requiem in November at Saint Paul.",
    ),
    (
        "printer",
        2,
        "Mira",
        "The printer at work only takes the blue cartridges from the second shelf.",
    ),
    (
        "roof",
        2,
        "Jonas",
        "A storm took eleven tiles off the roof, and the insurance pays for it.",
    ),
    (
        "job",
        2,
        "Ines",
        "I resigned; from March I work for the city library in the map room.",
    ),
    (
        "bruno",
        2,
        "Ines",
        "Bruno ate the corner of the rug that I had just finished.",
    ),
    (
        "russian",
        2,
        "Tarek",
        "I am learning Russian with an app, half an hour before breakfast.",
    ),
    (
        "honey",
        2,
        "Jonas",
        "The first harvest gave fourteen jars of linden honey.",
    ),
    (
        "sail",
        3,
        "Mira",
        "Next summer I want to sail to Corsica with my brother.",
    ),
    (
        "stolen",
        3,
        "Tarek",
        "My bicycle was stolen in front of the swimming pool.",
    ),
    (
        "recipe",
        3,
        "Mira",
        "The trick with the pale bread was a steel plate under the loaf.",
    ),
    (
        "concert",
        3,
        "Jonas",
        "The cello recital was lovely; she played the swan by Saint-Saëns.",
    ),
    (
        "maps",
        3,
        "Ines",
        "In the map room I found a plan of the harbour from 1731.",
    ),
    (
        "knee_well",
        3,
        "Jonas",
        "The knee is fine again, I ran five kilometres yesterday.",
    ),
];

/// A question, and the facts that it needs.
const QUESTIONS: &[(&str, &[&str])] = &[
    ("What did Mira do at the lake?", &["kite"]),
    ("Who teaches the cello to Jonas' daughter?", &["cello"]),
    (
        "Why was Mira's bread pale, and how did she mend it?",
        &["oven", "recipe"],
    ),
    ("When does the consulate want Tarek's papers?", &["visa"]),
    (
        "What is the name of Ines' greyhound, and what did he eat?",
        &["dog", "bruno"],
    ),
    (
        "Why could Jonas not run, and is his knee well again?",
        &["knee", "knee_well"],
    ),
    ("What did Ines inherit from her grandmother?", &["loom"]),
    ("How did Tarek travel from Split to Ancona?", &["ferry"]),
    ("How well did Mira do in the statics exam?", &["exam"]),
    (
        "Where does Jonas keep his bees, and how much honey did he harvest?",
        &["bees", "honey"],
    ),
    ("Which nuts must Tarek not eat?", &["allergy"]),
    ("What does the choir of Ines sing in November?", &["choir"]),
    (
        "Which cartridges does the printer at Mira's work take?",
        &["printer"],
    ),
    ("Who pays for the roof of Jonas?", &["roof"]),
    (
        "Where does Ines work now, and what did she find there?",
        &["job", "maps"],
    ),
    ("Which language is Tarek learning?", &["russian"]),
    ("Where does Mira want to sail?", &["sail"]),
    ("What was stolen from Tarek?", &["stolen"]),
    (
        "What did Jonas' daughter play at the recital?",
        &["concert"],
    ),
    (
        "What happened to the rug that Ines wove on the loom?",
        &["loom", "bruno"],
    ),
    ("Who said that the kite broke twice?", &["kite"]),
    ("Who gave Jonas a hive?", &["bees"]),
    ("By which day are the visa papers due?", &["visa"]),
    ("Where did Ines get her dog?", &["dog"]),
    ("For how many weeks was Jonas forbidden to run?", &["knee"]),
    (
        "Why did Tarek take the night ferry instead of flying?",
        &["ferry"],
    ),
    ("Which church does the choir sing in?", &["choir"]),
    ("How many tiles did the storm take off the roof?", &["roof"]),
    ("From which month does Ines work for the library?", &["job"]),
    ("When does Tarek learn Russian?", &["russian"]),
    ("How many jars of honey were there?", &["honey"]),
    ("With whom does Mira want to sail to Corsica?", &["sail"]),
    ("Where was the bicycle stolen?", &["stolen"]),
    ("Who found a plan of the harbour from 1731?", &["maps"]),
    ("How far did Jonas run yesterday?", &["knee_well"]),
];

/// Other talk, in which the same people take part.
const TALK: &[&str] = &[
    "Did you sleep well, {}?",
    "I was so tired after the meeting that I fell asleep on the train.",
    "{}, shall we have lunch on Thursday?",
    "That sounds lovely, I would like that.",
    "The weather here has been awful since Monday, nothing but rain.",
    "Ha, {} always says that!",
    "I will call you back in the evening, my phone is nearly empty.",
    "Have you seen the new film with the astronaut? {} fell asleep in it.",
    "No problem, take your time.",
    "We should all meet again soon, it has been too long.",
    "I have to tidy the kitchen before my parents come.",
    "What do you think, {}?",
    "Honestly, I am not sure yet, ask me again next week.",
    "The bus was late again, so I walked the whole way home.",
    "Thanks for the pictures, they turned out really well!",
    "{} sent me a very funny message this morning.",
];

const PEOPLE: [&str; 4] = ["Mira", "Jonas", "Tarek", "Ines"];
/// Turns of other talk before and after each fact.
const BETWEEN: usize = 16;

/// Records the conversations in sessions of a project; returns the id of the message with each fact.
fn converse(daemon: &Daemon) -> BTreeMap<&'static str, Value> {
    let mut said = BTreeMap::new();
    let mut turn = 0;
    let say = |session: &str, speaker: &str, text: &str| {
        let args = json!({"session": session, "agent": speaker, "sender": "user", "content": text});
        daemon.call("record_message", args)["message"].clone()
    };
    let sessions = FACTS
        .iter()
        .map(|(_, session, _, _)| *session)
        .max()
        .unwrap()
        + 1;
    for number in 0..sessions {
        let session = format!("talk-{number}");
        daemon.call(
            "create_session",
            json!({"session": session, "project": "friends"}),
        );
        for (name, _, speaker, text) in FACTS.iter().filter(|fact| fact.1 == number) {
            for _ in 0..BETWEEN {
                // Two strides without a common divisor, so that lines and names vary.
                let line =
                    TALK[turn * 7 % TALK.len()].replace("{}", PEOPLE[turn * 3 % PEOPLE.len()]);
                say(&session, PEOPLE[(turn * 5 + 1) % PEOPLE.len()], &line);
                turn += 1;
            }
            said.insert(*name, say(&session, speaker, text));
        }
        for _ in 0..BETWEEN {
            let line = TALK[turn * 7 % TALK.len()].replace("{}", PEOPLE[turn * 3 % PEOPLE.len()]);
            say(&session, PEOPLE[(turn * 5 + 1) % PEOPLE.len()], &line);
            turn += 1;
        }
    }
    daemon.call(
        "create_session",
        json!({"session": "today", "project": "friends"}),
    );
    say("today", "Mira", "Good morning, here I am again.");
    said
}

/// Returns the shares of questions for which all and any of the evidence is in `held`.
fn shares(held: impl Fn(&str, &[&str]) -> usize) -> (f64, f64) {
    let (mut all, mut any) = (0, 0);
    for (question, facts) in QUESTIONS {
        let held = held(question, facts);
        all += usize::from(held == facts.len());
        any += usize::from(held > 0);
    }
    let share = |count: usize| count as f64 / QUESTIONS.len() as f64;
    (share(all), share(any))
}

fn text_of(fact: &str) -> &'static str {
    FACTS.iter().find(|one| one.0 == fact).unwrap().3
}

/// A pack of 2 000 tokens holds the evidence of a question, whether it was said in this session or in others of the
/// project, and a larger one holds no less. A search finds it among the first ten.
#[test]
fn packs_hold_the_evidence() {
    let (_home, daemon) = serve!();
    let said = converse(&daemon);
    let prompt = |session: &str, question: &str, tokens: u64| -> String {
        let args = json!({"session": session, "message": question, "max_tokens": tokens});
        let pack = daemon.call("enrich_message", args);
        assert!(pack["tokens"].as_u64().unwrap() <= tokens);
        pack["prompt"].as_str().unwrap().to_owned()
    };
    let held = |prompt: &str, facts: &[&str]| {
        facts
            .iter()
            .filter(|fact| prompt.contains(text_of(fact)))
            .count()
    };
    let across = shares(|question, facts| held(&prompt("today", question, TOKENS), facts));
    assert!(
        across.0 >= 0.80 && across.1 >= 0.90,
        "across sessions: {across:?}"
    );
    let within = shares(|question, facts| held(&prompt("talk-3", question, TOKENS), facts));
    assert!(
        within.0 >= 0.85 && within.1 >= 0.95,
        "from a session of the talk: {within:?}"
    );
    let task = shares(|question, facts| {
        let args = json!({"project": "friends", "query": question, "max_tokens": TOKENS});
        let pack = daemon.call("context_pack", args);
        held(pack["prompt"].as_str().unwrap(), facts)
    });
    assert!(task.0 >= 0.85 && task.1 >= 0.95, "for a task: {task:?}");
    for (question, facts) in QUESTIONS.iter().take(6) {
        let budgets = [600, 1_000, 1_500, 2_000, 4_000];
        let counts = budgets.map(|budget| held(&prompt("today", question, budget), facts));
        assert!(counts.is_sorted(), "{question}: {counts:?}");
    }
    let found = shares(|question, facts| {
        let args = json!({"query": question, "kinds": ["message"], "max_results": 10});
        let reply = daemon.call("search", args);
        let ids = super::ids(&reply);
        let is_found = |fact: &&&str| ids.iter().any(|id| said[**fact] == json!(id));
        facts.iter().filter(is_found).count()
    });
    assert!(found.0 >= 0.7 && found.1 >= 0.8, "search: {found:?}");
}

/// The speaker is found although only `agent` names him, and nonsense finds nothing.
#[test]
fn speakers_are_found_and_nonsense_is_not() {
    let (_home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "s1"}));
    for (speaker, text) in [
        ("Caroline", "I painted a sunset yesterday."),
        ("Melanie", "I painted a horse on Monday."),
    ] {
        let args = json!({"session": "s1", "agent": speaker, "sender": "user", "content": text});
        daemon.call("record_message", args);
    }
    for (query, text) in [
        ("What did Caroline paint?", "I painted a sunset yesterday."),
        ("What did Melanie paint?", "I painted a horse on Monday."),
    ] {
        for search_type in ["text", "hybrid"] {
            let args = json!({"query": query, "search_type": search_type});
            let reply = daemon.call("search", args);
            assert_eq!(
                reply["results"][0]["preview"], text,
                "{search_type}: {reply:#}"
            );
        }
    }
    let reply = daemon.call("search", json!({"query": "qwzxv plmok"}));
    assert_eq!(
        (reply["total"].clone(), super::ids(&reply).len()),
        (json!(0), 0),
        "{reply:#}"
    );
    let warning = reply["warnings"][0].as_str().unwrap();
    assert!(warning.contains("nothing is known"), "{warning}");
    for (period, count) in [
        (json!({"since": "2020-01-01"}), 2),
        (json!({"until": "2020-01-01"}), 0),
        (
            json!({"since": "2020-01-01", "until": "2199-12-31T00:00:00Z"}),
            2,
        ),
    ] {
        let mut args = json!({"query": "painted", "search_type": "text"});
        args.as_object_mut()
            .unwrap()
            .extend(period.as_object().unwrap().clone());
        assert_eq!(daemon.call("search", args)["total"], count, "{period}");
    }
}
