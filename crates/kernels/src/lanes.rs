//! What the lanes of every hash function share: the list of kernels, and the way into each.

/// Expands to `Kernel`, to `Store`, which holds the rows of one kernel, and to `each!` and `run!`, which
/// reach them and call the kernel's jobs.
///
/// A kernel's line: its variant; its module, which has `L`, the rows' type `Soa` and the jobs; its name;
/// the family of instructions that it needs; and where it is compiled. `wide` and `narrow` list
/// kernels, the best first; `context` is what rows are made from.
macro_rules! lane_kernels {
    (context: $context:ty; wide: $wide:expr; narrow: $narrow:expr;
     $($(#[doc = $doc:literal])* $name:ident = $module:ident $label:literal, $family:expr, $cfg:meta;)*) => {
        /// The code that hashes the lanes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Kernel {
            $($(#[doc = $doc])* $name,)*
        }

        impl Kernel {
            /// All kernels, portable first.
            pub const ALL: &'static [Kernel] = &[$(Kernel::$name),*];

            /// The kernel's name in benchmarks.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Kernel::$name => $label,)*
                }
            }

            /// Says whether the CPU has this kernel's instructions and `TETRALITH_KERNEL` permits
            /// them.
            #[must_use]
            pub fn allowed(self) -> bool {
                let family: Option<$crate::cpu::Family> = match self {
                    $(Kernel::$name => $family,)*
                };
                family.is_none_or($crate::cpu::allowed)
            }

            /// The kernel with the highest throughput when its lanes are full.
            #[must_use]
            pub fn wide() -> Kernel {
                Self::first(&$wide)
            }

            /// The kernel to take for a few messages.
            #[must_use]
            pub fn narrow() -> Kernel {
                Self::first(&$narrow)
            }

            fn first(order: &[Kernel]) -> Kernel {
                order.iter().copied().find(|kernel| kernel.allowed()).unwrap_or(Kernel::Portable)
            }
        }

        enum Store {
            $(#[cfg($cfg)] $name(Box<$module::Soa>),)*
        }

        impl Store {
            /// Makes the rows of a kernel, which is allowed, and says how many lanes they have.
            fn new(kernel: Kernel, context: &$context) -> (Self, usize) {
                match kernel {
                    $(#[cfg($cfg)] Kernel::$name => (Store::$name($module::Soa::new(context)), $module::L),)*
                    // A kernel that is not compiled in is not allowed.
                    #[allow(unreachable_patterns)]
                    _ => (Store::Portable(portable::Soa::new(context)), portable::L),
                }
            }
        }

        /// Runs the same expression on the rows of whichever kernel this is.
        macro_rules! each {
            ($store:expr, $m:ident => $do:expr) => {
                match $store {
                    $(#[cfg($cfg)] Store::$name($m) => $do,)*
                }
            };
        }

        /// Runs the same expression, in which `kernel` is the module, likewise.
        macro_rules! run {
            ($store:expr, $m:ident => $do:expr) => {
                match $store {
                    $(#[cfg($cfg)] Store::$name($m) => {
                        use self::$module as kernel;
                        #[allow(unused_unsafe)] // the portable kernel needs no instructions
                        // SAFETY: the store's rows were made for a kernel that `cpu` allowed, having
                        // found its instructions.
                        unsafe { $do }
                    })*
                }
            };
        }
    };
}
pub(crate) use lane_kernels;

/// Expands to `load` and `store`, the ways of a row between memory and a vector.
///
/// A kernel's module has `L`, the lanes, and `V`, the vector; then come the word, and the instructions
/// that read and write without regard to alignment.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
macro_rules! row_memory {
    ($(#[$attr:meta])* $word:ty; $load:ident, $store:ident) => {
        const _: () = assert!(size_of::<[$word; L]>() == size_of::<V>(), "a row is a vector");

        $(#[$attr])*
        #[inline]
        fn load(row: &[$word; L]) -> V {
            // SAFETY: the row's bytes, which are readable, are as many as the vector's (above).
            unsafe { $load(row.as_ptr().cast()) }
        }

        $(#[$attr])*
        #[inline]
        fn store(row: &mut [$word; L], v: V) {
            // SAFETY: the row's bytes, which are writable, are as many as the vector's (above).
            unsafe { $store(row.as_mut_ptr().cast(), v) };
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
pub(crate) use row_memory;
