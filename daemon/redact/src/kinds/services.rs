//! Keys of services: payment, mail, chat, shops, monitoring.

use super::{Entropy, FormStart, Kind, SecretForm, form, prefixed};

pub(super) const KINDS: &[Kind] = &[
    form(
        "slack-token",
        "a token of Slack, of a bot, a user, a workspace or a configuration",
        &prefixed(
            &[
                "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe.xox",
            ],
            r"xox(?:[abcdeprs]-|e\.xox[bp]-)[A-Za-z0-9-]{10,}[A-Za-z0-9%/+=-]*",
        ),
    ),
    form(
        "slack-app-token",
        "an app-level token of Slack",
        &prefixed(
            &["xapp-"],
            "xapp-[0-9]-[A-Z0-9]{5,}-[0-9]{5,}-[A-Za-z0-9]{30,}",
        ),
    ),
    form(
        "slack-webhook",
        "the address of a Slack webhook",
        &prefixed(
            &["hooks.slack.com/"],
            r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9]{6,}/[A-Za-z0-9]{6,}/[A-Za-z0-9/]{16,})",
        ),
    ),
    form(
        "discord-webhook",
        "the address of a Discord webhook",
        &prefixed(
            &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
            r"discord(?:app)?\.com/api/webhooks/[0-9]{15,22}/([A-Za-z0-9_-]{60,})",
        ),
    ),
    form(
        "teams-webhook",
        "the address of a Microsoft Teams webhook",
        &prefixed(
            &["webhook.office.com/webhookb2/"],
            r"webhook\.office\.com/webhookb2/([0-9a-f@-]{36,80}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}(?:/[A-Za-z0-9_-]{20,})?)",
        ),
    ),
    form(
        "telegram-bot-token",
        "the token of a Telegram bot",
        &SecretForm {
            begin: FormStart::Digits,
            ..prefixed(&[":aa"], "[0-9]{8,10}:AA[A-Za-z0-9_-]{33}")
        },
    ),
    form(
        "stripe-key",
        "a secret or restricted key of Stripe",
        &prefixed(
            &["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
            "[sr]k_(?:live|test)_[A-Za-z0-9]{20,}",
        ),
    ),
    form(
        "stripe-webhook-secret",
        "the signing secret of a webhook, as of Stripe or Svix",
        &prefixed(&["whsec_"], "whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    ),
    form(
        "square-token",
        "a token of Square",
        &prefixed(
            &["sq0atp-", "sq0csp-", "eaaa"],
            "(?:sq0atp-[A-Za-z0-9_-]{22}|sq0csp-[A-Za-z0-9_-]{43}|EAAA[A-Za-z0-9_-]{60})",
        ),
    ),
    form(
        "braintree-token",
        "an access token of Braintree, by PayPal",
        &prefixed(
            &["access_token$"],
            r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}",
        ),
    ),
    form(
        "shopify-token",
        "a token or shared secret of Shopify",
        &prefixed(
            &["shpat_", "shpca_", "shppa_", "shpss_"],
            "shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
        ),
    ),
    form(
        "shippo-token",
        "a token of Shippo",
        &prefixed(
            &["shippo_live_", "shippo_test_"],
            "shippo_(?:live|test)_[0-9a-f]{40}",
        ),
    ),
    form(
        "easypost-key",
        "a key of EasyPost",
        &prefixed(&["ezak", "eztk"], "EZ[AT]K[A-Za-z0-9]{54}"),
    ),
    form(
        "sendgrid-key",
        "an API key of SendGrid",
        &prefixed(&["sg."], r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}"),
    ),
    form(
        "brevo-key",
        "an API or SMTP key of Brevo",
        &prefixed(
            &["xkeysib-", "xsmtpsib-"],
            "x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
        ),
    ),
    form(
        "mailgun-key",
        "a private key of Mailgun",
        &prefixed(&["key-"], "key-[0-9a-f]{32}"),
    ),
    form(
        "mailchimp-key",
        "an API key of Mailchimp",
        &SecretForm {
            begin: FormStart::Before(32),
            ..prefixed(&["-us"], "[0-9a-f]{32}-us[0-9]{1,2}")
        },
    ),
    form(
        "facebook-token",
        "an access token of Facebook",
        &prefixed(&["eaa"], "EAA[A-Za-z0-9]{90,}"),
    ),
    form(
        "twitter-bearer-token",
        "an app's bearer token of X, formerly Twitter",
        &SecretForm {
            entropy: Entropy::Bits(3.0),
            ..prefixed(&["aaaaaaaaaaaaaaaaaaaa"], "A{20,22}[A-Za-z0-9%]{60,}")
        },
    ),
    form(
        "linkedin-secret",
        "a client secret of LinkedIn",
        &prefixed(
            &["wpl_ap"],
            r"WPL_AP[0-9]\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/=]{6,}",
        ),
    ),
    form(
        "hubspot-token",
        "a private app's token of HubSpot",
        &prefixed(
            &["pat-na1-", "pat-eu1-"],
            "pat-(?:na|eu)1-[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
        ),
    ),
    form(
        "typeform-token",
        "a token of Typeform",
        &prefixed(&["tfp_"], "tfp_[A-Za-z0-9_-]{40,}"),
    ),
    form(
        "contentful-token",
        "a personal token of Contentful",
        &prefixed(&["cfpat-"], "CFPAT-[A-Za-z0-9_-]{43}"),
    ),
    form(
        "dropbox-token",
        "a short-lived token of Dropbox",
        &prefixed(&["sl."], r"sl\.(?:u\.)?[A-Za-z0-9_-]{130,}"),
    ),
    form(
        "okta-token",
        "an API token of Okta",
        &prefixed(&["ssws "], "SSWS +(00[A-Za-z0-9_-]{40})"),
    ),
    form(
        "new-relic-key",
        "a user, browser or insert key of New Relic",
        &prefixed(
            &["nrak-", "nrjs-", "nrii-"],
            "(?:NRAK-[A-Z0-9]{27}|NRJS-[0-9a-f]{19}|NRII-[A-Za-z0-9_-]{32})",
        ),
    ),
    form(
        "new-relic-license-key",
        "a license key of New Relic",
        &SecretForm {
            begin: FormStart::Before(36),
            ..prefixed(&["nral"], "[0-9a-f]{36}NRAL")
        },
    ),
    form(
        "grafana-token",
        "a service account, cloud or API key of Grafana",
        &prefixed(
            &["glsa_", "glc_", "eyjriji"],
            "(?:glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}|eyJrIjoi[A-Za-z0-9+/_-]{70,}={0,2})",
        ),
    ),
    form(
        "sentry-token",
        "a token of Sentry, of an organisation or a user",
        &prefixed(
            &["sntrys_", "sntryu_"],
            "sntry(?:u_[0-9a-f]{64}|s_eyJ[A-Za-z0-9+/=]{20,}_[A-Za-z0-9+/]{43})",
        ),
    ),
    form(
        "dynatrace-token",
        "a token of Dynatrace",
        &prefixed(
            &["dt0c01.", "dt0s01."],
            r"dt0[cs]01\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
        ),
    ),
    form(
        "adafruit-key",
        "a key of Adafruit IO",
        &prefixed(&["aio_"], "aio_[A-Za-z0-9]{28}"),
    ),
    form(
        "mapbox-token",
        "a secret token of Mapbox",
        &prefixed(
            &["sk.eyj"],
            r"sk\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}",
        ),
    ),
    form(
        "launchdarkly-key",
        "an SDK or API key of LaunchDarkly",
        &prefixed(
            &["sdk-", "api-"],
            "(?:sdk|api)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        ),
    ),
];
