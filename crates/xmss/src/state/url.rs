//! Parts of the URLs that name servers. What is wrong with one is told without quoting it: any part
//! could be the password.

use super::StateError;

/// Takes some parameters out of a URL's query: the URL without them, and their values in their order.
pub(super) fn take<const N: usize>(
    url: &str,
    names: [&str; N],
) -> Result<(String, [Option<String>; N]), StateError> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let mut values = [const { None }; N];
    let mut rest = base.to_owned();
    let mut separator = '?';
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        match names.iter().position(|known| *known == name) {
            Some(at) if values[at].is_none() => values[at] = Some(decoded(value)?),
            Some(_) => return Err(StateError::Url("the store's URL has a parameter twice")),
            None => {
                rest.push(separator);
                rest += part;
                separator = '&';
            }
        }
    }
    Ok((rest, values))
}

/// A part of a URL without its percent signs.
pub(super) fn decoded(text: &str) -> Result<String, StateError> {
    let wrong = || StateError::Url("the store's URL has a percent sign that stands for nothing");
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2).ok_or_else(wrong)?;
        let [high, low] = [0, 1].map(|i| char::from(digits[i]).to_digit(16));
        bytes.push((high.ok_or_else(wrong)? * 16 + low.ok_or_else(wrong)?) as u8);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_taken_out() {
        let (rest, [a, b, c]) = take("x://h/d?a=1%2f&z=2&b&y", ["a", "b", "c"]).unwrap();
        assert_eq!(rest, "x://h/d?z=2&y");
        assert_eq!((a.as_deref(), b.as_deref(), c), (Some("1/"), Some(""), None));
        assert_eq!(take("x://h", ["a"]).unwrap(), ("x://h".into(), [None]));
        assert_eq!(take("x://h?a=1", ["a"]).unwrap(), ("x://h".into(), [Some("1".into())]));
        assert!(take("x://h?a=1&a=2", ["a"]).is_err());
        assert!(take("x://h?a=%+1", ["a"]).is_err());
        assert!(take("x://h?a=%", ["a"]).is_err());
    }
}
