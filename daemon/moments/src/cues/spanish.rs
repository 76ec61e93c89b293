//! Spanish cues.

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
        ^recuerda|recuerde|acuérdate|anota|apunta|guarda ~ que|:
        ^no olvides que
        ^para que conste
    "),
    (Some(Decision), 2.0, Anyone, "
        ?nosotros decidimos|elegimos|acordamos|optamos|descartamos|abandonamos
        hemos decidido|elegido|acordado|optado|descartado
        se ha|decidió decidido
        elegí|escogí
        a partir de ahora|hoy
        de ahora en adelante
        desde ahora
        hasta nuevo aviso
        nos quedamos con
        vamos a usar|quedarnos|mantener
        seguimos con
        la decisión ~ es|:
        lo|las|los mantenemos|dejamos
    "),
    (Some(Decision), 1.2, Anyone, "
        en lugar|vez de|del
        por ahora
        usamos|guardamos|mantenemos|usaremos
    "),
    (Some(Rule), 1.6, User, "
        ^la próxima vez
        ^en el futuro
        ^nunca|siempre|jamás
        ^no ?se usar|uses|uses|use|utilices|toques|modifiques|subas|cambies|escribas|añadas|borres|pongas|llames|guardes|hagas|edites|registres
        debe|deben
        hay que ~ siempre
        no se puede|permite
        está|están ~ prohibido|prohibida|prohibidos|prohibidas
        es|son ~ obligatorio|obligatoria|obligatorios
        solo|sólo ~ puede|pueden|debe
        ^asegúrate|asegúrese
        sin ~ permiso|preguntar|avisar
        cada vez que
        ningún|ninguna ~ sin|debe|puede
    "),
    (Some(Rule), 1.3, User, "
        es|son|se|está ~ siempre|nunca|solo
        siempre|nunca
        al menos
        como máximo|mínimo
        excepto|salvo ~
        ^evita|evite
    "),
    (Some(Preference), 1.6, User, "
        prefiero|preferimos|preferiría
        me gusta|gustan ~ más
        odio|detesto
    "),
    (Some(Correction), 1.6, User, "
        ^no , ~ es|son|el|la|se|debe|usa
        está|es mal|incorrecto|falso
        eso no es
        , no ~
        y no #
        ^en realidad ~
        deja|dejen de
        debería|deberían ser|estar
        no ~ sino
        te equivocaste
    "),
    (Some(Finding), 1.8, Anyone, "
        causa ~ era|es|fue|:
        el|este|ese problema|error|fallo|motivo ~ era|es|fue|venía|viene|estaba|está
        resulta|resultó que
        fue|es|era causado|provocado|causada|provocada por
        se debe|debía|debió a
        venía|viene de
        la razón ~ es|era
    "),
    (None, 0.4, Anyone, "
        porque
        ya que
        para que
        hasta
        si no
    "),
    (None, -1.6, Anyone, "
        quizás|quizá
        tal vez
        podría
        podríamos
        probablemente
        creo que
        no estoy seguro
        deberíamos
        si quieres
        ayer
    "),
    (None, -1.6, User, "
        puedes|podrías
        me gustaría
        ^muéstrame|explica|ejecuta
    "),
    (None, -2.0, Agent, "
        he actualizado|añadido|cambiado|corregido|creado|eliminado|renombrado|revisado|movido|agregado
        ^ahora ~ voy
        voy a
        ^primero
        ^luego|después
        todas las pruebas
        pruebas pasan
        ^aquí
        ^listo|hecho
        quieres que
    "),
];
