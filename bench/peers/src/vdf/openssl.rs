//! OpenSSL, built from source by openssl-src: its public Montgomery multiplication, and BN_mod_exp.

use super::{Chain, exponent};
use openssl_sys::{
    BIGNUM, BN_CTX, BN_CTX_new, BN_bin2bn, BN_bn2bin, BN_mod_exp, BN_new, BN_num_bits,
};
use std::ffi::{CStr, c_int};

#[repr(C)]
struct BnMontCtx {
    _opaque: [u8; 0],
}

// openssl-sys does not declare OpenSSL's Montgomery interface (BN_mod_mul_montgomery(3)).
unsafe extern "C" {
    fn BN_MONT_CTX_new() -> *mut BnMontCtx;
    fn BN_MONT_CTX_set(mont: *mut BnMontCtx, modulus: *const BIGNUM, ctx: *mut BN_CTX) -> c_int;
    fn BN_mod_mul_montgomery(
        r: *mut BIGNUM,
        a: *const BIGNUM,
        b: *const BIGNUM,
        mont: *mut BnMontCtx,
        ctx: *mut BN_CTX,
    ) -> c_int;
    fn BN_to_montgomery(
        r: *mut BIGNUM,
        a: *const BIGNUM,
        mont: *mut BnMontCtx,
        ctx: *mut BN_CTX,
    ) -> c_int;
    fn BN_from_montgomery(
        r: *mut BIGNUM,
        a: *const BIGNUM,
        mont: *mut BnMontCtx,
        ctx: *mut BN_CTX,
    ) -> c_int;
}

/// "OpenSSL 3.6.3".
pub fn version() -> String {
    // SAFETY: OpenSSL_version returns a static string for every argument.
    let text =
        unsafe { CStr::from_ptr(openssl_sys::OpenSSL_version(openssl_sys::OPENSSL_VERSION)) };
    text.to_string_lossy().split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// OpenSSL's objects live as long as the process: a benchmark makes a handful.
struct Numbers {
    ctx: *mut BN_CTX,
    modulus: *mut BIGNUM,
    x: *mut BIGNUM,
    scratch: *mut BIGNUM,
}

impl Numbers {
    fn new(modulus: &[u8], x: &[u8]) -> Self {
        // SAFETY: no arguments; the result is checked.
        let ctx = unsafe { BN_CTX_new() };
        assert!(!ctx.is_null(), "out of memory");
        Numbers { ctx, modulus: number(modulus), x: number(x), scratch: number(&[0]) }
    }
}

fn number(bytes: &[u8]) -> *mut BIGNUM {
    // SAFETY: no arguments.
    let result = unsafe { BN_new() };
    // SAFETY: the slice is readable for its length, `result` is a fresh BIGNUM or null, for which
    // BN_bin2bn makes one.
    let result = unsafe { BN_bin2bn(bytes.as_ptr(), bytes.len() as c_int, result) };
    assert!(!result.is_null(), "out of memory");
    result
}

fn bytes(number: *const BIGNUM) -> Vec<u8> {
    // SAFETY: `number` is a live BIGNUM.
    let bits = unsafe { BN_num_bits(number) };
    let mut bytes = vec![0; (bits as usize).div_ceil(8)];
    // SAFETY: BN_bn2bin writes exactly BN_num_bytes bytes, the length of `bytes`.
    unsafe { BN_bn2bin(number, bytes.as_mut_ptr()) };
    bytes
}

struct Montgomery {
    numbers: Numbers,
    mont: *mut BnMontCtx,
}

/// A chain of BN_mod_mul_montgomery(x, x) that stays in Montgomery form.
pub fn montgomery(modulus: &[u8], x: &[u8]) -> Box<dyn Chain> {
    let numbers = Numbers::new(modulus, x);
    // SAFETY: no arguments; the result is checked.
    let mont = unsafe { BN_MONT_CTX_new() };
    assert!(!mont.is_null(), "out of memory");
    // SAFETY: all three objects are live and were made above.
    let set = unsafe { BN_MONT_CTX_set(mont, numbers.modulus, numbers.ctx) };
    // SAFETY: as above; result and argument may be the same number.
    let into = unsafe { BN_to_montgomery(numbers.x, numbers.x, mont, numbers.ctx) };
    assert!(set == 1 && into == 1, "OpenSSL refused the modulus");
    Box::new(Montgomery { numbers, mont })
}

impl Chain for Montgomery {
    fn run(&mut self) {
        let Numbers { ctx, x, .. } = self.numbers;
        for _ in 0..super::SQUARINGS {
            // SAFETY: all objects are live, made by `montgomery`; result and arguments may alias.
            let done = unsafe { BN_mod_mul_montgomery(x, x, x, self.mont, ctx) };
            assert_eq!(done, 1, "OpenSSL failed");
        }
    }

    fn value(&self) -> Vec<u8> {
        let Numbers { ctx, x, scratch, .. } = self.numbers;
        // SAFETY: all objects are live, made by `montgomery`.
        let done = unsafe { BN_from_montgomery(scratch, x, self.mont, ctx) };
        assert_eq!(done, 1, "OpenSSL failed");
        bytes(scratch)
    }
}

struct Power {
    numbers: Numbers,
    exponent: *mut BIGNUM,
}

/// BN_mod_exp(x, 2^T).
pub fn power(modulus: &[u8], x: &[u8]) -> Box<dyn Chain> {
    Box::new(Power { numbers: Numbers::new(modulus, x), exponent: number(&exponent()) })
}

impl Chain for Power {
    fn run(&mut self) {
        let Numbers { ctx, modulus, x, scratch } = self.numbers;
        // SAFETY: all objects are live, made by `power`.
        let done = unsafe { BN_mod_exp(scratch, x, self.exponent, modulus, ctx) };
        assert_eq!(done, 1, "OpenSSL failed");
    }

    fn value(&self) -> Vec<u8> {
        bytes(self.numbers.scratch)
    }
}
