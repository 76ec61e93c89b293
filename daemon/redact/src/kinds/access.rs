//! Generic secrets: private keys, signed tokens, passwords in URLs and headers.

use super::{Entropy, FormStart, Kind, Recogniser, SecretForm, form, prefixed};

/// A private key between its two marker lines, or its base64 lines where the second marker is missing. Line ends may be
/// escaped as `\n`. Headers may not contain such a marker: otherwise each marker could take everything after it as
/// its headers.
macro_rules! pem {
    ($label:literal) => {
        &SecretForm {
            keywords: &[concat!("-----begin ", $label, "-----")],
            begin: FormStart::Within,
            pattern: concat!(
                "-----BEGIN ",
                $label,
                r"-----(?:\s|\\+[nr])*(?:[A-Za-z][A-Za-z-]{2,20}: (?:-{0,4}[^\r\n\\-])+(?:\s|\\+[nr])+)*",
                r"[A-Za-z0-9+/=]{24}[A-Za-z0-9+/=]*(?:\s|\\+[nr])*(?:[A-Za-z0-9+/=]{16,}(?:\s|\\+[nr])*)*",
                r"(?:(?:[A-Za-z0-9+/=]{1,15}(?:\s|\\+[nr])*){0,2}-----END ",
                $label,
                "-----)?"
            ),
            entropy: Entropy::Bits(2.0),
        }
    };
}

pub(super) const KINDS: &[Kind] = &[
    form(
        "private-key",
        "a private key in PEM (PKCS #8)",
        pem!("PRIVATE KEY"),
    ),
    form(
        "encrypted-private-key",
        "an encrypted private key in PEM (PKCS #8)",
        pem!("ENCRYPTED PRIVATE KEY"),
    ),
    form(
        "rsa-private-key",
        "an RSA private key in PEM",
        pem!("RSA PRIVATE KEY"),
    ),
    form(
        "ec-private-key",
        "an elliptic curve private key in PEM",
        pem!("EC PRIVATE KEY"),
    ),
    form(
        "dsa-private-key",
        "a DSA private key in PEM",
        pem!("DSA PRIVATE KEY"),
    ),
    form(
        "openssh-private-key",
        "a private key as OpenSSH writes it",
        pem!("OPENSSH PRIVATE KEY"),
    ),
    form(
        "ssh2-private-key",
        "a private key as RFC 4716's programs write it",
        pem!("SSH2 ENCRYPTED PRIVATE KEY"),
    ),
    form(
        "pgp-private-key",
        "an OpenPGP private key in its armour",
        pem!("PGP PRIVATE KEY BLOCK"),
    ),
    form(
        "putty-private-key",
        "the private part of a key of PuTTY",
        &SecretForm {
            keywords: &["private-lines:"],
            begin: FormStart::Here,
            pattern: r"Private-Lines: [0-9]{1,4}(?:\s|\\+[nr])+([A-Za-z0-9+/=]{24,}(?:(?:\s|\\+[nr])+[A-Za-z0-9+/=]{16,})*(?:(?:\s|\\+[nr])+[A-Za-z0-9+/]{1,15}=*)?)",
            entropy: Entropy::Bits(2.0),
        },
    ),
    form(
        "age-secret-key",
        "a secret key of age",
        &prefixed(
            &["age-secret-key-1"],
            "AGE-SECRET-KEY-1[AC-HJ-NP-Z02-9]{58}",
        ),
    ),
    form(
        "jwt",
        "a JSON Web Token, signed or encrypted",
        &SecretForm {
            begin: FormStart::Run("eyJ"),
            ..prefixed(
                &["eyj"],
                r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{10,}){0,2}",
            )
        },
    ),
    form(
        "bearer-token",
        "a token in an `Authorization` header",
        &SecretForm {
            keywords: &["bearer "],
            begin: FormStart::Here,
            pattern: "[Bb](?:earer|EARER) +([A-Za-z0-9._~+/-]{20,}=*)",
            entropy: Entropy::Random,
        },
    ),
    Kind {
        id: "basic-auth",
        what: "user and password in an `Authorization` header",
        how: Recogniser::Meant,
    },
    Kind {
        id: "url-password",
        what: "the password in an address: user and host stay",
        how: Recogniser::Address,
    },
    form(
        "curl-password",
        "the password in `curl -u user:password`",
        &SecretForm {
            keywords: &[" -u ", " --user "],
            begin: FormStart::Within,
            pattern: r#" (?:-u|--user) +["']?[A-Za-z0-9._@%+-]{1,64}:([^\s"':@/]{6,})["']?"#,
            entropy: Entropy::Password,
        },
    ),
    form(
        "netrc-password",
        "a password of a `.netrc` file",
        &SecretForm {
            keywords: &["login "],
            begin: FormStart::Here,
            pattern: r"login\s+[^\s]{1,128}\s+password\s+([^\s]{4,})",
            entropy: Entropy::Password,
        },
    ),
    form(
        "password-hash",
        "the salted hash of a password, as in `/etc/shadow`",
        &SecretForm {
            keywords: &["$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$argon2"],
            begin: FormStart::Within,
            pattern: r"\$(?:2[aby]\$[0-9]{2}\$[A-Za-z0-9./]{53}|[56]\$(?:rounds=[0-9]{1,9}\$)?[A-Za-z0-9./]{1,16}\$[A-Za-z0-9./]{43,86}|y\$[A-Za-z0-9./]{1,8}\$[A-Za-z0-9./]{1,64}\$[A-Za-z0-9./]{43}|argon2(?:id|i|d)\$v=[0-9]+\$m=[0-9]+,t=[0-9]+,p=[0-9]+\$[A-Za-z0-9+/]{8,}\$[A-Za-z0-9+/]{20,})",
            entropy: Entropy::Bits(3.0),
        },
    ),
];
