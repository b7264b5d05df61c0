//! Which instructions may be used: run-time detection, and the override for tests.
//!
//! A [`Family`] names a set of instructions. [`allowed`] says whether kernels of a family may run:
//! the CPU has them and `TETRALITH_KERNEL`, where set, permits them. The variable is read once.
//!
//! | `TETRALITH_KERNEL` | may be used |
//! |---|---|
//! | unset, or `auto` | all that the CPU has |
//! | `portable` | no kernel but the portable ones |
//! | `shani` | SHA-NI |
//! | `avx2` | AVX2 with FMA, BMI2 and ADX |
//! | `avx512` | all of AVX-512 F, BW, DQ, VL, IFMA, and AVX2 |
//! | `armsha` | the SHA-256 instructions of aarch64, and those of SHA-512 where it has them |
//! | `armsha512` | the SHA-512 instructions of aarch64 |
//! | `simd128` | SIMD128 of WebAssembly, where the program was compiled for it: WebAssembly cannot ask |

#[cfg(target_arch = "x86_64")]
use std::arch::is_x86_feature_detected as x86;
use std::sync::OnceLock;

/// A set of CPU instructions that kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Family {
    /// x86 SHA extensions with SSE4.1.
    ShaNi,
    /// AVX2 with FMA, BMI2 and ADX.
    Avx2,
    /// AVX-512 F, BW, DQ, VL and IFMA.
    Avx512,
    /// The SHA-256 instructions of aarch64.
    ArmSha,
    /// The SHA-512 instructions of aarch64.
    ArmSha512,
    /// SIMD128 of WebAssembly.
    Simd128,
}

/// The names that `TETRALITH_KERNEL` may take.
pub const NAMES: [&str; 8] =
    ["auto", "portable", "shani", "avx2", "avx512", "armsha", "armsha512", "simd128"];

impl Family {
    /// All families, in no order of speed.
    pub const ALL: [Family; 6] = [
        Family::ShaNi,
        Family::Avx2,
        Family::Avx512,
        Family::ArmSha,
        Family::ArmSha512,
        Family::Simd128,
    ];

    /// The family's name, as `TETRALITH_KERNEL` and benchmarks spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Family::ShaNi => "shani",
            Family::Avx2 => "avx2",
            Family::Avx512 => "avx512",
            Family::ArmSha => "armsha",
            Family::ArmSha512 => "armsha512",
            Family::Simd128 => "simd128",
        }
    }
}

/// Says whether this CPU and its operating system have the family's instructions.
#[must_use]
pub fn has(family: Family) -> bool {
    match family {
        #[cfg(target_arch = "x86_64")]
        Family::ShaNi => x86!("sha") && x86!("sse4.1") && x86!("ssse3"),
        #[cfg(target_arch = "x86_64")]
        Family::Avx2 => x86!("avx2") && x86!("fma") && x86!("bmi2") && x86!("adx"),
        #[cfg(target_arch = "x86_64")]
        Family::Avx512 => {
            x86!("avx512f")
                && x86!("avx512bw")
                && x86!("avx512dq")
                && x86!("avx512vl")
                && x86!("avx512ifma")
                && has(Family::Avx2)
        }
        #[cfg(target_arch = "aarch64")]
        Family::ArmSha => {
            std::arch::is_aarch64_feature_detected!("neon")
                && std::arch::is_aarch64_feature_detected!("sha2")
        }
        // Rust has one name for the instructions of SHA-3 and those of SHA-512.
        #[cfg(target_arch = "aarch64")]
        Family::ArmSha512 => {
            std::arch::is_aarch64_feature_detected!("neon")
                && std::arch::is_aarch64_feature_detected!("sha3")
        }
        Family::Simd128 => cfg!(all(target_arch = "wasm32", target_feature = "simd128")),
        #[allow(unreachable_patterns)] // each architecture has its own
        _ => false,
    }
}

/// A feature of the CPU, and the kernels of modular squaring that need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its maker's name.
    pub name: &'static str,
    /// Whether CPU and operating system have it.
    pub has: bool,
    /// The family that needs it.
    pub family: Family,
}

