//! The proof that the CPU has the instructions of the four-lane kernels.

/// Shows that four-lane kernels may run: the CPU has AVX2, and `TETRALITH_KERNEL` permits it.
#[derive(Clone, Copy, Debug)]
pub struct Lanes4(());

impl Lanes4 {
    /// Looks at the CPU and at `TETRALITH_KERNEL`.
    #[must_use]
    pub fn detect() -> Option<Lanes4> {
        crate::cpu::allowed(crate::cpu::Family::Avx2).then_some(Lanes4(()))
    }
}
