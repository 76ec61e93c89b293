//! Tests of non-secrets, named values in JSON, and settings.

use serde_json::{Value, json};

use super::*;

fn findings(text: &str) -> Vec<(String, String)> {
    let found = Redactor::default().findings(text).into_iter();
    found
        .map(|one| (one.kind.to_string(), text[one.range].to_owned()))
        .collect()
}

fn redacted(value: Value) -> Value {
    let mut value = value;
    Redactor::default().value(&mut value, &mut SecretCounts::default());
    value
}

/// A value next to its name, as in lists of variables and in elements, is found; others stay.
#[test]
fn values_beside_their_names() {
    for (before, after) in [
        (
            "env:\n  - name: DB_PASSWORD\n    value: ",
            "\n  - name: EDITOR\n    value: vi\n",
        ),
        ("env:\r\n- name: 'DB_PASSWORD'\r\n  value: \"", "\"\r\n"),
        ("{\"text\": \"- name: DB_PASSWORD\\n  value: ", "\\n\"}"),
        ("<property name=\"db.password\" value=\"", "\"/>"),
        ("<add key='Password' value='", "' />"),
    ] {
        let text = format!("{before}s3cr3t9X{after}");
        let wanted = format!("{before}[redacted:password]{after}");
        let mut found = SecretCounts::default();
        assert_eq!(Redactor::default().text(&text, &mut found), wanted);
    }
    for plain in [
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: db, key: s3cr3t9X}\n",
        "- name: EDITOR\n  value: s3cr3t9X\n",
        "- name: DB_PASSWORD\n- name: HOST\n  value: s3cr3t9X\n",
        "<input name=\"password\" value=\"Your password\">",
        "<property name=\"db.password\" value=\"${db.password}\"/>",
        "the name: password, and the value: s3cr3t9X",
    ] {
        let mut found = SecretCounts::default();
        assert_eq!(Redactor::default().text(plain, &mut found), plain);
    }
}

/// The output of `env` names working folders as other programs name passwords.
#[test]
fn working_folders_of_a_shell_stay() {
    for plain in [
        "PWD=/tmp/build-c04tg1o8/home/project\nOLDPWD=/srv/k8sX9/app2\n",
        "export OLDPWD=\"/home/ada/work9Q\"",
    ] {
        let mut found = SecretCounts::default();
        assert_eq!(Redactor::default().text(plain, &mut found), plain);
    }
    for secret in ["PWD=s3cr3t9X", "pwd=/s3cr3t9X", "DB_PWD=/s3cr3t9X"] {
        let mut found = SecretCounts::default();
        let redacted = Redactor::default().text(secret, &mut found);
        assert!(redacted.contains("[redacted:password]"), "{redacted}");
    }
}

/// Words, placeholders, programs, names, hashes and vendors' examples are not secrets.
#[test]
fn ordinary_texts_stay() {
    let uuid = put(&UUID, 8);
    let hash = made(HEX, 64, 8);
    for text in [
        "Password: required",
        "password: string;",
        "password = getpass.getpass()",
        "password=os.environ['DB_PASSWORD']",
        "self.password = password",
        "let token = tokenizer.next_token()?;",
        "token: Option<String>,",
        "api_key: ${API_KEY}",
        "API_KEY=<your api key>",
        "api_key = \"YOUR_API_KEY_GOES_HERE_1234\"",
        "secret: {{ vault_secret }}",
        "password: ********",
        "password=changeme",
        "TOKEN=xxxxxxxxxxxxxxxxxxxxxxxx",
        "secret_name: prod/billing/db-credentials-1",
        "private_key: /etc/ssl/private/server-2026.key",
        "next_page_token: CAUQAA8xkd93kdkDKEkd93kd",
        "\"progressToken\": \"abcd1234efgh5678ijkl\"",
        "max_tokens: 4096",
        "primary_key = 'a1b2c3d4e5f6a7b8c9d0'",
        "public_key: AAAAB3NzaC1yc2EAAAADAQABAAABgQC3F1tYk8d93kd",
        "postgres://user:password@localhost/db",
        "https://user:$PASSWORD@host/",
        "http://localhost:8080/a@b",
        "docker run -u 1000:1000 image",
        "if password == \"Sw0rdf1sh!\"",
        "password :: Text",
        "use bearer authentication for everything here",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "-----BEGIN RSA PRIVATE KEY----- is how it begins",
        "snmp-server community public RO",
        "the key 7 of the map and password 7 times",
        "it uses pre-shared-key authentication with the peer",
        "the log says pre-shared-key mismatch",
        "the snmp community strings were changed",
        "a radius-server key rotation is due",
        "choose a password 6 characters long",
        "eyJust.a.word",
        "[redacted:api-key]",
        "password=[redacted:password]",
    ] {
        assert_eq!(findings(text), [], "{text}");
    }
    for text in [
        format!("id: {uuid}"),
        format!("sha256: {hash}"),
        format!("commit {}", &hash[..40]),
    ] {
        assert_eq!(findings(&text), [], "{text}");
    }
    // AWS's own examples.
    let id = ["AKIA", "IOSFODNN7EXAMPLE"].concat();
    let secret = ["wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY"].concat();
    assert_eq!(
        findings(&format!(
            "aws_access_key_id={id}\naws_secret_access_key={secret}"
        )),
        []
    );
}

