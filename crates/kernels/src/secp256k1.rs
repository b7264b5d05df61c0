//! Points of secp256k1 times secrets, as many lanes at a time as the CPU has.
//!
//! Whole jobs for oblivious transfer, which multiplies hundreds of points by secrets: many scalars
//! times one point with a table of its multiples, and many points times one scalar. Eight lanes with
//! AVX-512 IFMA, four with AVX2, one without either; the points' formulas are written once (`points.rs`),
//! for the field of each.
//!
//! Points are in homogeneous coordinates with the complete formulas of Renes, Costello and Batina,
//! "Complete addition formulas for prime order elliptic curves" (EUROCRYPT 2016), Algorithms 7, 8 and
//! 9 for a = 0: no input needs a special case. Scalars are taken in signed digits of radix 16, from
//! −8 to 8: 65 of them with a table, and twice 33 of the halves by the curve's endomorphism (`glv.rs`)
//! without one, which takes half of the doublings.
//!
//! Everything is in constant time in scalars and choices: look-ups read the whole table, and masks
//! choose. Which encodings are points is public. Registers that were spilled to the stack are not wiped.

mod glv;
mod points;
mod portable;
mod powers;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;
#[cfg(test)]
mod tests;

use crate::cpu::{Family, allowed};

/// A compressed point: its parity tag 2 or 3, and its abscissa, big-endian; zeros for the identity.
pub type Compressed = [u8; 33];

/// A point's coordinates x and y, below p, big-endian.
pub type Affine = [[u8; 32]; 2];

/// Rows of a [`Table`]: digits of a scalar in radix 16.
const ROWS: usize = 65;
/// Multiples in a row.
const ROW: usize = 8;

/// p, big-endian.
const PRIME: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xfc, 0x2f,
];

/// The code that multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// Any CPU; one lane.
    Portable,
    /// AVX2; four lanes.
    Avx2,
    /// AVX-512 IFMA; eight lanes.
    Avx512,
}

impl Kernel {
    /// All kernels, the fastest first.
    pub const ALL: [Kernel; 3] = [Kernel::Avx512, Kernel::Avx2, Kernel::Portable];

    /// The fastest that this CPU has and `TETRALITH_KERNEL` permits.
    #[must_use]
    pub fn best() -> Kernel {
        Self::ALL.into_iter().find(|kernel| kernel.is_allowed()).unwrap_or(Kernel::Portable)
    }

    /// The kernel's name in benchmarks.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
            Kernel::Avx2 => "avx2",
            Kernel::Avx512 => "avx512",
        }
    }

    /// Says whether this CPU has the kernel's instructions and `TETRALITH_KERNEL` permits them.
    #[must_use]
    pub fn is_allowed(self) -> bool {
        match self {
            Kernel::Portable => true,
            Kernel::Avx2 => allowed(Family::Avx2),
            Kernel::Avx512 => allowed(Family::Avx512),
        }
    }

    /// As [`mul_points_all`], by this kernel: for tests.
    ///
    /// # Panics
    /// If the kernel is not allowed.
    #[must_use]
    pub fn mul_points_all(
        self,
        points: &[Compressed],
        scalar: &[u8; 32],
        addend: &Affine,
    ) -> Option<[Vec<Compressed>; 2]> {
        assert!(self.is_allowed(), "this CPU has the kernel's instructions");
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the CPU has AVX2, as asked just now.
            Kernel::Avx2 => unsafe { avx2::mul_points(points, scalar, addend) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the CPU has AVX-512 IFMA, as asked just now.
            Kernel::Avx512 => unsafe { ifma::mul_points(points, scalar, addend) },
            _ => portable::mul_points(points, scalar, addend),
        }
    }

    fn pack(self, coordinate: &[u8; 32]) -> [u64; 5] {
        match self {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => avx2::words::pack(coordinate),
            _ => portable::field::pack(coordinate),
        }
    }
}

/// The multiples 1 to 8 of 16^i P for i from 0 to 64, for [`mul_table_all`].
#[derive(Debug)]
pub struct Table {
    kernel: Kernel,
    rows: Vec<[[u64; 5]; 2]>,
}

impl Table {
    /// Computes the multiples of a public point, which must be on the curve.
    #[must_use]
    pub fn new(point: &Affine) -> Table {
        Self::with(Kernel::best(), point)
    }

    /// The same for one kernel: for tests.
    ///
    /// # Panics
    /// If the kernel is not allowed.
    #[must_use]
    pub fn with(kernel: Kernel, point: &Affine) -> Table {
        assert!(kernel.is_allowed(), "this CPU has the kernel's instructions");
        let packed = |point: &Affine| [kernel.pack(&point[0]), kernel.pack(&point[1])];
        Table { kernel, rows: portable::multiples(point).iter().map(packed).collect() }
    }
}

/// Multiplies the table's point by each scalar (32 bytes, big-endian), adds `addend` where the
/// scalar's entry in `choices` is 1, and compresses the results.
///
/// `choices`: as many bytes 0 or 1 as there are scalars, or none to add nothing.
///
/// # Security
/// Constant time.
#[must_use]
pub fn mul_table_all(
    table: &Table,
    scalars: &[[u8; 32]],
    addend: &Affine,
    choices: &[u8],
) -> Vec<Compressed> {
    match table.kernel {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a table for this kernel is made where the CPU has AVX2 alone.
        Kernel::Avx2 => unsafe { avx2::mul_table(&table.rows, scalars, addend, choices) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a table for this kernel is made where the CPU has AVX-512 IFMA alone.
        Kernel::Avx512 => unsafe { ifma::mul_table(&table.rows, scalars, addend, choices) },
        _ => portable::mul_table(&table.rows, scalars, addend, choices),
    }
}

/// Decompresses points, multiplies each by `scalar` (32 bytes, big-endian), and returns the products,
/// and the products plus `addend`, compressed. `None` if an encoding is not that of a point.
///
/// # Security
/// Constant time in the scalar, the addend and the points, but for which encodings are points.
#[must_use]
pub fn mul_points_all(
    points: &[Compressed],
    scalar: &[u8; 32],
    addend: &Affine,
) -> Option<[Vec<Compressed>; 2]> {
    Kernel::best().mul_points_all(points, scalar, addend)
}
