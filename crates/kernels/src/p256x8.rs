//! Eight points of P-256 at once, one in each lane of AVX-512 IFMA, for verifiers: variable time.
//!
//! A caller that has a [`Lanes8`](crate::lanes8::Lanes8) calls the functions here; on a CPU without these
//! instructions nobody has one, and [`crate::weierstrass`] does the work. The module compiles for every
//! target: where no kernel exists, [`portable`] takes its name.

#[cfg(target_arch = "x86_64")]
mod ifma;

/// The portable twin: the same jobs, lane by lane.
pub mod portable {
    pub use crate::weierstrass::eight::{decode_vartime, double_mul_vartime, encode_all};

    /// A group of eight points.
    pub type Points = crate::weierstrass::eight::Points<crate::weierstrass::P256>;
    /// One lane's point.
    pub type Lane = crate::weierstrass::eight::Lane<crate::weierstrass::P256>;
}

pub use crate::weierstrass::eight::DoubleMul;
#[cfg(target_arch = "x86_64")]
pub use ifma::{Lane, Points, decode_vartime, double_mul_vartime, encode_all};
#[cfg(not(target_arch = "x86_64"))]
pub use portable::{Lane, Points, decode_vartime, double_mul_vartime, encode_all};