/// JSON strings are checked by their key names at any depth.
#[test]
fn names_of_json_are_context() {
    let (secret, word) = (made(ALNUM, 24, 1), "swordfish");
    let given = json!({
        "password": word,
        "note": word,
        "deep": [{"client_secret": secret, "n": 1.10}],
        "env": [{"name": "DB_PASSWORD", "value": word}, {"name": "EDITOR", "value": word}],
        "api_keys": {"api_key": {"value": secret}},
        "auth": {"Authorization": format!("Bearer {secret}")},
        "list": {"access_token": [secret, 5, null]},
        "inner": json!({"password": word, "keep": word}).to_string(),
        "password_hint": word,
        "token": 12_345_678,
    });
    let wanted = json!({
        "password": "[redacted:password]",
        "note": word,
        "deep": [{"client_secret": "[redacted:secret]", "n": 1.10}],
        "env": [{"name": "DB_PASSWORD", "value": "[redacted:password]"}, {"name": "EDITOR", "value": word}],
        "api_keys": {"api_key": {"value": "[redacted:api-key]"}},
        "auth": {"Authorization": "Bearer [redacted:bearer-token]"},
        "list": {"access_token": ["[redacted:token]", 5, null]},
        "inner": json!({"password": "[redacted:password]", "keep": word}).to_string(),
        "password_hint": word,
        "token": 12_345_678,
    });
    assert_eq!(redacted(given.clone()), wanted);
    let text = given.to_string();
    let redactor = Redactor::default();
    let mut found = SecretCounts::default();
    let out = redactor.json(text.as_bytes(), &mut found);
    assert_eq!(std::str::from_utf8(&out).unwrap(), wanted.to_string());
    assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), 7);
    assert_eq!(redactor.counts().get("password"), Some(&3));
    assert!(
        found
            .sentence()
            .unwrap()
            .starts_with("7 secrets were redacted")
    );
}

/// A name means the same however its words are joined, in JSON text and in parsed JSON.
#[test]
fn names_are_joined_in_many_ways() {
    let secret = made(ALNUM, 30, 7);
    for name in [
        "db_pass",
        "db-pass",
        "db.pass",
        "db:pass",
        "db pass",
        "db/pass",
        "dbPass",
        "db_pw",
        "db.pw",
        "db:pw",
        "npm.pat",
        "db:token",
        "(db)+password",
    ] {
        let value = json!({ name: secret });
        let apart = redacted(value.clone());
        assert_ne!(apart, value, "{name}");
        let mut found = SecretCounts::default();
        let text = value.to_string();
        let text = Redactor::default()
            .json(text.as_bytes(), &mut found)
            .into_owned();
        assert_eq!(
            serde_json::from_slice::<Value>(&text).unwrap(),
            apart,
            "{name}"
        );
    }
    for name in ["dbPass", "spring.mail.pass"] {
        assert_eq!(findings(&format!("{name}={secret}")).len(), 1, "{name}");
    }
}

