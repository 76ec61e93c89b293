//! Samples of every kind of secret, generated at run time so that secret scanners do not report this file.

use super::named_samples::named_samples;

/// A secret with its kind, and the text before and after it where that matters: kind, before, secret, after.
pub(super) type Sample = (&'static str, &'static str, String, &'static str);

pub(super) const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub(super) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub(super) const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
pub(super) const HEX: &str = "0123456789abcdef";
pub(super) const DIGIT: &str = "0123456789";
pub(super) const BECH32: &str = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";

/// Generates `count` characters of an alphabet, deterministically by seed.
pub(super) fn made(of: &str, count: usize, seed: u64) -> String {
    let letters = of.as_bytes();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(letters[(state >> 33) as usize % letters.len()])
    };
    (0..count).map(next).collect()
}

/// Part of a sample: literal, or generated from an alphabet.
pub(super) enum Part {
    Text(&'static str),
    Made(&'static str, usize),
}
pub(super) use Part::{Made as M, Text as T};

pub(super) const UUID: [Part; 9] = [
    M(HEX, 8),
    T("-"),
    M(HEX, 4),
    T("-4"),
    M(HEX, 3),
    T("-a"),
    M(HEX, 3),
    T("-"),
    M(HEX, 12),
];

pub(super) fn put(parts: &[Part], seed: u64) -> String {
    let part = |(number, part): (usize, &Part)| match part {
        Part::Text(text) => (*text).to_owned(),
        Part::Made(of, count) => made(of, *count, seed + number as u64),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Builds a PEM block; the label is assembled here.
pub(super) fn pem(label: &str, seed: u64) -> String {
    let line = |n| made(ALNUM, 64, seed + n);
    format!(
        "-----BEGIN {label}-----\n{}\n{}\n{}=\n-----END {label}-----",
        line(0),
        line(1),
        made(ALNUM, 21, seed)
    )
}

/// Returns samples by kind, each with the text before and after it where that matters.
pub(super) fn samples() -> Vec<Sample> {
    let forms: &[(&str, &[Part])] = &[
        ("age-secret-key", &[T("AGE-SECRET-KEY-1"), M(BECH32, 58)]),
        (
            "jwt",
            &[
                T("eyJ"),
                M(ALNUM, 30),
                T("."),
                M(ALNUM, 40),
                T("."),
                M(ALNUM, 43),
            ],
        ),
        ("password-hash", &[T("$2b$12$"), M(ALNUM, 53)]),
        (
            "password-hash",
            &[T("$6$"), M(ALNUM, 12), T("$"), M(ALNUM, 86)],
        ),
        ("aws-access-key-id", &[T("AKIA"), M(UPPER, 16)]),
        ("aws-bedrock-key", &[T("ABSK"), M(ALNUM, 110)]),
        ("alibaba-access-key-id", &[T("LTAI"), M(ALNUM, 20)]),
        ("google-api-key", &[T("AIza"), M(ALNUM, 35)]),
        ("google-oauth-secret", &[T("GOCSPX-"), M(ALNUM, 28)]),
        ("google-oauth-token", &[T("ya29."), M(ALNUM, 60)]),
        ("google-refresh-token", &[T("1//0"), M(ALNUM, 60)]),
        (
            "azure-client-secret",
            &[M(ALNUM, 3), T("8Q~"), M(ALNUM, 34)],
        ),
        (
            "azure-devops-token",
            &[M(ALNUM, 76), T("AZDO"), M(ALNUM, 4)],
        ),
        ("digitalocean-token", &[T("dop_v1_"), M(HEX, 64)]),
        ("heroku-key", &[T("HRKU-"), M(ALNUM, 60)]),
        ("flyio-token", &[T("fo1_"), M(ALNUM, 43)]),
        ("netlify-token", &[T("nfp_"), M(ALNUM, 36)]),
        ("planetscale-token", &[T("pscale_tkn_"), M(ALNUM, 43)]),
        ("supabase-key", &[T("sbp_"), M(HEX, 40)]),
        ("databricks-token", &[T("dapi"), M(HEX, 32)]),
        ("vault-token", &[T("hvs."), M(ALNUM, 90)]),
        (
            "terraform-token",
            &[M(ALNUM, 14), T(".atlasv1."), M(ALNUM, 67)],
        ),
        ("pulumi-token", &[T("pul-"), M(HEX, 40)]),
        ("doppler-token", &[T("dp.pt."), M(ALNUM, 43)]),
        ("openshift-token", &[T("sha256~"), M(ALNUM, 43)]),
        (
            "tailscale-key",
            &[T("tskey-auth-"), M(ALNUM, 12), T("-"), M(ALNUM, 32)],
        ),
        ("onepassword-token", &[T("ops_eyJ"), M(ALNUM, 260)]),
        (
            "cloudflare-origin-key",
            &[T("v1.0-"), M(HEX, 24), T("-"), M(HEX, 146)],
        ),
        ("github-personal-token", &[T("ghp_"), M(ALNUM, 36)]),
        (
            "github-fine-grained-token",
            &[T("github_pat_"), M(ALNUM, 22), T("_"), M(ALNUM, 59)],
        ),
        ("github-oauth-token", &[T("gho_"), M(ALNUM, 36)]),
        ("github-app-token", &[T("ghs_"), M(ALNUM, 36)]),
        ("github-refresh-token", &[T("ghr_"), M(ALNUM, 76)]),
        ("gitlab-personal-token", &[T("glpat-"), M(ALNUM, 20)]),
        ("gitlab-deploy-token", &[T("gldt-"), M(ALNUM, 20)]),
        ("gitlab-runner-token", &[T("glrt-"), M(ALNUM, 20)]),
        ("gitlab-trigger-token", &[T("glptt-"), M(HEX, 40)]),
        ("gitlab-feed-token", &[T("glft-"), M(ALNUM, 20)]),
        ("gitlab-job-token", &[T("glcbt-"), M(ALNUM, 24)]),
        ("gitlab-agent-token", &[T("glagent-"), M(ALNUM, 50)]),
        ("gitlab-oauth-secret", &[T("gloas-"), M(HEX, 64)]),
        ("gitlab-scim-token", &[T("glsoat-"), M(ALNUM, 20)]),
        ("atlassian-token", &[T("ATATT3"), M(ALNUM, 186)]),
        ("bitbucket-app-password", &[T("ATBB"), M(ALNUM, 32)]),
        ("npm-token", &[T("npm_"), M(ALNUM, 36)]),
        ("pypi-token", &[T("pypi-AgE"), M(ALNUM, 150)]),
        ("crates-io-token", &[T("cio"), M(ALNUM, 32)]),
        ("rubygems-key", &[T("rubygems_"), M(HEX, 48)]),
        ("nuget-key", &[T("oy2"), M(LOWER, 43)]),
        ("clojars-token", &[T("CLOJARS_"), M(LOWER, 60)]),
        ("docker-hub-token", &[T("dckr_pat_"), M(ALNUM, 27)]),
        ("artifactory-key", &[T("AKCp"), M(ALNUM, 69)]),
        ("artifactory-token", &[T("cmVmdGtu"), M(ALNUM, 56)]),
        ("buildkite-token", &[T("bkua_"), M(HEX, 40)]),
        (
            "circleci-token",
            &[T("CCIPAT_"), M(ALNUM, 22), T("_"), M(HEX, 40)],
        ),
        ("octopus-key", &[T("API-"), M(UPPER, 30)]),
        ("sonarqube-token", &[T("squ_"), M(HEX, 40)]),
        ("sourcegraph-token", &[T("sgp_"), M(HEX, 40)]),
        ("prefect-key", &[T("pnu_"), M(ALNUM, 36)]),
        ("postman-key", &[T("PMAK-"), M(HEX, 24), T("-"), M(HEX, 34)]),
        ("figma-token", &[T("figd_"), M(ALNUM, 40)]),
        ("linear-key", &[T("lin_api_"), M(ALNUM, 40)]),
        ("notion-token", &[T("ntn_"), M(DIGIT, 11), M(ALNUM, 35)]),
        ("notion-token", &[T("secret_"), M(ALNUM, 43)]),
        (
            "anthropic-key",
            &[T("sk-ant-api03-"), M(ALNUM, 93), T("AA")],
        ),
        ("openai-key", &[T("sk-"), M(ALNUM, 48)]),
        ("openai-project-key", &[T("sk-proj-"), M(ALNUM, 120)]),
        ("openai-service-key", &[T("sk-svcacct-"), M(ALNUM, 120)]),
        ("huggingface-token", &[T("hf_"), M(ALNUM, 34)]),
        ("groq-key", &[T("gsk_"), M(ALNUM, 52)]),
        ("xai-key", &[T("xai-"), M(ALNUM, 80)]),
        ("perplexity-key", &[T("pplx-"), M(ALNUM, 48)]),
        ("replicate-token", &[T("r8_"), M(ALNUM, 37)]),
        ("openrouter-key", &[T("sk-or-v1-"), M(HEX, 64)]),
        ("nvidia-key", &[T("nvapi-"), M(ALNUM, 64)]),
        (
            "langsmith-key",
            &[T("lsv2_pt_"), M(HEX, 32), T("_"), M(HEX, 10)],
        ),
        (
            "pinecone-key",
            &[T("pcsk_"), M(ALNUM, 6), T("_"), M(ALNUM, 60)],
        ),
        ("elevenlabs-key", &[T("sk_"), M(HEX, 48)]),
        ("tavily-key", &[T("tvly-"), M(ALNUM, 32)]),
        (
            "slack-token",
            &[
                T("xoxb-"),
                M(DIGIT, 12),
                T("-"),
                M(DIGIT, 13),
                T("-"),
                M(ALNUM, 24),
            ],
        ),
        (
            "slack-app-token",
            &[
                T("xapp-1-"),
                M(UPPER, 11),
                T("-"),
                M(DIGIT, 13),
                T("-"),
                M(HEX, 64),
            ],
        ),
        (
            "telegram-bot-token",
            &[M("123456789", 10), T(":AA"), M(ALNUM, 33)],
        ),
        ("stripe-key", &[T("sk_live_"), M(ALNUM, 24)]),
        ("stripe-webhook-secret", &[T("whsec_"), M(ALNUM, 32)]),
        ("square-token", &[T("sq0atp-"), M(ALNUM, 22)]),
        (
            "braintree-token",
            &[
                T("access_token$production$"),
                M(LOWER, 16),
                T("$"),
                M(HEX, 32),
            ],
        ),
        ("shopify-token", &[T("shpat_"), M(HEX, 32)]),
        ("shippo-token", &[T("shippo_live_"), M(HEX, 40)]),
        ("easypost-key", &[T("EZAK"), M(ALNUM, 54)]),
        (
            "sendgrid-key",
            &[T("SG."), M(ALNUM, 22), T("."), M(ALNUM, 43)],
        ),
        (
            "brevo-key",
            &[T("xkeysib-"), M(HEX, 64), T("-"), M(ALNUM, 16)],
        ),
        ("mailgun-key", &[T("key-"), M(HEX, 32)]),
        ("mailchimp-key", &[M(HEX, 32), T("-us12")]),
        ("facebook-token", &[T("EAA"), M(ALNUM, 150)]),
        (
            "twitter-bearer-token",
            &[T("AAAAAAAAAAAAAAAAAAAAAA"), M(ALNUM, 90)],
        ),
        (
            "linkedin-secret",
            &[T("WPL_AP1."), M(ALNUM, 16), T("."), M(ALNUM, 8)],
        ),
        ("typeform-token", &[T("tfp_"), M(ALNUM, 44)]),
        ("contentful-token", &[T("CFPAT-"), M(ALNUM, 43)]),
        ("dropbox-token", &[T("sl.u."), M(ALNUM, 200)]),
        ("new-relic-key", &[T("NRAK-"), M(UPPER, 27)]),
        ("new-relic-license-key", &[M(HEX, 36), T("NRAL")]),
        (
            "grafana-token",
            &[T("glsa_"), M(ALNUM, 32), T("_"), M(HEX, 8)],
        ),
        ("sentry-token", &[T("sntryu_"), M(HEX, 64)]),
        (
            "dynatrace-token",
            &[T("dt0c01."), M(UPPER, 24), T("."), M(UPPER, 64)],
        ),
        ("adafruit-key", &[T("aio_"), M(ALNUM, 28)]),
        (
            "mapbox-token",
            &[T("sk.eyJ"), M(ALNUM, 60), T("."), M(ALNUM, 22)],
        ),
        (
            "netbox-token",
            &[T("nbt_"), M(ALNUM, 12), T("."), M(ALNUM, 40)],
        ),
        ("junos-secret", &[T("$9$"), M(ALNUM, 20)]),
    ];
    let mut all: Vec<_> = forms
        .iter()
        .map(|(kind, parts)| (*kind, "", put(parts, 7), ""))
        .collect();
    let uuids: &[(&str, &str, &str)] = &[
        ("amazon-mws-token", "", "amzn.mws."),
        ("hubspot-token", "", "pat-na1-"),
        ("launchdarkly-key", "", "sdk-"),
        ("heroku-key", "HEROKU_API_KEY=", ""),
        ("proxmox-token", "PVEAPIToken=root@pam!ci=", ""),
    ];
    all.extend(
        uuids
            .iter()
            .map(|(kind, before, begin)| (*kind, *before, format!("{begin}{}", put(&UUID, 3)), "")),
    );
    all.extend(
        [
            ("private-key", "PRIVATE KEY"),
            ("encrypted-private-key", "ENCRYPTED PRIVATE KEY"),
            ("rsa-private-key", "RSA PRIVATE KEY"),
            ("ec-private-key", "EC PRIVATE KEY"),
            ("dsa-private-key", "DSA PRIVATE KEY"),
            ("openssh-private-key", "OPENSSH PRIVATE KEY"),
            ("ssh2-private-key", "SSH2 ENCRYPTED PRIVATE KEY"),
            ("pgp-private-key", "PGP PRIVATE KEY BLOCK"),
        ]
        .map(|(kind, label)| (kind, "see:\n", pem(label, 5), "\nend")),
    );
    all.extend(named_samples());
    all
}
