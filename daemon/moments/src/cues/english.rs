//! English cues.

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
        ^remember that|this|:
        ^note for|to ~ later|self|memory|others
        ^keep in mind
        ^don't|never forget that|:
        ^for the record
        ^fyi
        ^note that|:
        ^save|store|put ~ to|in ?your memory
        ^remember ~ is|are|must|should|never|always|uses|has
    "),
    (Some(Decision), 2.0, Anyone, "
        we|team|they|we've decided|agreed|settled|opted|committed
        we've|have|i've decided|agreed|settled|opted on|to|for|that|against
        we|team ~ chose|picked|went|selected
        we dropped|rejected|abandoned|standardised|standardized|ditched|replaced|switched|migrated
        i|we chose|picked|selected ~ over|because|since|as|instead
        i|we ~ went|go|going with
        we're|are ~ going|sticking|staying with
        let's|lets ~ go|stick|stay with
        from now on
        going forward
        as of now|today
        until further notice
        off the table
        decision|verdict is|was|:
        ^decided :
        ^decision
        settled|agreed on|that
        it's|is decided
        final|agreed decision|choice
        we'll|will stick|stay|go with|on
        i decided|opted|settled ~ over|instead|against|because
        i|we rejected|picked|chose|selected|avoided ~ ~ over|rather|instead|because|since
        i|we rejected|ruled ~
    "),
    (Some(Decision), 1.5, User, "
        ^let's|lets ~ use|keep|only|drop|skip|avoid|target|support|call|make|treat|leave|store|limit|default|remove|not|never|always
        we're|are dropping|keeping|removing|switching|moving|using|replacing|deprecating|freezing|retiring|targeting
        we moved|changed|set|raised|lowered|limited|keep|kept|removed|split|merged|renamed ~ to|because|before|until|as|only|from
        for now ~ only|just|use|keep
        only ~ for now
        ^option|variant|version|plan|approach|proposal ~ is fine|ok|okay|good|it|wins
        ^go|going|stick|stay|sticking with
        is|are out of scope
        is|are ~ no longer supported|needed|wanted|allowed
        ^drop|ditch|scrap|abandon ~ , nobody|no|we|it|they
        ^no need to support|keep|handle
        i'll|we'll|i'd|we take|go for|with
        we|i won't|don't ?ever support|ship|publish|store|show|share|accept|sell|send|log|touch|expose|track|offer|rely|trust|cache|do|host
        ^stay|stick|remain on|at|with|in
    "),
    (Some(Decision), 1.2, Anyone, "
        we|i use|used|keep|kept|store|stored|take|took|run|build|pin|pinned ~ instead|rather|not
        we|i use|used|keep|kept|store|stored|take|took|run|build|pin|pinned ~ ~ instead|rather
        we|i ~ instead of ~ because|since|so
        we|i ~ ~ instead of ~ because|since|so
        is|are stored|kept|counted|written|treated|sent|read ~ ~ instead of ~ because|since|so
        rather than ~ because|since|so
    "),
    (Some(Decision), 0.8, Anyone, "
        we|our use|keep|store|take|run|ship|target|support|deploy|pin|call|treat|host|build|prefer
        defaults|default to|is|to
        is|are|stays|stay|remains|remain|live|lives ~ instead|until|rather
    "),
    (Some(Rule), 1.6, User, "
        ^?you never|always
        ^?you do not
        ^?you don't|dont|must|mustn't
        we|you|they|one ~ must
        must ~ not|never|always|be|have|stay|set|use|come|keep|match|pass|contain|include|start|end|go|run|return
        have|has to ~ be|stay|use|have|match|pass|contain|include
        may|can only|not|never
        may|can be ~ until|within|only|unless
        only ~ may|can|should|must
        is|are|isn't|aren't not|never|only ~ allowed|permitted|used|stored|reused|touched|changed|edited
        is|are|be forbidden|mandatory|required|prohibited|banned
        we|our only|always|never|don't|do
        i only|always|never
        no|zero new|more|other|further|direct|external|extra ~ without|in|on|for|before
        no ~ without
        ^no ~ when|after|before|during|while|until|unless|outside|inside|below|above
        ^max|maximum|min|minimum ~ per|a|an|in|for|on|each|every
        ^max|maximum|min|minimum ~ is|are|: #
        can't|cannot|mustn't|must|may|can ~ more|less|larger|longer|higher|fewer than
        only when|if|after|once ~
        no exceptions|exception
        only ~ ever
        ^avoid|prefer
        ^under no circumstances
        no one|nobody ~ may|should|must|can
        ^whenever|everytime
        ^every|each time
        ^only ~ on|in|at|with|for|to|after|if|when
        ^make sure|certain|ensure ~ never|always|every|all|each|any|no
        without ~ asking|approval|permission|review
        is|are off limits|off-limits
        ^next time
        ^the next time you
        ^in ?the future
        ^every|each time you|we|it
    "),
    (Some(Rule), 1.3, User, "
        is|are|stays|remains|be always|never|only
        always|never ~ is|are
        should|shall ~ always|never|be|have|use|stay|keep|name|contain|include|return|match|only|not|start|end
        shouldn't|cannot|can't be|have|contain|exceed|depend
        ^ensure
        ^keep|use|write|put|name|store|run|set|log|leave ~ everywhere|anywhere|anything|always|never|unless|except|outside|only|instead|rather|under|below|above|within|at
        ^stick to
        at least|most #
        no more|less|longer|later|fewer|text|smaller than
        ^take|use|run|read|get ~ , not|never
        ^use|run|call|take ~ for|before|after|with|on every|each
        ^update|add|write|log ~ with|after|before every|each
        ^add|put|write|keep ~ every|each|all new
        ^when|whenever you ~ a|an|any|new|another ~ ,
    "),
    (Some(Rule), 0.8, User, "
        ^use|take|call|say|write ~ not
        needs|need|requires|require a|an|to|at
        before|unless|whenever they|it|you|we
        never|always
        ^the|all|every|our ~ has|have to
    "),
    (
        Some(Rule),
        0.5,
        User,
        "
        ^use|keep|put|write
        ^make sure|certain
    ",
    ),
    (Some(Rule), 0.8, Agent, "
        must ~ not|never|always|be|have|stay
        we|you never|always|only|must
        is|are never|always|not allowed
    "),
    (Some(Preference), 1.6, User, "
        i|we ~ prefer|favour|favor|hate|dislike
        i'd|we'd rather
        i|we would rather
        i|we like ~ better|more
        ^prefer
        my preference|favourite|favorite
        i|we don't like|want|need ~ in|on|for|when|to|that|any|more|comments|without
        i|we always|usually want|like|use|prefer|expect
        i want ~ always|never|every|all|only|no|to be
    "),
    (Some(Preference), 0.9, User, "
        i like|love
        i want|expect ~ in|as|with|without
    "),
    (Some(Correction), 1.6, User, "
        ^that's|that|this|it's is|was|not wrong|incorrect|false|right|true|correct
        ^that's|thats|this|it's wrong|incorrect|false|not
        ^no , ~ is|are|use|it's|we|should|must|that|i|that's|they|goes|stay|belongs|need|takes|only
        ^no - ~ is|are
        ^actually ~ is|are|it's|should|we|use|they|was|the|its
        ^stop ~ using|adding|doing|calling|writing|changing|making|putting
        you used|put|forgot|missed|ignored|broke|picked|chose|changed ~ wrong|should|instead|again|not
        i|we said|told|asked|meant
        i already|just said|told
        should have been|used|gone
        it|that should be|have
        wrong : ~
        ^wrong ~ : ~
        ^wrong ,
        ^instead of ~ use|do|call|write
        not ~ but rather|only
        ^?but not ~ : use|it's
        replaces|replaced|supersedes ~ it|that|them
    "),
    (Some(Correction), 0.9, User, "
        , not ~
        instead of
        is|are|was|were|that's|it's|all|totally wrong
        should be
        is|are not ~ but
        isn't|aren't ~ it's
    "),
    (Some(Finding), 2.0, Anyone, "
        root cause ~ is|was|:
        real|actual|underlying problem|cause|issue|reason|bug ~ is|was|:
        culprit is|was|:
        it turns|turned out
        turns|turned out that|to
    "),
    (Some(Finding), 1.6, Anyone, "
        the|this|that problem|issue|cause|reason|bug|error|failure|crash ~ is|was that|a|an|the|in|caused|because
        cause|reason|bug|leak|problem|error|delay|crash|slowdown ~ was|is|came|comes|lies|lay ~ from|in|by|that|because|a|the|an
        was|were|is|are|been ~ caused|triggered|explained by
        due to ~
        was|were|is coming|caused from|by
        came|comes|stems|stemmed|originates|originated from
        happened|happens|occurred|occurs|appeared ~ because|when|if|since|as
        ^the trick|fix|solution|workaround|remedy ~ is|was
        ^found the|it|out|why ~ : ~
        was|were a|an race|deadlock|leak|typo|bot|regression|collision|overflow|timeout|mismatch
        is|are|was|were only ~ when|once|after|if
        only works|work|worked|fails|happens ~ if|when|with|because|on|after
        were|was|is|are ~ exhausted|lost|duplicated|dropped|corrupted|truncated ~ because|since|when
    "),
    (Some(Finding), 1.2, Anyone, "
        vanish|vanishes|vanished|disappear|disappears|disappeared|freezes|froze|stalls|stalled|overflows|overflowed|drifts|flickers|fails|failed|fail|broke|breaks|crashes|crashed|hangs|hung|leaked|leaks|drained|stuttered|flakes|stopped|loops ~ because|when|since|as|if|unless
        silently ~ drops|ignores|fails|skips|truncates
        drops|ignores|rejects|truncates|requires|needs|expects|returns|throws|answers ~ if|when|unless|with|without|for|on
        , which is why
        that's|this is why
    "),
    // What supports others, but is none of its own.
    (
        None,
        0.5,
        User,
        "
        everywhere
        anywhere
        anything
        outside
        except
        unless
        whenever
    ",
    ),
    (None, 0.4, Anyone, "
        because
        since
        so that
        otherwise
        as it|they|we
        for now
        until
    "),
    // What speaks against.
    (None, -1.6, Anyone, "
        maybe
        perhaps
        might
        could be|have
        we|i|you|it could
        not sure
        i|we guess|wonder|suspect|suppose
        i|we think ~ could|might|maybe
        probably
        possibly
        what if
        it seems|looks|appears like|as
        let's|lets see|look|check|try|think|discuss|talk
        shall|should i|we
        would be nice|good|great
        if you want|like|prefer|wish
        i'm|am not sure
        no longer used|needed , so
        don't worry|bother|mind|know|think|see
        never mind
        make|makes sense
        <yesterday
        <last week|night|time
        for this task|one
        for this , please
        when|if you have|get|find
    "),
    (None, -1.6, User, "
        i'd|would like|love to
        <not yet
        <yet
        i|we don't understand|know|see|get|think|remember|care
        what happens if|when
        for this
        <again
        can|could you
        <i|we tried|looked|checked|saw
        i|we decided to look|check|try|wait
        ~ is|are red|broken|failing|down again
    "),
    (None, -2.0, Agent, "
        ^i'll
        ^i will
        i'll|i'm now|first|start|use|going|also|then|need
        i'm going|about to
        ^let me
        ^now|next|first i|let|i'll|we|,
        ^next
        i|we should|need|want|can|could|may ~ check|look|also|to|verify|now
        you can|could|may|should
        i've|have ~ added|updated|fixed|removed|renamed|moved|created|refactored|changed|implemented|run|written|applied|made|completed|checked|verified|cleaned|adjusted|replaced
        i've|i decided to start|begin|first|look|check|read|split|try
        ^i ran|added|updated|fixed|removed|renamed|moved|created|changed|refactored|wrote|checked|sorted|formatted|opened|read|ran|looked|implemented|replaced|adjusted|never
        ^done|finished|great|perfect|sure
        ^all ~ pass|passed|green
        tests ~ pass|passed
        here is|are|'s
        here's
        would you
        do you
        ^looking|reading|checking|running
        i understand|see
    "),
    (None, -1.0, Anyone, "
        i|we ~ yesterday
        right now
    "),
];
