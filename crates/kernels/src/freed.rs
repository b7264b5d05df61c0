//! An allocator for tests that keeps freed memory, so that a test can search it for secrets.
//!
//! With the feature `freed`, which no release has. A test binary installs [`Keeping`] as its global
//! allocator. While [`Freed::watch`] runs a job, no block that the job's thread frees goes back to the
//! system: the block keeps its content, and [`Freed::found`] searches it afterwards. A block that a
//! growing vector left behind is among them.

use core::cell::Cell;
use core::ptr;
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;

/// The system's allocator, which keeps what a watched thread frees.
#[derive(Debug)]
pub struct Keeping;

/// A freed block: its address and its length in bytes.
type Block = (*const u8, usize);

thread_local! {
    /// Where this thread's freed blocks are recorded; null while nobody watches.
    static RECORD: Cell<*mut Vec<Block>> = const { Cell::new(ptr::null_mut()) };
}

// SAFETY: each call is passed on to the system's allocator, or, in `dealloc`, to nobody: a block that is
// never freed stays valid. `realloc`, as the trait defines it, is made of the others.
unsafe impl GlobalAlloc for Keeping {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A search reads whole blocks, so that no byte may be uninitialized.
        // SAFETY: as the caller vouches.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let record = RECORD.get();
        if record.is_null() {
            // SAFETY: as the caller vouches.
            unsafe { System.dealloc(block, layout) };
            return;
        }
        // SAFETY: `watch` set the pointer to a vector that only this thread uses until `watch` ends.
        let record = unsafe { &mut *record };
        // A push that grows the record would call this function again.
        assert!(
            record.len() < record.capacity(),
            "the job frees more blocks than the record holds"
        );
        record.push((block, layout.size()));
    }
}

/// The blocks that watched jobs freed.
#[derive(Debug)]
pub struct Freed(Vec<Block>);

impl Default for Freed {
    fn default() -> Self {
        Self(Vec::with_capacity(1 << 20))
    }
}

impl Freed {
    /// Runs a job and keeps what this thread frees meanwhile.
    ///
    /// # Panics
    /// If the job frees more than a million blocks.
    pub fn watch<T>(&mut self, job: impl FnOnce() -> T) -> T {
        RECORD.set(&raw mut self.0);
        let output = job();
        RECORD.set(ptr::null_mut());
        output
    }

    /// The names of the secrets of which the freed blocks hold eight consecutive bytes, in either
    /// byte order, at any address.
    ///
    /// # Panics
    /// If a secret is not a multiple of eight bytes, or eight of its bytes are too regular to search.
    #[must_use]
    pub fn found(&self, secrets: &[(String, Vec<u8>)]) -> Vec<String> {
        let mut names = HashMap::new();
        for (name, secret) in secrets {
            let (words, rest) = secret.as_chunks::<8>();
            assert!(rest.is_empty() && !words.is_empty(), "{name}: {} bytes", secret.len());
            for word in words {
                let distinct = word.iter().filter(|byte| **byte != word[0]).count();
                assert!(distinct > 1, "{name} is too regular");
                names.insert(u64::from_le_bytes(*word), name);
                names.insert(u64::from_be_bytes(*word), name);
            }
        }
        let mut found = Vec::new();
        for &(block, len) in &self.0 {
            // SAFETY: the block was allocated with `len` zeroed bytes and never went back to the system.
            let bytes = unsafe { core::slice::from_raw_parts(block, len) };
            for window in bytes.windows(8) {
                let word = window.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
                if let Some(&name) = names.get(&word) {
                    found.push(name.clone());
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }
}
