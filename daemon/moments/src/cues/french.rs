//! French cues.

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
    (
        Some(Remember),
        2.0,
        User,
        "
        ^souviens|souvenez|rappelle|rappelez|retiens|retenez|note|notez ~ que|: 
        ^n' oublie|oubliez pas que
        ^pour info|mémoire
    ",
    ),
    (
        Some(Decision),
        2.0,
        Anyone,
        "
        on|nous a|avons décidé|choisi|convenu|retenu|opté|abandonné
        j' ai choisi|retenu|opté
        c' est décidé
        désormais
        à partir de|d' maintenant|aujourd'hui
        dorénavant
        jusqu' à nouvel ordre
        on|nous garde|gardons|reste|restons|part|partons|prend|prenons|abandonne|abandonnons ~
        décision ~ est|:
        nous|on resterons|restera
    ",
    ),
    (
        Some(Decision),
        1.2,
        Anyone,
        "
        plutôt que|qu'
        au lieu de|d'|du
        pour l' instant
        on|nous utilise|utilisons|stocke|stockons
    ",
    ),
    (
        Some(Rule),
        1.6,
        User,
        "
        ^la prochaine fois
        ^à l'avenir
        n'|ne ~ jamais|pas|plus
        ^toujours|jamais
        il faut ~ toujours|que|jamais
        il ne faut
        doit|doivent
        ^pas de|d' ~ sans
        aucun|aucune ~ sans|ne
        est|sont ~ interdit|interdite|interdits|obligatoire|obligatoires
        seul|seuls|seule|seules ~ peut|peuvent|doit
        ^assure-toi|assurez-vous|veille|veillez
        à chaque fois que
    ",
    ),
    (
        Some(Rule),
        1.3,
        User,
        "
        est|sont ~ toujours|jamais
        toujours
        au moins|plus #
        sauf si|pour|quand
        ^évite|évitez
    ",
    ),
    (
        Some(Preference),
        1.6,
        User,
        "
        je préfère
        nous préférons
        j' aime ~ mieux
        je préférerais
        je déteste
    ",
    ),
    (
        Some(Correction),
        1.6,
        User,
        "
        ^non , ~
        c' est faux|incorrect
        ce n' est pas ~
        , pas ~
        ^en fait ~ est|c'
        arrête|arrêtez de|d'
        tu aurais dû
        devrait être
    ",
    ),
    (
        Some(Finding),
        1.8,
        Anyone,
        "
        cause ~ est|était|:
        problème|erreur|bug ~ venait|vient|était|est|provenait
        raison ~ est|était
        il s' avère
        causé|provoqué|causée|provoquée par
        est|était ~ dû|due|dus à|au|aux
    ",
    ),
    (
        None,
        0.4,
        Anyone,
        "
        parce que|qu'
        car
        afin de|que
        pour que
        jusqu' ~
        sinon
    ",
    ),
    (
        None,
        -1.6,
        Anyone,
        "
        peut-être
        pourrait
        pourrions
        probablement
        je pense|crois
        pas sûr|sûre
        devrions-nous
        si tu|vous veux|voulez|souhaites
        hier
        ce serait
    ",
    ),
    (
        None,
        -1.6,
        User,
        "
        peux-tu|pouvez-vous
        je voudrais|aimerais
        ^montre-moi|montre|explique|lance
    ",
    ),
    (
        None,
        -2.0,
        Agent,
        "
        j' ai ajouté|modifié|corrigé|mis|renommé|supprimé|créé|vérifié|déplacé
        je vais
        ^maintenant
        ^ensuite
        tous les tests
        tests passent
        ^voici
        veux-tu|voulez-vous
    ",
    ),
];
