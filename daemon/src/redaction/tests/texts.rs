//! What is none, what stands under names in JSON, what the settings change.

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
    Redactor::default().value(&mut value, &mut Found::default());
    value
}

/// Words, placeholders, programs, names, hashes and examples of vendors are no secrets.
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

/// JSON is judged by the names that its strings stand under, as deep as they are.
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
    let mut found = Found::default();
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

/// Strings are judged as they read: escapes hide nothing, and lines of JSON are one after the other.
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
        let out = redactor.json(given.as_bytes(), &mut Found::default());
        assert_eq!(String::from_utf8(out.into_owned()).unwrap(), wanted, "{given}");
    }
    // Two keys that were told apart by their secrets alone stay two.
    let other = format!("ghp_{}", made(ALNUM, 36, 2));
    let two = json!({token.clone(): 1, other: 2});
    let wanted =
        json!({"[redacted:github-personal-token]": 1, "[redacted:github-personal-token] (2)": 2});
    assert_eq!(
        redactor.json(two.to_string().as_bytes(), &mut Found::default()),
        wanted.to_string().as_bytes()
    );
    assert_eq!(redacted(two), wanted);
}

/// What is no JSON is left to whoever refuses it.
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
        let mut found = Found::default();
        assert_eq!(
            redactor.json(given.as_bytes(), &mut found),
            given.as_bytes()
        );
        assert!(found.is_empty() && redactor.counts().is_empty());
    }
    let broken = [b"\"\xff".as_slice(), token.as_bytes(), b"\""].concat();
    assert_eq!(redactor.json(&broken, &mut Found::default()), broken);
}

/// Kinds can be off, values allowed, rules added; what is wrong is said.
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
        Rules::new(&settings).map(|rules| Redactor::new(Live::new(rules)))
    };
    let text_of = |redactor: Redactor| redactor.text(&text, &mut Found::default()).into_owned();
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
        own.text(&text, &mut Found::default())
            .ends_with("badge [redacted:badge]-ACME and [redacted:badge]-ACME")
    );
    assert_eq!(own.counts().get("badge"), Some(&2));
    let refused = |change: &dyn Fn(&mut Settings)| with(change).unwrap_err().to_string();
    assert!(
        refused(&|settings| settings.off.push("github-personal-tokens".to_owned()))
            .contains("`github-personal-token`")
    );
    assert!(refused(&|settings| settings.allow.push("/(/".to_owned())).contains("/(/"));
    for (name, rule, told) in [
        ("Badge", rule("x", None, &[]), "small letters"),
        ("jwt", rule("x", None, &[]), "built in"),
        ("badge", rule("x*", None, &[]), "empty text"),
        ("badge", rule("x", Some(1), &[]), "has 0 of them"),
        ("badge", rule("(x", None, &[]), "no pattern"),
        ("badge", rule("x{100000}{1000}", None, &[]), "no pattern"),
        ("badge", rule("x", None, &["\""]), "keyword"),
    ] {
        let said = refused(&|settings| drop(settings.rules.insert(name.to_owned(), rule.clone())));
        assert!(said.contains(told), "{said}");
    }
}