/// In configuration lines, the argument of a command is a secret whatever it looks like.
#[test]
fn lines_of_configurations_are_redacted() {
    for (before, secret, kind) in [
        (" pre-shared-key ", "authenticate", "ipsec-key"),
        (
            "hostname r1\nsnmp-server community ",
            "ourstrings",
            "snmp-community",
        ),
        ("r1(config)# radius-server key ", "rotation", "tacacs-key"),
        ("username bob password 0 ", "characters", "cisco-password"),
        (
            "a\\nneighbor 192.0.2.1 password 0 ",
            "characters",
            "cisco-password",
        ),
        (
            "set it with snmp-server community ",
            "Zk81qWx",
            "snmp-community",
        ),
    ] {
        let found = [(kind.to_owned(), secret.to_owned())];
        assert_eq!(findings(&format!("{before}{secret}")), found);
    }
}

/// Under a data key, a password may contain any characters; a placeholder must span the whole value.
#[test]
fn passwords_of_any_characters_are_redacted_under_keys() {
    for password in [
        "x9(Kd!f2mQ",
        "a<7Tq|pW2z",
        "&kP92{mz}Q",
        "#8vT-q.Lw3",
        "-Zr4]uB7[x",
        "=9sD\\k2.Qm",
        "\\2fG_h7Tq9",
        ".K3n)v(8Rw",
        "J4$(mW8q!z",
        "t5${Rk9m%2",
        "p8(Kd!f2mQ)",
    ] {
        let wanted = json!({"password": "[redacted:password]"});
        assert_eq!(
            redacted(json!({"password": password})),
            wanted,
            "{password}"
        );
    }
    let printable: String = ('!'..='~').collect();
    let made = (1..=1000).map(|seed| made(&printable, 20, seed));
    let stay = made.filter(|one| redacted(json!({"password": one}))["password"] == **one);
    let stay: Vec<String> = stay.collect();
    assert!(stay.len() <= 10, "{stay:?}");
    for other in [
        "<your-password>",
        "${DB_PASSWORD}",
        "pre-${DB_PASSWORD}",
        "{{vault.password}}",
        "$(pass)",
        "%(password)s",
        "$DB_PASSWORD",
        "<%=password%>",
        "[filtered]",
        "(unset)",
        "getpass.getpass()",
        "os.environ['DB_PASSWORD']",
        "env[\"DB_PASSWORD\"]",
        "Option<String>",
        "string|null",
        "string[]",
        "#login-password",
        ".password-field",
        "--password",
        "config.db.password",
    ] {
        let given = json!({"password": other});
        assert_eq!(redacted(given.clone()), given);
    }
}

