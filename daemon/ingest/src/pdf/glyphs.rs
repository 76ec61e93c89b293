//! Maps glyph names, as PDF fonts use them, to characters.

/// Glyph names other than single letters, numeric names and letters with a mark; sorted.
const NAMES: &[(&str, &str)] = &[
    ("AE", "Æ"),
    ("Dcroat", "Đ"),
    ("Delta", "Δ"),
    ("Eth", "Ð"),
    ("Euro", "€"),
    ("Lslash", "Ł"),
    ("OE", "Œ"),
    ("Omega", "Ω"),
    ("Scaron", "Š"),
    ("Sigma", "Σ"),
    ("Thorn", "Þ"),
    ("Zcaron", "Ž"),
    ("acute", "´"),
    ("ae", "æ"),
    ("alpha", "α"),
    ("ampersand", "&"),
    ("angleleft", "⟨"),
    ("angleright", "⟩"),
    ("approxequal", "≈"),
    ("arrowleft", "←"),
    ("arrowright", "→"),
    ("asciicircum", "^"),
    ("asciitilde", "~"),
    ("asterisk", "*"),
    ("at", "@"),
    ("backslash", "\\"),
    ("bar", "|"),
    ("beta", "β"),
    ("braceleft", "{"),
    ("braceright", "}"),
    ("bracketleft", "["),
    ("bracketright", "]"),
    ("breve", "˘"),
    ("brokenbar", "¦"),
    ("bullet", "•"),
    ("caron", "ˇ"),
    ("cedilla", "¸"),
    ("cent", "¢"),
    ("checkmark", "✓"),
    ("circumflex", "ˆ"),
    ("colon", ":"),
    ("comma", ","),
    ("copyright", "©"),
    ("currency", "¤"),
    ("dagger", "†"),
    ("daggerdbl", "‡"),
    ("dcroat", "đ"),
    ("degree", "°"),
    ("delta", "δ"),
    ("dieresis", "¨"),
    ("divide", "÷"),
    ("dollar", "$"),
    ("dotaccent", "˙"),
    ("dotlessi", "ı"),
    ("eight", "8"),
    ("element", "∈"),
    ("ellipsis", "…"),
    ("emdash", "—"),
    ("endash", "–"),
    ("epsilon", "ε"),
    ("equal", "="),
    ("eta", "η"),
    ("eth", "ð"),
    ("exclam", "!"),
    ("exclamdown", "¡"),
    ("ff", "ff"),
    ("ffi", "ffi"),
    ("ffl", "ffl"),
    ("fi", "fi"),
    ("five", "5"),
    ("fj", "fj"),
    ("fl", "fl"),
    ("florin", "ƒ"),
    ("four", "4"),
    ("fraction", "⁄"),
    ("gamma", "γ"),
    ("germandbls", "ß"),
    ("grave", "`"),
    ("greater", ">"),
    ("greaterequal", "≥"),
    ("guillemotleft", "«"),
    ("guillemotright", "»"),
    ("guilsinglleft", "‹"),
    ("guilsinglright", "›"),
    ("hungarumlaut", "˝"),
    ("hyphen", "-"),
    ("infinity", "∞"),
    ("integral", "∫"),
    ("lambda", "λ"),
    ("less", "<"),
    ("lessequal", "≤"),
    ("logicalnot", "¬"),
    ("lslash", "ł"),
    ("macron", "¯"),
    ("minus", "−"),
    ("mu", "µ"),
    ("multiply", "×"),
    ("nbspace", " "),
    ("nine", "9"),
    ("notequal", "≠"),
    ("numbersign", "#"),
    ("oe", "œ"),
    ("ogonek", "˛"),
    ("omega", "ω"),
    ("one", "1"),
    ("onehalf", "½"),
    ("onequarter", "¼"),
    ("onesuperior", "¹"),
    ("ordfeminine", "ª"),
    ("ordmasculine", "º"),
    ("paragraph", "¶"),
    ("parenleft", "("),
    ("parenright", ")"),
    ("partialdiff", "∂"),
    ("percent", "%"),
    ("period", "."),
    ("periodcentered", "·"),
    ("perthousand", "‰"),
    ("phi", "φ"),
    ("pi", "π"),
    ("plus", "+"),
    ("plusminus", "±"),
    ("question", "?"),
    ("questiondown", "¿"),
    ("quotedbl", "\""),
    ("quotedblbase", "„"),
    ("quotedblleft", "“"),
    ("quotedblright", "”"),
    ("quoteleft", "‘"),
    ("quoteright", "’"),
    ("quotesinglbase", "‚"),
    ("quotesingle", "'"),
    ("radical", "√"),
    ("registered", "®"),
    ("rho", "ρ"),
    ("ring", "˚"),
    ("scaron", "š"),
    ("section", "§"),
    ("semicolon", ";"),
    ("seven", "7"),
    ("sfthyphen", "-"),
    ("sigma", "σ"),
    ("similar", "∼"),
    ("six", "6"),
    ("slash", "/"),
    ("space", " "),
    ("sterling", "£"),
    ("summation", "∑"),
    ("tau", "τ"),
    ("theta", "θ"),
    ("thorn", "þ"),
    ("three", "3"),
    ("threequarters", "¾"),
    ("threesuperior", "³"),
    ("tilde", "˜"),
    ("trademark", "™"),
    ("two", "2"),
    ("twosuperior", "²"),
    ("underscore", "_"),
    ("visiblespace", " "),
    ("yen", "¥"),
    ("zcaron", "ž"),
    ("zero", "0"),
];

