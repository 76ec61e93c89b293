//! Kinds by what they are in a conversation: people, details, organisations, places, and what contains other things.

/// Kinds of people.
pub(super) const PEOPLE: [&str; 12] = [
    "person",
    "contact",
    "user",
    "author",
    "agent",
    "employee",
    "engineer",
    "reviewer",
    "owner",
    "member",
    "developer",
    "buyer",
];
/// Kinds that are details of other things.
pub(super) const DETAILS: [&str; 9] = [
    "error_code",
    "exception",
    "error",
    "url",
    "email",
    "environment_variable",
    "device_role",
    "manufacturer",
    "device_type",
];
/// Kinds whose names are nouns for other things.
pub(super) const ROLES: [&str; 2] = ["device_role", "role"];
/// Kinds of organisations.
pub(super) const ORGANISATIONS: [&str; 13] = [
    "supplier",
    "vendor",
    "carrier",
    "provider",
    "partner",
    "department",
    "organization",
    "tenant",
    "tenant_group",
    "customer",
    "company",
    "team",
    "organisation",
];
/// Kinds of places and of things that contain others.
pub(super) const PLACES: [&str; 5] = ["site", "rack", "location", "region", "office"];
pub(super) const CONTAINERS: [&str; 13] = [
    "list",
    "incident",
    "case",
    "issue",
    "ticket",
    "pull_request",
    "file_path",
    "cluster",
    "prefix",
    "vlan",
    "branch",
    "repository",
    "virtual_machine",
];