/// Strings are checked unescaped, and JSON lines one after the other.
#[test]
fn escapes_hide_nothing() {
    let redactor = Redactor::default();
    let token = format!("ghp_{}", made(ALNUM, 36, 1));
    let hidden: String = token
        .chars()
        .map(|c| format!("\\u{:04x}", u32::from(c)))
        .collect();
    let key = pem("RSA PRIVATE KEY", 2);
    for (given, wanted) in [
        (format!(r#"{{"a": "{hidden}", "n": 1.500}}"#), r#"{"a": "[redacted:github-personal-token]", "n": 1.500}"#.to_owned()),
        (r#"{"p\u0061ssword" : "swordfish"}"#.to_owned(), r#"{"p\u0061ssword" : "[redacted:password]"}"#.to_owned()),
        (r#"{"u": "http:\/\/bob:Sw0rdf1sh@h\/"}"#.to_owned(), r#"{"u": "http://bob:[redacted:url-password]@h/"}"#.to_owned()),
        (format!("{{\"a\": \"x\\n{token}\"}}\n{{\"b\": {}}}\n", Value::from(key)), "{\"a\": \"x\\n[redacted:github-personal-token]\"}\n{\"b\": \"[redacted:rsa-private-key]\"}\n".to_owned()),
        (format!(r#"{{"{token}": 1, "{}": 2}}"#, token.to_ascii_lowercase().replacen("ghp_", "gho_", 1)), r#"{"[redacted:github-personal-token]": 1, "[redacted:github-oauth-token]": 2}"#.to_owned()),
        (format!("[\"\\ud800{token}\"]"), "[\"\u{fffd}[redacted:github-personal-token]\"]".to_owned()),
    ] {
        let out = redactor.json(given.as_bytes(), &mut SecretCounts::default());
        assert_eq!(String::from_utf8(out.into_owned()).unwrap(), wanted, "{given}");
    }
    // Two keys that differ only in their secrets stay distinct.
    let other = format!("ghp_{}", made(ALNUM, 36, 2));
    let two = json!({token.clone(): 1, other: 2});
    let wanted =
        json!({"[redacted:github-personal-token]": 1, "[redacted:github-personal-token] (2)": 2});
    assert_eq!(
        redactor.json(two.to_string().as_bytes(), &mut SecretCounts::default()),
        wanted.to_string().as_bytes()
    );
    assert_eq!(redacted(two), wanted);
}

/// Invalid JSON stays unchanged; the parser refuses it later.
#[test]
fn what_is_no_json_stays() {
    let redactor = Redactor::default();
    let token = format!("ghp_{}", made(ALNUM, 36, 1));
    for given in [
        format!("{{\"a\": \"{token}\""),
        format!("{{\"a\": \"{token}\"}} x"),
        format!("{{\"a\": \"{token}\", }}"),
        format!("[\"{token}\" \"b\"]"),
        format!("[\"{token}\", \"\\q\"]"),
        format!("[\"{token}\", 01]"),
        "[".repeat(100_000) + &token,
    ] {
        let mut found = SecretCounts::default();
        assert_eq!(
            redactor.json(given.as_bytes(), &mut found),
            given.as_bytes()
        );
        assert!(found.is_empty() && redactor.counts().is_empty());
    }
    let broken = [b"\"\xff".as_slice(), token.as_bytes(), b"\""].concat();
    assert_eq!(redactor.json(&broken, &mut SecretCounts::default()), broken);
}

/// Kinds can be disabled, values allowed and rules added; invalid settings are reported.
#[test]
fn settings_are_followed() {
    let token = format!("ghp_{}", made(ALNUM, 36, 1));
    let word = "Sw0rdf1shes";
    let text = format!("{token} password={word} badge 4711-ACME and 4712-ACME");
    let rule = |pattern: &str, group, keywords: &[&str]| OwnRule {
        pattern: pattern.to_owned(),
        group,
        keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
    };
    let with = |change: &dyn Fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        Rules::new(&settings).map(|rules| Redactor::new(SharedRules::new(rules)))
    };
    let text_of = |redactor: Redactor| {
        redactor
            .text(&text, &mut SecretCounts::default())
            .into_owned()
    };
    let off = with(&|settings| settings.off.push("password".to_owned())).unwrap();
    assert!(text_of(off).starts_with(&format!("[redacted:github-personal-token] password={word}")));
    let none = with(&|settings| settings.enabled = false).unwrap();
    assert_eq!(text_of(none), text);
    for allowed in ["Sw0rdf1shes", "/Sw0.*/"] {
        let redactor = with(&|settings| settings.allow.push(allowed.to_owned())).unwrap();
        assert!(text_of(redactor).contains(&format!("password={word}")));
    }
    let part = with(&|settings| settings.allow.push("/Sw0/".to_owned())).unwrap();
    assert!(text_of(part).contains("password=[redacted:password]"));
    let own = with(&|settings| {
        settings.rules.insert(
            "badge".to_owned(),
            rule("([0-9]{4})-ACME", Some(1), &["acme"]),
        );
    })
    .unwrap();
    assert!(
        own.text(&text, &mut SecretCounts::default())
            .ends_with("badge [redacted:badge]-ACME and [redacted:badge]-ACME")
    );
    assert_eq!(own.counts().get("badge"), Some(&2));
    let refused = |change: &dyn Fn(&mut Settings)| with(change).unwrap_err().to_string();
    assert!(
        refused(&|settings| settings.off.push("github-personal-tokens".to_owned()))
            .contains("`github-personal-token`")
    );
    assert!(refused(&|settings| settings.allow.push("/(/".to_owned())).contains("/(/"));
    for (name, rule, reported) in [
        ("Badge", rule("x", None, &[]), "lower-case letters"),
        ("jwt", rule("x", None, &[]), "built in"),
        ("badge", rule("x*", None, &[]), "empty text"),
        ("badge", rule("x", Some(1), &[]), "has 0 of them"),
        ("badge", rule("(x", None, &[]), "no pattern"),
        ("badge", rule("x{100000}{1000}", None, &[]), "no pattern"),
        ("badge", rule("x", None, &["\""]), "keyword"),
    ] {
        let said = refused(&|settings| drop(settings.rules.insert(name.to_owned(), rule.clone())));
        assert!(said.contains(reported), "{said}");
    }
}