/// The features that decide how fast this CPU squares.
#[must_use]
pub fn squaring_features() -> Vec<Feature> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as x86;
        let feature = |name, has, family| Feature { name, has, family };
        vec![
            feature("AVX2", x86!("avx2"), Family::Avx2),
            feature("FMA", x86!("fma"), Family::Avx2),
            feature("BMI2 (MULX)", x86!("bmi2"), Family::Avx2),
            feature("ADX", x86!("adx"), Family::Avx2),
            feature("AVX-512F", x86!("avx512f"), Family::Avx512),
            feature("AVX-512DQ", x86!("avx512dq"), Family::Avx512),
            feature("AVX-512BW", x86!("avx512bw"), Family::Avx512),
            feature("AVX-512VL", x86!("avx512vl"), Family::Avx512),
            feature("AVX-512IFMA", x86!("avx512ifma"), Family::Avx512),
        ]
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

/// What `TETRALITH_KERNEL` asks for and cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelError {
    /// The value is none of [`NAMES`].
    Unknown(String),
    /// The family is known, and this CPU does not have it.
    Missing(Family),
}

impl core::fmt::Display for KernelError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Unknown(name) => {
                write!(f, "TETRALITH_KERNEL={name} is none of {}", NAMES.join(", "))
            }
            Self::Missing(family) => {
                write!(f, "TETRALITH_KERNEL={}: this CPU does not have it", family.name())
            }
        }
    }
}

impl core::error::Error for KernelError {}

/// Reads `TETRALITH_KERNEL`: `None` allows everything, `Some(&[])` nothing but portable code.
fn parse(value: Option<&str>) -> Result<Option<&'static [Family]>, KernelError> {
    let families: &'static [Family] = match value {
        None | Some("" | "auto") => return Ok(None),
        Some("portable") => &[],
        Some("shani") => &[Family::ShaNi],
        Some("avx2") => &[Family::Avx2],
        Some("avx512") => &[Family::Avx512, Family::Avx2],
        Some("armsha") => &[Family::ArmSha, Family::ArmSha512],
        Some("armsha512") => &[Family::ArmSha512],
        Some("simd128") => &[Family::Simd128],
        Some(other) => return Err(KernelError::Unknown(other.to_owned())),
    };
    match families.first() {
        Some(&family) if !has(family) => Err(KernelError::Missing(family)),
        _ => Ok(Some(families)),
    }
}

fn choice() -> &'static Result<Option<&'static [Family]>, KernelError> {
    static CHOICE: OnceLock<Result<Option<&'static [Family]>, KernelError>> = OnceLock::new();
    CHOICE.get_or_init(|| parse(std::env::var("TETRALITH_KERNEL").ok().as_deref()))
}

/// Says whether `TETRALITH_KERNEL` can be honoured; programs call it once at their start.
///
/// # Errors
/// The value is unknown, or names instructions that this CPU lacks. Until it is mended, every job
/// runs portable code.
pub fn check() -> Result<(), KernelError> {
    choice().as_ref().map(|_| ()).map_err(Clone::clone)
}

/// Says whether kernels of this family may be used by this process.
#[must_use]
pub fn allowed(family: Family) -> bool {
    match choice() {
        Ok(None) => has(family),
        Ok(Some(families)) => families.contains(&family) && has(family),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse() {
        assert_eq!(parse(None), Ok(None));
        assert_eq!(parse(Some("auto")), Ok(None));
        assert_eq!(parse(Some("portable")), Ok(Some(&[][..])));
        assert_eq!(parse(Some("AVX2")), Err(KernelError::Unknown("AVX2".into())));
        for family in Family::ALL {
            let parsed = parse(Some(family.name()));
            if has(family) {
                assert!(matches!(parsed, Ok(Some(list)) if list[0] == family));
            } else {
                assert_eq!(parsed, Err(KernelError::Missing(family)));
            }
        }
    }
}
