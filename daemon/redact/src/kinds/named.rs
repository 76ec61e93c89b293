//! Secrets without a distinctive form: their names identify them.

use super::{Kind, Recogniser};

const fn named(
    id: &'static str,
    what: &'static str,
    words: &'static [&'static str],
    pattern: &'static str,
) -> Kind {
    let how = Recogniser::Named { words, pattern };
    Kind { id, what, how }
}

const fn by_name(id: &'static str, what: &'static str) -> Kind {
    let how = Recogniser::Meant;
    Kind { id, what, how }
}

pub(super) const KINDS: &[Kind] = &[
    named(
        "aws-secret-access-key",
        "a secret access key of AWS",
        &["secretaccesskey"],
        "[A-Za-z0-9/+]{40}",
    ),
    named(
        "aws-session-token",
        "a session token of AWS",
        &["sessiontoken"],
        "[A-Za-z0-9/+]{100,}={0,2}",
    ),
    named(
        "alibaba-secret",
        "an access key secret of Alibaba Cloud",
        &["accesskeysecret"],
        "[A-Za-z0-9]{30}",
    ),
    named(
        "twilio-auth-token",
        "the auth token of a Twilio account",
        &["twilio", "token"],
        "[0-9a-f]{32}",
    ),
    named(
        "datadog-key",
        "an API key of Datadog",
        &["datadog", "api"],
        "[0-9a-f]{32}",
    ),
    named(
        "datadog-app-key",
        "an application key of Datadog",
        &["datadog", "app"],
        "[0-9a-f]{40}",
    ),
    named(
        "datadog-key",
        "an API key of Datadog",
        &["ddapikey"],
        "[0-9a-f]{32}",
    ),
    named(
        "datadog-app-key",
        "an application key of Datadog",
        &["ddappkey"],
        "[0-9a-f]{40}",
    ),
    named(
        "heroku-key",
        "an API key of Heroku",
        &["heroku"],
        "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    ),
    named(
        "okta-token",
        "an API token of Okta",
        &["okta"],
        "00[A-Za-z0-9_-]{40}",
    ),
    named(
        "auth0-secret",
        "a client secret of Auth0",
        &["auth0", "secret"],
        "[A-Za-z0-9_-]{48,64}",
    ),
    named(
        "cloudflare-token",
        "a token or key of Cloudflare",
        &["cloudflare"],
        "[A-Za-z0-9_-]{37,53}",
    ),
    named(
        "fastly-token",
        "a token of Fastly",
        &["fastly"],
        "[A-Za-z0-9_-]{32}",
    ),
    named(
        "vercel-token",
        "a token of Vercel",
        &["vercel"],
        "[A-Za-z0-9]{24}",
    ),
    named(
        "discord-token",
        "the token of a Discord bot",
        &["discord"],
        r"(?:mfa\.)?[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,40}",
    ),
    named(
        "linkedin-secret",
        "a client secret of LinkedIn",
        &["linkedin", "secret"],
        "[A-Za-z0-9]{16}",
    ),
    named(
        "cohere-key",
        "an API key of Cohere",
        &["cohere"],
        "[A-Za-z0-9]{40}",
    ),
    named(
        "cohere-key",
        "an API key of Cohere",
        &["coapikey"],
        "[A-Za-z0-9]{40}",
    ),
    named(
        "mistral-key",
        "an API key of Mistral",
        &["mistral"],
        "[A-Za-z0-9]{32}",
    ),
    named(
        "algolia-key",
        "an API key of Algolia",
        &["algolia"],
        "[0-9a-f]{32}",
    ),
    named(
        "airtable-token",
        "a token of Airtable",
        &["airtable"],
        r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|key[A-Za-z0-9]{14}",
    ),
    named(
        "asana-token",
        "a token of Asana",
        &["asana"],
        "[0-9]/[0-9]{10,20}(?:/[0-9]{10,20})?:[0-9a-f]{32}",
    ),
    named(
        "zendesk-token",
        "a token of Zendesk",
        &["zendesk"],
        "[A-Za-z0-9]{40}",
    ),
    named(
        "netbox-token",
        "a token of NetBox",
        &["netbox"],
        "[0-9a-f]{40}",
    ),
    named(
        "wireguard-key",
        "a private or pre-shared key of WireGuard",
        &["privatekey"],
        "[A-Za-z0-9+/]{43}=",
    ),
    named(
        "wireguard-key",
        "a private or pre-shared key of WireGuard",
        &["presharedkey"],
        "[A-Za-z0-9+/]{43}=",
    ),
    by_name("connection-password", "the password of a connection string"),
    by_name(
        "password",
        "what stands under a name such as `password`, and looks like one",
    ),
    by_name(
        "secret",
        "what stands under a name such as `client_secret`, and looks random",
    ),
    by_name(
        "api-key",
        "what stands under a name such as `api_key`, and looks random",
    ),
    by_name(
        "token",
        "what stands under a name such as `access_token`, and looks random",
    ),
];
