//! The built-in field mappings: which fields answer for which names.

/// Built-in field mappings: normalised aliases, best first.
pub const MAPPINGS: [(&str, &[&str]); 10] = [
    (
        "id",
        &["id", "pullrequestid", "prid", "requestid", "number"],
    ),
    (
        "date",
        &[
            "date",
            "closeddate",
            "closedate",
            "closedat",
            "closedon",
            "closed",
            "resolutiondate",
            "resolveddate",
            "resolvedat",
            "completedate",
            "completeddate",
            "completiondate",
            "completedat",
            "completedon",
            "completedtime",
            "completiontime",
            "completed",
            "finisheddate",
            "finishdate",
            "finishedat",
            "finishtime",
            "mergeddate",
            "mergedat",
            "mergedon",
            "merged",
            "createddate",
            "createdat",
            "createdon",
            "createdtime",
            "createdate",
            "createtime",
            "creationdate",
            "creationtime",
            "creationtimestamp",
            "created",
            "updateddate",
            "updatedat",
            "updatedon",
            "updatedtime",
            "updatetime",
            "updated",
            "lastupdated",
            "changeddate",
            "lastmodified",
        ],
    ),
    ("title", &["title", "name", "subject", "summary"]),
    ("description", &["description", "desc", "body"]),
    ("status", &["status", "state"]),
    ("author", &["author", "creator", "createdby"]),
    ("email", &["email", "emailaddress"]),
    ("url", &["url", "htmlurl", "weburl"]),
    (
        "branch",
        &[
            "branch",
            "sourcebranch",
            "targetbranch",
            "sourcerefname",
            "targetrefname",
            "headrefname",
            "baserefname",
            "headbranch",
            "basebranch",
            "ref",
        ],
    ),
    (
        "commit",
        &[
            "commit",
            "commitsha",
            "commitid",
            "commithash",
            "sha",
            "headsha",
            "oid",
            "headoid",
            "revision",
        ],
    ),
];

/// Built-in aliases with one meaning that is narrower than their list's: a name of one group never means one of
/// another, so a creation date does not answer for the date of closing.
pub(super) const NARROW: [&[&str]; 7] = [
    &["pullrequestid", "prid"],
    &["requestid"],
    &[
        "closeddate",
        "closedate",
        "closedat",
        "closedon",
        "closed",
        "resolutiondate",
        "resolveddate",
        "resolvedat",
        "completedate",
        "completeddate",
        "completiondate",
        "completedat",
        "completedon",
        "completedtime",
        "completiontime",
        "completed",
        "finisheddate",
        "finishdate",
        "finishedat",
        "finishtime",
        "mergeddate",
        "mergedat",
        "mergedon",
        "merged",
    ],
    &[
        "createddate",
        "createdat",
        "createdon",
        "createdtime",
        "createdate",
        "createtime",
        "creationdate",
        "creationtime",
        "creationtimestamp",
        "created",
    ],
    &[
        "updateddate",
        "updatedat",
        "updatedon",
        "updatedtime",
        "updatetime",
        "updated",
        "lastupdated",
        "changeddate",
        "lastmodified",
    ],
    &["sourcebranch", "sourcerefname", "headrefname", "headbranch"],
    &["targetbranch", "targetrefname", "baserefname", "basebranch"],
];

/// Aliases that as names ask whether something is so: `MERGED` is not answered by a date.
pub(super) const STATES: [&str; 3] = ["closed", "completed", "merged"];

/// Built-in lists whose fields have a form. Aliases of another form are taken last.
pub(super) const FORMS: [(&str, FieldForm); 5] = [
    ("id", FieldForm::Plain),
    ("date", FieldForm::Date),
    ("title", FieldForm::Plain),
    ("email", FieldForm::Plain),
    ("commit", FieldForm::Plain),
];

/// What the values of a field look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldForm {
    /// Any value.
    #[default]
    Any,
    /// A text or a number: no object, list or truth value.
    Plain,
    /// A date in any spelling: no truth value, and no count such as `"completed": 5`.
    Date,
}
