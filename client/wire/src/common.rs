//! Common arguments of operations and common fields of replies.

use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, LitStr, Token, parse_quote};

/// Role of a type, from the arguments of `#[wire(...)]`.
pub enum Kind {
    /// A part of arguments or replies.
    Part,
    /// Arguments of an operation, or an object in them.
    Args(Vec<Item>),
    /// The reply of an operation.
    Reply(Vec<Item>),
}

/// An item in `args(...)` or `reply(...)`.
pub enum Item {
    /// A common field, optionally with another description.
    Common(Ident, Option<LitStr>),
    /// `..`: the fields that the type itself declares.
    Own,
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![..]) {
            input.parse::<Token![..]>()?;
            return Ok(Self::Own);
        }
        let name = input.parse()?;
        if !input.peek(Token![=]) {
            return Ok(Self::Common(name, None));
        }
        input.parse::<Token![=]>()?;
        Ok(Self::Common(name, Some(input.parse()?)))
    }
}

impl Parse for Kind {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Ok(Self::Part);
        }
        let name: Ident = input.parse()?;
        let mut items = Vec::new();
        match name.to_string().as_str() {
            "args" if input.is_empty() => {}
            // Most replies have `position, durable, warnings`.
            "reply" if input.is_empty() => {
                let most = ["position", "durable", "warnings"];
                items.extend(most.map(|name| Item::Common(format_ident!("{name}"), None)));
            }
            "args" | "reply" => {
                let list;
                syn::parenthesized!(list in input);
                items.extend(Punctuated::<Item, Token![,]>::parse_terminated(&list)?);
            }
            _ => return Err(Error::new(name.span(), "expected `args` or `reply`")),
        }
        Ok(match name == "args" {
            true => Self::Args(items),
            false => Self::Reply(items),
        })
    }
}