/// Letters with a mark: the ending of their names, then pairs of a letter and its marked form.
const MARKED: &[(&str, &str)] = &[
    ("acute", "AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćNŃnńSŚsśZŹzźLĹlĺRŔrŕ"),
    ("breve", "AĂaăGĞgğUŬuŭ"),
    ("caron", "CČcčDĎdďEĚeěNŇnňRŘrřSŠsšTŤtťZŽzž"),
    ("cedilla", "CÇcçSŞsşTŢtţ"),
    ("circumflex", "AÂEÊIÎOÔUÛaâeêiîoôuû"),
    ("commaaccent", "SȘsșTȚtțGĢKĶkķLĻlļNŅnņ"),
    ("dieresis", "AÄEËIÏOÖUÜYŸaäeëiïoöuüyÿ"),
    ("dotaccent", "CĊcċEĖeėGĠgġIİZŻzż"),
    ("grave", "AÀEÈIÌOÒUÙaàeèiìoòuù"),
    ("hungarumlaut", "OŐoőUŰuű"),
    ("macron", "AĀaāEĒeēIĪiīOŌoōUŪuū"),
    ("ogonek", "AĄaąEĘeęIĮiįUŲuų"),
    ("ring", "AÅaåUŮuů"),
    ("slash", "OØoø"),
    ("tilde", "AÃNÑOÕaãnñoõIĨiĩUŨuũ"),
];

/// Returns the text of a glyph by its name.
pub(super) fn text(name: &str) -> Option<String> {
    // The name of a variant follows a dot.
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return Some(letter.to_string());
    }
    if let Ok(at) = NAMES.binary_search_by_key(&name, |(name, _)| name) {
        return NAMES.get(at).map(|(_, text)| (*text).to_owned());
    }
    marked(name).map(String::from).or_else(|| by_number(name))
}

fn marked(name: &str) -> Option<char> {
    let letter = name.chars().next()?;
    let mark = name.get(letter.len_utf8()..)?;
    let (_, pairs) = MARKED.iter().find(|(ending, _)| *ending == mark)?;
    let mut pairs = pairs.chars();
    while let (Some(plain), Some(marked)) = (pairs.next(), pairs.next()) {
        if plain == letter {
            return Some(marked);
        }
    }
    None
}

/// Decodes numeric glyph names such as `uni20AC` and `u1F600`.
fn by_number(name: &str) -> Option<String> {
    let digits = name
        .strip_prefix("uni")
        .or_else(|| name.strip_prefix('u'))?;
    let digits = digits.get(
        ..digits
            .len()
            .min(if name.starts_with("uni") { 4 } else { 6 }),
    )?;
    let code = u32::from_str_radix(digits, 16)
        .ok()
        .filter(|_| digits.len() >= 4)?;
    char::from_u32(code).map(String::from)
}
