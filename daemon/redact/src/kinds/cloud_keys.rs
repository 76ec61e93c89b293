//! Keys of clouds and cloud services.

use super::{Entropy, FormStart, Kind, SecretForm, form, prefixed};

pub(super) const KINDS: &[Kind] = &[
    form(
        "aws-access-key-id",
        "an access key id of AWS, lasting or temporary",
        &SecretForm {
            entropy: Entropy::Bits(3.0),
            ..prefixed(
                &["akia", "asia", "abia", "acca"],
                "A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}",
            )
        },
    ),
    form(
        "aws-bedrock-key",
        "an API key of Amazon Bedrock",
        &prefixed(&["absk"], "ABSK[A-Za-z0-9+/]{90,}={0,2}"),
    ),
    form(
        "amazon-mws-token",
        "a token of Amazon's Marketplace Web Service",
        &prefixed(
            &["amzn.mws."],
            r"amzn\.mws\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ),
    ),
    form(
        "alibaba-access-key-id",
        "an access key id of Alibaba Cloud",
        &SecretForm {
            entropy: Entropy::Bits(3.0),
            ..prefixed(&["ltai"], "LTAI[A-Za-z0-9]{17,20}")
        },
    ),
    form(
        "google-api-key",
        "an API key of Google",
        &SecretForm {
            entropy: Entropy::Bits(3.0),
            ..prefixed(&["aiza"], "AIza[A-Za-z0-9_-]{35}")
        },
    ),
    form(
        "google-oauth-secret",
        "a client secret of Google OAuth",
        &prefixed(&["gocspx-"], "GOCSPX-[A-Za-z0-9_-]{28}"),
    ),
    form(
        "google-oauth-token",
        "an access token of Google OAuth",
        &prefixed(&["ya29."], r"ya29\.[A-Za-z0-9_.-]{30,}[A-Za-z0-9_-]"),
    ),
    form(
        "google-refresh-token",
        "a refresh token of Google OAuth",
        &SecretForm {
            entropy: Entropy::Bits(3.5),
            ..prefixed(&["1//0"], "1//0[A-Za-z0-9_-]{40,}")
        },
    ),
    form(
        "azure-storage-key",
        "the key of an Azure storage account",
        &prefixed(&["accountkey="], "AccountKey=([A-Za-z0-9+/]{86}==)"),
    ),
    form(
        "azure-shared-access-key",
        "a shared access key of an Azure bus, hub or queue",
        &prefixed(
            &["sharedaccesskey="],
            "SharedAccessKey=([A-Za-z0-9+/]{43,86}={1,2})",
        ),
    ),
    form(
        "azure-sas-signature",
        "the signature of an Azure shared access signature",
        &prefixed(
            &["sig="],
            "sig=([A-Za-z0-9+/]{43}=|(?:[A-Za-z0-9]|%2[BbFf]){43}%3[Dd])",
        ),
    ),
    form(
        "azure-client-secret",
        "a client secret of Microsoft Entra",
        &SecretForm {
            begin: FormStart::Before(3),
            ..prefixed(
                &[
                    "0q~", "1q~", "2q~", "3q~", "4q~", "5q~", "6q~", "7q~", "8q~", "9q~",
                ],
                r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
            )
        },
    ),
    form(
        "azure-devops-token",
        "a personal access token of Azure DevOps",
        &SecretForm {
            begin: FormStart::Before(76),
            ..prefixed(&["azdo"], "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}")
        },
    ),
    form(
        "digitalocean-token",
        "a token of DigitalOcean",
        &prefixed(
            &["dop_v1_", "doo_v1_", "dor_v1_"],
            "do[por]_v1_[0-9a-f]{64}",
        ),
    ),
    form(
        "heroku-key",
        "an API key of Heroku",
        &prefixed(&["hrku-"], "HRKU-[A-Za-z0-9_-]{36,}"),
    ),
    form(
        "flyio-token",
        "a token of Fly.io",
        &prefixed(
            &["fo1_", "fm1_", "fm2_"],
            "f(?:o1|m[12])_[A-Za-z0-9_+/-]{43,}={0,3}",
        ),
    ),
    form(
        "netlify-token",
        "a token of Netlify",
        &prefixed(
            &["nfp_", "nfc_", "nfo_", "nfu_"],
            "nf[pcou]_[A-Za-z0-9]{36}",
        ),
    ),
    form(
        "planetscale-token",
        "a token or password of PlanetScale",
        &prefixed(
            &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
            "pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{31,63}[A-Za-z0-9_=-]",
        ),
    ),
    form(
        "supabase-key",
        "a key of Supabase",
        &prefixed(
            &["sbp_", "sb_secret_"],
            "sb(?:p_[0-9a-f]{40}|_secret_[A-Za-z0-9_-]{20,})",
        ),
    ),
    form(
        "databricks-token",
        "a token of Databricks",
        &prefixed(&["dapi"], "dapi[0-9a-f]{32}(?:-[0-9])?"),
    ),
    form(
        "vault-token",
        "a token of HashiCorp Vault",
        &prefixed(&["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    ),
    form(
        "terraform-token",
        "a token of HCP Terraform",
        &SecretForm {
            begin: FormStart::Before(14),
            ..prefixed(
                &[".atlasv1."],
                r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}",
            )
        },
    ),
    form(
        "pulumi-token",
        "a token of Pulumi",
        &prefixed(&["pul-"], "pul-[0-9a-f]{40}"),
    ),
    form(
        "doppler-token",
        "a token of Doppler",
        &prefixed(
            &[
                "dp.pt.",
                "dp.st.",
                "dp.ct.",
                "dp.sa.",
                "dp.scim.",
                "dp.audit.",
            ],
            r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
        ),
    ),
    form(
        "openshift-token",
        "a token of OpenShift",
        &SecretForm {
            entropy: Entropy::Bits(4.0),
            ..prefixed(&["sha256~"], "sha256~[A-Za-z0-9_-]{43}")
        },
    ),
    form(
        "proxmox-token",
        "an API token of Proxmox",
        &prefixed(
            &["pveapitoken="],
            "PVEAPIToken=[A-Za-z0-9._@-]{3,64}![A-Za-z0-9._-]{1,64}=([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
        ),
    ),
    form(
        "tailscale-key",
        "a key of Tailscale",
        &prefixed(
            &["tskey-"],
            "tskey-[a-z]{3,12}-[A-Za-z0-9]{6,}-?[A-Za-z0-9]{16,}",
        ),
    ),
    form(
        "onepassword-token",
        "a service account token of 1Password",
        &prefixed(&["ops_eyj"], "ops_eyJ[A-Za-z0-9+/_-]{200,}={0,2}"),
    ),
    form(
        "cloudflare-origin-key",
        "an origin CA key of Cloudflare",
        &prefixed(&["v1.0-"], r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    ),
];
