//! Secrets in the configuration of routers, switches and network services.

use super::{Entropy, FormStart, Kind, SecretForm, form, prefixed};

pub(super) const KINDS: &[Kind] = &[
    form(
        "netbox-token",
        "a token of NetBox, of the second version",
        &prefixed(&["nbt_"], r"nbt_[A-Za-z0-9]{12}\.[A-Za-z0-9]{40}"),
    ),
    form(
        "cisco-secret",
        "a user's or enable secret in the settings of a Cisco-like device",
        &SecretForm {
            keywords: &[
                "secret 0 ",
                "secret 4 ",
                "secret 5 ",
                "secret 8 ",
                "secret 9 ",
                "secret sha512 ",
            ],
            begin: FormStart::Here,
            pattern: r#"secret (?:[04589]|sha512) ([^\s"'\\]{4,})"#,
            entropy: Entropy::Certain,
        },
    ),
    form(
        "cisco-password",
        "a password in the settings of a Cisco-like device, in clear or veiled",
        &SecretForm {
            keywords: &["password 0 ", "password 7 ", "password 5 ", "password 6 "],
            begin: FormStart::Here,
            pattern: r#"password (?:0 ([^\s"'\\]{4,})|7 ([0-9A-Fa-f]{6,})|[56] ([^\s"'\\]{8,}))"#,
            entropy: Entropy::Set,
        },
    ),
    form(
        "tacacs-key",
        "the key of a TACACS+ or RADIUS server in the settings of a device",
        &SecretForm {
            keywords: &["tacacs-server ", "radius-server "],
            begin: FormStart::Here,
            pattern: r#"(?:tacacs|radius)-server (?:host [^\s]{1,128} )?(?:[a-z-]{2,20} [0-9]{1,5} ){0,4}key (?:[067] )?([^\s"'\\]{4,})"#,
            entropy: Entropy::Set,
        },
    ),
    form(
        "routing-key",
        "the key of a routing, time or login protocol in the settings of a device",
        &SecretForm {
            keywords: &[
                "key 6 ",
                "key 7 ",
                "key-string 7 ",
                "key-string 0 ",
                "md5 7 ",
            ],
            begin: FormStart::Here,
            pattern: r#"(?:key-string 0 ([^\s"'\\]{4,})|(?:key|key-string|md5) (?:7 ([0-9A-Fa-f]{6,})|6 ([^\s"'\\]{8,})))"#,
            entropy: Entropy::Certain,
        },
    ),
    form(
        "snmp-community",
        "the community of SNMP, which is its password",
        &SecretForm {
            keywords: &[
                "snmp-server community ",
                "snmp community ",
                "snmp-agent community ",
            ],
            begin: FormStart::Here,
            pattern: r#"snmp(?:-server|-agent)? community (?:read |write )?(?:cipher |simple )?([^\s"'\\;{]{3,})"#,
            entropy: Entropy::Set,
        },
    ),
    form(
        "snmp-user-key",
        "a key of an SNMPv3 user in the settings of a device",
        &SecretForm {
            keywords: &["auth md5 ", "auth sha ", "priv aes ", "priv des "],
            begin: FormStart::Here,
            pattern: r#"(?:auth (?:md5|sha)|priv (?:aes(?: (?:128|192|256))?|des)) (?:0x)?([^\s"'\\]{6,})"#,
            entropy: Entropy::Bits(2.0),
        },
    ),
    form(
        "junos-secret",
        "a secret in the settings of a Juniper device, veiled or hashed",
        &SecretForm {
            keywords: &["$9$", "$1$", "$8$"],
            begin: FormStart::Within,
            pattern: r"\$(?:9\$[A-Za-z0-9./-]{6,}[A-Za-z0-9/-]|1\$[A-Za-z0-9./]{1,8}\$[A-Za-z0-9./]{22}|8\$[A-Za-z0-9./]{14}\$[A-Za-z0-9./]{43})",
            entropy: Entropy::Bits(2.0),
        },
    ),
    form(
        "ipsec-key",
        "a pre-shared key of IPsec in the settings of a device",
        &SecretForm {
            keywords: &["pre-shared-key ", "crypto isakmp key "],
            begin: FormStart::Here,
            pattern: r#"(?:pre-shared-key (?:(?:local|remote|address|hostname) (?:[^\s]{1,64} )?(?:key )?|ascii-text |hexadecimal )?|crypto isakmp key )(?:[067] )?["']?([^\s"'\\;()]{6,})"#,
            entropy: Entropy::Set,
        },
    ),
];
