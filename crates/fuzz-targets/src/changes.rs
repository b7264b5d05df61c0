//! Small changes of valid bytes: for formats whose checksums and lengths random bytes never satisfy.

/// Applies changes of four bytes each, `at` (u16) ‖ how ‖ byte, and returns what follows them.
///
/// The first byte of `data` is the number of changes.
pub(crate) fn apply<'a>(data: &'a [u8], target: &mut Vec<u8>) -> &'a [u8] {
    let Some((&count, mut rest)) = data.split_first() else { return &[] };
    for _ in 0..count % 8 {
        let Some((&[high, low, how, byte], after)) = rest.split_first_chunk() else { break };
        rest = after;
        let at = usize::from(u16::from_be_bytes([high, low])) % (target.len() + 1);
        match how % 6 {
            0 => target.iter_mut().skip(at).take(1).for_each(|old| *old = byte),
            1 => target.iter_mut().skip(at).take(1).for_each(|old| *old ^= 1 << (byte % 8)),
            2 => target.insert(at, byte),
            3 if at < target.len() => drop(target.remove(at)),
            4 => target.truncate(at),
            // A run of bytes over others.
            5 => {
                let len = usize::from(byte).min(rest.len()).min(target.len() - at);
                let (put, after) = rest.split_at(len);
                target[at..at + len].copy_from_slice(put);
                rest = after;
            }
            _ => {}
        }
    }
    rest
}
