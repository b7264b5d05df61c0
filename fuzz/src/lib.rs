//! Gives the targets of `crates/fuzz-targets` to libFuzzer.

#[doc(hidden)]
pub use libfuzzer_sys;
#[doc(hidden)]
pub use tetralith_fuzz_targets::Target;

/// Makes a binary of the target with this name.
#[macro_export]
macro_rules! fuzz {
    ($name:ident) => {
        // A panic that a library catches is no crash; libFuzzer sees those that nobody catches.
        $crate::libfuzzer_sys::fuzz_target!(
            init: std::panic::set_hook(Box::new(|panic| eprintln!("{panic}"))),
            |data: &[u8]| {
                static RUN: std::sync::LazyLock<fn(&[u8])> =
                    std::sync::LazyLock::new(|| $crate::Target::named(stringify!($name)).run);
                (*RUN)(data);
            }
        );
    };
}
