//! Hex digits into bytes, with or without `0x` before them.

/// Why a text is not hex.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotHex {
    /// Something else stands among the digits.
    #[error("not hex: {character:?} at position {position}")]
    Character {
        /// What stands there.
        character: char,
        /// Where, in bytes from the front of the text.
        position: usize,
    },
    /// Two digits make a byte.
    #[error("not hex: {digits} digits, an odd number")]
    Odd {
        /// How many digits there are.
        digits: usize,
    },
}

/// Decodes hex digits of either case, after `0x` where it is there.
///
/// # Errors
/// [`NotHex`]: what is wrong, and where.
pub fn decode_hex(text: &[u8]) -> Result<Vec<u8>, NotHex> {
    let mut bytes = Vec::new();
    append_hex(text, &mut bytes).map(|()| bytes)
}

/// Decodes to the end of `out`; on an error nothing is promised of what was appended.
pub(crate) fn append_hex(text: &[u8], out: &mut Vec<u8>) -> Result<(), NotHex> {
    let prefix = matches!(text, [b'0', b'x' | b'X', ..]);
    let digits = if prefix { &text[2..] } else { text };
    let start = out.len();
    out.resize(start + digits.len() / 2, 0);
    if hex::decode_to_slice(digits, &mut out[start..]).is_ok() {
        return Ok(());
    }
    let at = digits.iter().position(|byte| !byte.is_ascii_hexdigit());
    let Some(at) = at else { return Err(NotHex::Odd { digits: digits.len() }) };
    let rest = String::from_utf8_lossy(&digits[at..digits.len().min(at + 4)]);
    let character = rest.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
    Err(NotHex::Character { character, position: at + text.len() - digits.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_decoded_or_refused() {
        for (text, expected) in [
            ("", Ok(vec![])),
            ("0x", Ok(vec![])),
            ("00fF", Ok(vec![0, 255])),
            ("0XAb", Ok(vec![0xab])),
            ("0", Err("not hex: 1 digits, an odd number")),
            ("0x0", Err("not hex: 1 digits, an odd number")),
            ("0g", Err("not hex: 'g' at position 1")),
            ("0x0g1", Err("not hex: 'g' at position 3")),
            ("0x0x", Err("not hex: 'x' at position 3")),
            (" 00", Err("not hex: ' ' at position 0")),
            ("0é0", Err("not hex: 'é' at position 1")),
        ] {
            let said = decode_hex(text.as_bytes()).map_err(|error| error.to_string());
            assert_eq!(said, expected.map_err(str::to_owned), "{text}");
        }
    }
}
