//! The help page: keys and panes.

/// Lines of the help page.
pub const LINES: &[&str] = &[
    "q, Ctrl-C      end; Esc, too, once there is nothing to take back",
    "1 to 6         choose a pane; Tab, Shift-Tab, Left, Right go around",
    "Up, Down       move or scroll a row; PgUp, PgDn a screenful; Home, End to the ends",
    "Enter          open the session under the cursor: what was said and done; Esc goes back",
    "/              list only what contains a text; Enter keeps it, Esc takes it back",
    "p, space       hold the events still; again: go on",
    "s              the next order of the pane",
    "+, -           look more rarely, more often; r: now",
    "?, h           this page; any other key leaves it",
    "",
    "1 Sessions     the 200 newest; 5 MIN: events of the last five minutes; NOW: the same as a lane,",
    "               a letter for each half minute: Prompt, message, step, x failed, edit, checkpoint,",
    "               given to a model, % compaction, begin or end",
    "2 Agents       agents of the events since the start, and of a thousand before",
    "3 Events       the last 2000, the newest first; scrolled down, they stand still",
    "4 Followers    background work on the log, and resolvers of names",
    "5 Latency      round trips of this program's own calls, not of others';",
    "               event delivered: from an event's stamp until it is here",
    "6 Sizes        warnings, sizes, counts, limits and places, as `lore status` has them",
    "",
    "Times are local. Nothing here writes to the log or starts a daemon.",
];
