//! The JSON itself: fields in Go's names and order, bytes in base64.

use super::malformed;
use crate::{Error, base64};
use core::fmt;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

/// 32 bytes.
pub(super) struct Bytes(pub(super) Zeroizing<[u8; 32]>);

impl From<&[u8]> for Bytes {
    /// Takes the first 32; a hash value has no fewer here.
    fn from(bytes: &[u8]) -> Self {
        let mut value = Zeroizing::new([0; 32]);
        value.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Self(value)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Zeroizing::new(base64::encode(&self.0[..])))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("32 bytes in base64")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
                let bytes = base64::decode(text.as_bytes()).map(Zeroizing::new);
                let bytes = bytes.map_err(E::custom)?;
                if bytes.len() != 32 {
                    return Err(E::custom("not 32 bytes"));
                }
                Ok(Bytes::from(&bytes[..]))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub(super) struct Merkle {
    pub(super) leaf: u32,
    pub(super) height: u32,
    pub(super) auth: Vec<Bytes>,
    #[serde(rename = "Priv")]
    pub(super) priv_: Priv,
    pub(super) stacks: Vec<Stack>,
    pub(super) layer: u32,
    pub(super) tree: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub(super) struct Priv {
    pub(super) msg_seed: Bytes,
    pub(super) wots_seed: Bytes,
    pub(super) pub_seed: Bytes,
    pub(super) root: Bytes,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub(super) struct Stack {
    pub(super) stack: Vec<Node>,
    pub(super) height: u32,
    pub(super) leaf: u32,
    pub(super) layer: u32,
    pub(super) tree: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub(super) struct Node {
    pub(super) node: Bytes,
    pub(super) height: u32,
    pub(super) index: u32,
}

impl Merkle {
    /// Checks what a key of its height must have.
    pub(super) fn check_shape(&self) -> Result<(), Error> {
        let height = self.height as usize;
        if (self.layer, self.tree) != (0, 0) {
            return Err(malformed("a tree of a hypertree"));
        }
        if self.auth.len() != height {
            return Err(malformed("a path of another height"));
        }
        if self.stacks.len() != height {
            return Err(malformed("stacks of another height"));
        }
        for (level, stack) in (0..).zip(&self.stacks) {
            if (stack.height, stack.layer, stack.tree) != (level, 0, 0) {
                return Err(malformed("a stack out of its place"));
            }
            if stack.stack.iter().any(|node| node.height > level) {
                return Err(malformed("a node above its stack"));
            }
        }
        Ok(())
    }
}

/// Reads a key, of which a field has a wrong name, type or length at most.
pub(super) fn read(text: &str) -> Result<Merkle, Error> {
    if text.len() > MAX_TEXT {
        return Err(malformed("longer than a key of height 20"));
    }
    // The reader's message could quote a secret; which rule was broken is enough.
    serde_json::from_str(text).map_err(|error| {
        malformed(match error.classify() {
            serde_json::error::Category::Eof => "cut short",
            serde_json::error::Category::Syntax | serde_json::error::Category::Io => "not JSON",
            serde_json::error::Category::Data => "a field is missing, unknown or of another type",
        })
    })
}

/// Writes a key as Go does: no spaces, no line feed.
pub(super) fn write(key: &Merkle) -> Result<Zeroizing<String>, Error> {
    // One allocation: a buffer that grows leaves copies behind.
    let mut text = Zeroizing::new(Vec::with_capacity(MAX_TEXT));
    serde_json::to_writer(&mut *text, key).map_err(|_| malformed("cannot be written"))?;
    let text = core::str::from_utf8(&text).map_err(|_| malformed("cannot be written"))?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// More than a key of height 20 takes.
const MAX_TEXT: usize = 1 << 16;
