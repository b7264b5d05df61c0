//! Preparing, using and wiping a ring of a secret modulus leaves nothing of it in memory that is given back.
//!
//! All memory comes zeroed here, and while a thread watches, each block that it gives back is read: no
//! word may need more than 48 bits. Small numbers and addresses do not; numbers modulo N, which are as
//! good as random, do, and so do their digits.

#![cfg(all(target_pointer_width = "64", not(miri)))]
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use tetralith_kernels::mont::{FastRing, Kernel, Ring};
use zeroize::Zeroize;

/// The system's allocator. A block that a vector outgrew is given back like any other.
struct Watching;

thread_local! {
    static WATCHING: Cell<bool> = const { Cell::new(false) };
    /// Blocks that were given back with something in them.
    static LEFT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: each call is passed on to the system's allocator as it is; only `realloc`, as the trait defines
// it, is made of the others.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller vouches.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if WATCHING.get() && layout.align() >= 8 {
            let words: *const u64 = block.cast();
            let large = (0..layout.size() / 8).any(|i| {
                // SAFETY: the word is of the block, which is still there, aligned, and came zeroed.
                let word = unsafe { words.wrapping_add(i).read_volatile() };
                word >> 48 != 0
            });
            LEFT.set(LEFT.get() + usize::from(large));
        }
        // SAFETY: as the caller vouches.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// How many blocks with something in them a job gives back.
fn left_by(job: impl FnOnce()) -> usize {
    LEFT.set(0);
    WATCHING.set(true);
    job();
    WATCHING.set(false);
    LEFT.get()
}

fn modulus(bits: usize) -> Vec<u64> {
    let mut limbs: Vec<u64> = (1..=bits.div_ceil(64) as u64)
        .map(|i| (i ^ i << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 60)
        .collect();
    limbs[0] |= 1;
    limbs
}

#[test]
fn what_is_left_is_seen() {
    assert_eq!(left_by(|| drop(modulus(128))), 1);
    assert_eq!(left_by(|| modulus(128).zeroize()), 0);
}

#[test]
fn nothing_is_left_of_a_plain_ring() {
    let (n, exponent) = (modulus(1024), modulus(256));
    let a = vec![7; n.len()];
    let left = left_by(|| {
        let mut ring = Ring::new(&n).unwrap();
        let mut entered = ring.enter(&a);
        let mut power = ring.pow(&entered, &exponent);
        let mut out = ring.leave(&power);
        for secret in [&mut entered, &mut power, &mut out] {
            secret.zeroize();
        }
        ring.zeroize();
    });
    assert_eq!(left, 0);
}

#[test]
fn nothing_is_left_of_a_ring_on_any_kernel() {
    for bits in [1024, 2048] {
        let (n, exponent) = (modulus(bits), modulus(256));
        let a = vec![7; n.len()];
        // What is found out once is found out by now.
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.fits(bits)) {
            let left = left_by(|| {
                let mut plain = Ring::new(&n).unwrap();
                let mut ring = FastRing::with_kernel(kernel, &plain).unwrap();
                plain.zeroize();
                let mut entered = ring.enter(&a);
                let mut power = ring.pow(&entered, &exponent);
                ring.square_assign(&mut power, 3);
                let mut out = ring.leave(&power);
                for secret in [&mut entered, &mut power, &mut out] {
                    secret.zeroize();
                }
                ring.zeroize();
            });
            assert_eq!(left, 0, "{bits} {kernel:?}");
        }
    }
}
