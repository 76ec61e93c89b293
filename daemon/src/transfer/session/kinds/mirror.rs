//! Declares payloads, and converts those that have the fields of a stored type.

use crate::entities::{MentionSource, MergeBasis};

/// Declares a payload or a part of one: an object with these fields and no others. With `= Stored` it has the fields
/// of that type and is converted from it and to it.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$attr])* pub $field: $type,)* }
    };
    ($(#[$doc:meta])* $name:ident = $stored:ty { $($(#[$attr:meta])* $field:ident: $type:ty,)* }) => {
        super::mirror::object! {
            $(#[$doc])* $name { $($(#[$attr])* $field: $type,)* }
        }

        impl super::mirror::Mirror<$name> for $stored {
            fn mirror(self) -> $name {
                $name { $($field: super::mirror::Mirror::mirror(self.$field),)* }
            }
        }

        impl super::mirror::Mirror<$stored> for $name {
            fn mirror(self) -> $stored {
                type StoredType = $stored;
                StoredType { $($field: super::mirror::Mirror::mirror(self.$field),)* }
            }
        }
    };
}

pub(super) use object;

/// Conversion between a stored type and the payload with the same fields.
pub trait Mirror<T> {
    /// Converts the value.
    fn mirror(self) -> T;
}

impl<T: Mirror<U>, U> Mirror<Vec<U>> for Vec<T> {
    fn mirror(self) -> Vec<U> {
        self.into_iter().map(Mirror::mirror).collect()
    }
}

impl<T: Mirror<U>, U> Mirror<Option<U>> for Option<T> {
    fn mirror(self) -> Option<U> {
        self.map(Mirror::mirror)
    }
}

/// Types that payloads and stored events share.
macro_rules! shared {
    ($($type:ty,)*) => {$(
        impl Mirror<Self> for $type {
            fn mirror(self) -> Self {
                self
            }
        }
    )*};
}

shared! {
    String,
    bool,
    u8,
    u32,
    u64,
    (u32, u32),
    MentionSource,
    MergeBasis,
}
