//! Wiping many bytes of secrets at the speed of memory.
//!
//! What `zeroize` wipes it writes element by element, a byte each time for bytes; a table of chains or
//! the lanes of a kernel take microseconds so. Here the memory is filled, and a barrier of `zeroize`
//! keeps the compiler from leaving the writes out because nobody reads them.

use zeroize::optimization_barrier;

/// Overwrites the elements with zeros.
pub fn wipe<T: Copy + Default>(secrets: &mut [T]) {
    secrets.fill(T::default());
    optimization_barrier(secrets);
}

/// Bytes that are wiped on drop.
///
/// # Security
/// What a growing vector left behind elsewhere is not wiped, so that this one cannot grow.
pub struct Wiped(Vec<u8>);

impl Wiped {
    /// Makes `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        Self(vec![0; len])
    }

    /// Gives the bytes away: they are secret no more.
    #[must_use]
    pub fn into_public(mut self) -> Vec<u8> {
        core::mem::take(&mut self.0)
    }
}

impl core::fmt::Debug for Wiped {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Wiped({} bytes)", self.0.len())
    }
}

impl core::ops::Deref for Wiped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl core::ops::DerefMut for Wiped {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wiped_words_are_zero() {
        let mut words = [7u32; 100];
        wipe(&mut words);
        assert_eq!(words, [0; 100]);
        let mut bytes = Wiped::zeros(3);
        bytes[1] = 5;
        assert_eq!(format!("{bytes:?}"), "Wiped(3 bytes)");
        assert_eq!(bytes.into_public(), [0, 5, 0]);
    }
}
