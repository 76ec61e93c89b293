//! German cues.

use std::sync::LazyLock;

use super::By::{Agent, Anyone, User};
use super::Cues;
use super::pattern::CueRow;
use crate::durable::DurableKind::{Correction, Decision, Finding, Preference, Remember, Rule};

static CUES: LazyLock<Cues> = LazyLock::new(|| Cues::new(ROWS));

pub fn cues() -> &'static Cues {
    &CUES
}

const ROWS: &[CueRow] = &[
    (Some(Remember), 2.0, User, "
        ^merk|merke ?dir ~
        ^notiere|notier|behalte ?dir ~
        ^denk|denke daran
        ^vergiss nicht
        ^zur info|notiz
    "),
    (Some(Decision), 2.0, Anyone, "
        haben|hat|habe ~ entschieden|beschlossen|vereinbart|festgelegt|geeinigt|verworfen
        haben|habe ~ gewählt|ausgewählt|genommen
        ab jetzt|sofort|heute
        künftig|zukünftig
        von nun an
        bis auf weiteres
        entscheidung ~ ist|lautet|:
        wir|es ?bleiben|bleibt bei|beim
        wir|ich nehmen|nehme|verwenden|nutzen|verwende|nutze ~ statt|anstatt|anstelle
        wir bleiben|setzen|steigen|verzichten|wechseln ~ bei|auf|um|zu|beim|von
        lass|lasst uns ~ nehmen|bleiben|verwenden|nutzen|behalten
        wurde ~ entschieden|beschlossen|festgelegt
    "),
    (Some(Decision), 1.2, Anyone, "
        statt ~
        anstelle ~
        vorerst ~ nur
        wir|ich nehmen|nehme|verwenden|nutzen|behalten|unterstützen
        fällt|fallen weg
    "),
    (Some(Rule), 1.6, User, "
        ^nächstes mal
        ^beim nächsten mal
        ^in zukunft
        ^nie|niemals|immer
        niemals|nie|immer ~ ins|in|im|ohne|vor|nach|mit
        bitte nie|niemals|immer|nicht|keine|nur
        darf|dürfen ~ nicht|nie|niemals|nur|kein|keine
        muss|müssen
        nur ~ darf|dürfen
        kein|keine|keinen|keinerlei ~ ohne|im|in|mehr|vor
        ist|sind ~ verboten|pflicht|tabu|unzulässig|zwingend|reserviert
        achte|achtet darauf
        ^stell|stelle sicher
        immer|jedes wenn|mal
        ^vermeide|verwende|nutze|schreibe|benutze ~ nie|niemals|immer|nur|keine|überall
    "),
    (Some(Rule), 1.3, User, "
        soll|sollen ~ immer|nie|nur|nicht|sein|haben|bleiben|werden
        bleibt|bleiben ~ gleich|stabil|unverändert
        immer|nie|niemals|stets
        mindestens|höchstens|maximal
        braucht|brauchen ~ ein|eine|einen
        außer|ausser bei|wenn|für|in
        wird|werden ~ nur|immer|nie|stets|ausschließlich
    "),
    (Some(Preference), 1.6, User, "
        ich|wir ~ bevorzuge|bevorzugen|hasse
        ich ~ lieber
        mir ~ lieber|wichtig
        ich mag
        mir gefällt|gefallen
    "),
    (Some(Correction), 1.6, User, "
        ^nein , ~
        ^falsch ~
        ist|war falsch
        stimmt ~ nicht
        nicht ~ , sondern
        , nicht ~
        ^doch , ~ ist
        ^eigentlich ~ ist|sind|soll
        hör|höre ~ auf
        du hast|hättest ~ falsch|falsche|falschen|vergessen
        sollte|müsste ~ sein|heißen
    "),
    (Some(Finding), 1.8, Anyone, "
        ursache ~ ist|war|:
        grund ~ ist|war|:
        das|der|die problem|fehler ~ lag|liegt|war|ist|kam|kommt
        lag|liegt daran
        es stellte sich heraus
        hat sich herausgestellt
        wurde|wird|werden ~ verursacht|ausgelöst
        kam|kommt|kamen ~ von|vom|daher|durch
        schuld ~ war|ist
    "),
    (None, 0.4, Anyone, "
        weil
        damit
        denn
        da ~ sonst
        bis
    "),
    (None, -1.6, Anyone, "
        vielleicht
        eventuell
        könnte
        könnten
        wahrscheinlich
        vermutlich
        nicht sicher
        ich glaube|denke|vermute
        sollen|soll wir|ich
        wäre ~ schön|gut|besser
        gestern
        falls du
        wenn du ~ willst|möchtest
    "),
    (None, -1.6, User, "
        ich möchte|würde ~ sehen|gern
        ^zeig|zeige|mach|erkläre|führe
        schon wieder
    "),
    (None, -2.0, Agent, "
        ich habe|hab ~ angepasst|geändert|hinzugefügt|aktualisiert|entfernt|korrigiert|behoben|erstellt|umbenannt|geprüft|verschoben
        als nächstes
        ^ich werde|schaue|prüfe|lese|beginne|starte
        ^jetzt ~ ich
        ^zuerst
        lass mich
        alle tests
        tests ~ laufen|grün
        ^fertig
        möchtest|willst du
    "),
];
