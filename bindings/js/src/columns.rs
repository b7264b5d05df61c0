//! Columns of byte strings, as the package's JavaScript hands them over: values and where each begins.

use crate::errors::{Failure, Kind};

/// The values of a column: value i is `data[offsets[i]..offsets[i + 1]]`.
pub(crate) fn values<'a>(
    name: &str,
    data: &'a [u8],
    offsets: &'a [u32],
) -> Result<impl Iterator<Item = &'a [u8]>, Failure> {
    let whole = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    let last = offsets.last().is_some_and(|last| *last as usize <= data.len());
    if !(whole && last) {
        let message =
            format!("the offsets of column {name} do not ascend within its {} bytes", data.len());
        return Err(Failure::new(Kind::Malformed, "input.column", message));
    }
    Ok(offsets.windows(2).map(|pair| &data[pair[0] as usize..pair[1] as usize]))
}
