//! The proof that the CPU has the instructions of the eight-lane kernels.

/// Shows that eight-lane kernels may run: the CPU has AVX-512 F, BW, DQ, VL and IFMA, and
/// `TETRALITH_KERNEL` permits them. It exists on every target, and is never given where the
/// instructions do not exist, so that callers need not name an architecture.
#[derive(Clone, Copy, Debug)]
pub struct Lanes8(());

impl Lanes8 {
    /// Looks at the CPU and at `TETRALITH_KERNEL`.
    #[must_use]
    pub fn detect() -> Option<Lanes8> {
        crate::cpu::allowed(crate::cpu::Family::Avx512).then_some(Lanes8(()))
    }

    /// For the tests of portable twins on other targets: these need no instructions.
    #[cfg(all(test, not(target_arch = "x86_64")))]
    pub(crate) fn for_twins() -> Lanes8 {
        Lanes8(())
    }
}
