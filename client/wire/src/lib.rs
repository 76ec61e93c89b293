//! `#[wire]`: what the types of the protocol have in common, declared once.
//!
//! A struct or enum gets `Debug`, `Clone`, `PartialEq`, serde in both directions and, with the feature `schema` of
//! the crate that declares it, a JSON Schema. Its fields follow these rules, unless they have an attribute of their
//! own for the same purpose:
//!
//! - `Option<T>` is left out when absent, and its schema is that of `T`: some hosts reject `null` in schemas.
//! - In `#[wire(args)]`, numbers, booleans, lists and objects are read leniently, a list may be absent unless it is
//!   marked `#[wire(required)]`, and unknown fields are rejected.
//! - `#[schema(...)]` is schemars' own attribute.
//!
//! An enum of plain names is also `Copy` and `Eq`, and its names are written in `snake_case`.
//!
//! `args(...)` and `reply(...)` list the common fields that a type has, in their order; `..` stands for its own
//! fields, which otherwise come first. `name = "..."` replaces a field's description. `common` declares them, and the
//! type implements `CommonArgs` or `CommonReply`.

mod common;

use proc_macro::TokenStream;
use proc_macro2::{TokenStream as Tokens, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, GenericArgument, Meta, PathArguments, Type,
    parse_macro_input, parse_quote,
};

use common::Kind;

/// Declares a type of the protocol; see the crate's documentation.
#[proc_macro_attribute]
pub fn wire(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let kind = parse_macro_input!(arguments as Kind);
    let is_args = matches!(kind, Kind::Args(_));
    let mut item = parse_macro_input!(item as DeriveInput);
    let common = match kind.add_to(&mut item) {
        Ok(common) => common,
        Err(error) => return error.into_compile_error().into(),
    };
    let mut added: Vec<Attribute> = vec![
        parse_quote!(#[derive(Debug, Clone, PartialEq, ::serde::Serialize, ::serde::Deserialize)]),
        parse_quote!(#[cfg_attr(feature = "schema", derive(::schemars::JsonSchema))]),
    ];
    if is_args {
        added.push(parse_quote!(#[serde(deny_unknown_fields)]));
    }
    match &mut item.data {
        Data::Struct(data) => complete(&mut data.fields, is_args),
        Data::Enum(data) => {
            if data
                .variants
                .iter()
                .all(|variant| variant.fields.is_empty())
            {
                added.push(parse_quote!(#[derive(Copy, Eq)]));
                if !has(&item.attrs, "rename_all") {
                    added.push(parse_quote!(#[serde(rename_all = "snake_case")]));
                }
            }
            for variant in &mut data.variants {
                complete(&mut variant.fields, is_args);
            }
        }
        Data::Union(_) => return quote!(compile_error!("a union has no JSON");).into(),
    }
    // Derive attributes must precede the attributes that they read.
    added.append(&mut item.attrs);
    item.attrs = added;
    quote!(#item #common).into()
}

fn complete(fields: &mut Fields, is_args: bool) {
    for field in fields {
        let is_required = take_required(&mut field.attrs);
        for attribute in &mut field.attrs {
            if attribute.path().is_ident("schema")
                && let Meta::List(list) = &attribute.meta
            {
                let settings = &list.tokens;
                *attribute = parse_quote!(#[cfg_attr(feature = "schema", schemars(#settings))]);
            }
        }
        let added = rules(field, is_args, is_required);
        field.attrs.extend(added);
    }
}

/// Returns the attributes that follow from the type of a field.
fn rules(field: &Field, is_args: bool, is_required: bool) -> Vec<Attribute> {
    let mut added = Vec::new();
    if has(&field.attrs, "skip") || has(&field.attrs, "flatten") {
        return added;
    }
    let optional = argument_of(&field.ty, "Option");
    let mut reader = is_args.then(|| lenient(optional.unwrap_or(&field.ty), optional.is_some()));
    if let Some(inner) = optional {
        if !has(&field.attrs, "skip_serializing_if") {
            added.push(parse_quote!(#[serde(default, skip_serializing_if = "Option::is_none")]));
        }
        if !has(&field.attrs, "with") {
            let inner = inner.to_token_stream().to_string();
            added.push(parse_quote!(#[cfg_attr(feature = "schema", schemars(with = #inner))]));
        }
    } else if is_args && !is_required && argument_of(&field.ty, "Vec").is_some() {
        added.push(parse_quote!(#[serde(default, skip_serializing_if = "Vec::is_empty")]));
    }
    if has(&field.attrs, "deserialize_with") {
        reader = None;
    }
    if let Some(reader) = reader.flatten() {
        let path = format!("crate::protocol::lenient_numbers::{reader}");
        added.push(parse_quote!(#[serde(deserialize_with = #path)]));
    }
    added
}

/// Returns the lenient deserialiser for a type.
fn lenient(ty: &Type, is_optional: bool) -> Option<&'static str> {
    let is_texts = argument_of(ty, "Vec").is_some_and(|item| is(item, "String"));
    match (is_optional, is_texts) {
        (true, true) => Some("some_texts"),
        (false, true) => Some("texts"),
        (true, false) if is(ty, "u64") || is(ty, "Position") => Some("unsigned"),
        (true, false) if is(ty, "bool") => Some("boolean"),
        (true, false) if is(ty, "Map") => Some("object"),
        (false, false) if is(ty, "u64") => Some("number"),
        (_, false) => None,
    }
}

fn is(ty: &Type, name: &str) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == name)
}

/// Returns `T` of `Name<T>`.
fn argument_of<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    let segment = last_segment(ty).filter(|segment| segment.ident == name)?;
    match &segment.arguments {
        PathArguments::AngleBracketed(list) => match list.args.first() {
            Some(GenericArgument::Type(ty)) => Some(ty),
            _ => None,
        },
        PathArguments::None | PathArguments::Parenthesized(_) => None,
    }
}

fn last_segment(ty: &Type) -> Option<&syn::PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// Whether an attribute other than documentation has this setting.
fn has(attributes: &[Attribute], setting: &str) -> bool {
    let is_read = |attribute: &&Attribute| !attribute.path().is_ident("doc");
    let mut read = attributes.iter().filter(is_read);
    read.any(|attribute| match &attribute.meta {
        Meta::List(list) => mentions(list.tokens.clone(), setting),
        Meta::Path(_) | Meta::NameValue(_) => false,
    })
}

fn mentions(tokens: Tokens, setting: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == setting,
        TokenTree::Group(group) => mentions(group.stream(), setting),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Removes the mark `#[wire(required)]` from a field and returns whether it was present.
fn take_required(attributes: &mut Vec<Attribute>) -> bool {
    let before = attributes.len();
    attributes.retain(|attribute| !attribute.path().is_ident("wire"));
    attributes.len() < before
}