impl Kind {
    /// Adds the common fields to a struct and returns the implementation of their trait.
    pub fn add_to(self, item: &mut DeriveInput) -> syn::Result<Tokens> {
        let (items, declare, is_args): (_, fn(&Ident) -> Option<Field>, _) = match self {
            Self::Part => return Ok(Tokens::new()),
            Self::Args(items) => (items, argument, true),
            Self::Reply(items) => (items, reply_field, false),
        };
        let Data::Struct(data) = &mut item.data else {
            return Err(Error::new(
                item.ident.span(),
                "only a struct has common fields",
            ));
        };
        let Fields::Named(fields) = &mut data.fields else {
            return Err(Error::new(item.ident.span(), "common fields have names"));
        };
        let own = std::mem::take(&mut fields.named);
        let mut own = Some(own).filter(|own| !own.is_empty());
        if !items.iter().any(|item| matches!(item, Item::Own)) {
            fields.named.extend(own.take().into_iter().flatten());
        }
        let mut methods = Tokens::new();
        for item in items {
            let Item::Common(name, description) = item else {
                fields.named.extend(own.take().into_iter().flatten());
                continue;
            };
            let Some(mut field) = declare(&name) else {
                return Err(Error::new(name.span(), "unknown common field"));
            };
            if let Some(description) = description {
                field
                    .attrs
                    .retain(|attribute| !attribute.path().is_ident("doc"));
                field.attrs.insert(0, parse_quote!(#[doc = #description]));
            }
            if let Some(name) = &field.ident {
                methods.extend(getter(&name.to_string(), !is_args));
            }
            fields.named.push(field);
        }
        let name = &item.ident;
        let common = match is_args {
            true => quote!(crate::protocol::CommonArgs),
            false => quote!(crate::protocol::CommonReply),
        };
        Ok(quote!(impl #common for #name { #methods }))
    }
}

/// Returns the declaration of a common argument.
fn argument(name: &Ident) -> Option<Field> {
    Some(match name.to_string().as_str() {
        "session" => parse_quote! {
            /// The session; default: your own.
            pub session: Option<crate::protocol::SessionId>
        },
        "session_or_new" => parse_quote! {
            /// The session; default: your own, or a new one.
            pub session: Option<crate::protocol::SessionId>
        },
        "as_of" => parse_quote! {
            /// The state at this position or RFC 3339 time.
            #[serde(alias = "as_of")]
            pub as_of: Option<crate::protocol::AsOf>
        },
        "at_least" => parse_quote! {
            /// Wait until this position can be read.
            #[serde(alias = "at_least")]
            pub at_least: Option<crate::protocol::Position>
        },
        "fence" => parse_quote! {
            /// Token of a lease; fails if the lease is lost.
            pub fence: Option<crate::protocol::Position>
        },
        "key" => parse_quote! {
            /// Idempotency key, at most 256 bytes: a repeated call returns the first reply.
            pub key: Option<String>
        },
        "agent" => parse_quote! {
            /// The acting agent, if not the connection's agent.
            pub agent: Option<String>
        },
        _ => return None,
    })
}

/// Returns the declaration of a common reply field.
fn reply_field(name: &Ident) -> Option<Field> {
    Some(match name.to_string().as_str() {
        "position" => parse_quote! {
            /// Log position of the write; for a read that of the snapshot.
            pub position: crate::protocol::Position
        },
        "durable" => parse_quote! {
            /// Whether everything the reply depends on is on disk.
            pub durable: bool
        },
        "project" => parse_quote! {
            /// The project it belongs to.
            pub project: Option<String>
        },
        "warnings" => parse_quote! {
            /// Warnings for the caller.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub warnings: Vec<String>
        },
        "session" => parse_quote! {
            /// The session that was used, if it is about one.
            pub session: Option<crate::protocol::SessionId>
        },
        "chosen_by" => parse_quote! {
            /// How its session was chosen.
            pub chosen_by: Option<crate::protocol::ChosenBy>
        },
        "meta" => parse_quote! {
            /// Metadata of a reply with a prescribed structure.
            #[serde(skip)]
            pub meta: Option<crate::protocol::Meta>
        },
        _ => return None,
    })
}

/// Returns the trait method that reads or sets a common field.
fn getter(field: &str, is_reply: bool) -> Tokens {
    match field {
        "session" if !is_reply => quote! {
            fn session(&self) -> Option<&crate::protocol::SessionId> { self.session.as_ref() }
        },
        "as_of" => quote! {
            fn as_of(&self) -> Option<&crate::protocol::AsOf> { self.as_of.as_ref() }
        },
        "at_least" => quote! {
            fn at_least(&self) -> Option<crate::protocol::Position> { self.at_least }
        },
        "fence" => quote! {
            fn fence(&self) -> Option<crate::protocol::Position> { self.fence }
        },
        "key" => quote! {
            fn key(&self) -> Option<&str> { self.key.as_deref() }
        },
        "agent" => quote! {
            fn agent(&self) -> Option<&str> { self.agent.as_deref() }
        },
        "warnings" => quote! {
            fn warnings(&mut self) -> Option<&mut Vec<String>> { Some(&mut self.warnings) }
        },
        "chosen_by" => quote! {
            fn set_chosen_by(&mut self, by: crate::protocol::ChosenBy) {
                self.chosen_by = Some(by);
            }
        },
        "session" if is_reply => quote! {
            fn set_session(&mut self, id: &crate::protocol::SessionId) {
                self.session = Some(id.clone());
            }
        },
        "meta" => quote! {
            fn set_session(&mut self, id: &crate::protocol::SessionId) {
                if let Some(meta) = &mut self.meta {
                    meta.session = Some(id.clone());
                }
            }
            fn set_chosen_by(&mut self, by: crate::protocol::ChosenBy) {
                if let Some(meta) = &mut self.meta {
                    meta.chosen_by = Some(by);
                }
            }
            fn meta(&self) -> Option<crate::protocol::Meta> { self.meta.clone() }
            fn warnings(&mut self) -> Option<&mut Vec<String>> {
                self.meta.as_mut().map(|meta| &mut meta.warnings)
            }
        },
        _ => Tokens::new(),
    }
}
