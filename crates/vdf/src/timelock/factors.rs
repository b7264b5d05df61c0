//! The sealer's secret: two primes, and the shortcut that they allow.

use crate::{Modulus, Residue, nat, prime};
use rand_core::CryptoRng;
use std::hint::black_box;
use tetralith_kernels::ct;
use tetralith_kernels::mont::Ring;
use zeroize::Zeroizing;

/// Two primes whose product alone is published.
pub(super) struct Factors {
    p: Zeroizing<Vec<u64>>,
    q: Zeroizing<Vec<u64>>,
}

impl Factors {
    /// Two different primes, 3 mod 4, whose product has exactly `bits` bits.
    pub(super) fn random(bits: u32, rng: &mut impl CryptoRng) -> Self {
        let [mut p, mut q] = prime::two_primes(bits / 2, rng);
        // How long the search took is known; from here on nothing depends on the factors.
        [&mut p, &mut q].into_iter().for_each(|prime| ct::secret_limbs(prime));
        Self { p, q }
    }

    pub(super) fn product(&self) -> Modulus {
        // The product is given away.
        let product = nat::mul(&self.p, &self.q).into_iter().map(ct::public);
        Modulus::from_limbs_unchecked(&product.collect::<Vec<u64>>())
    }

    /// a^(2^T) mod N, in two exponentiations of half the size.
    pub(super) fn power(
        &self,
        modulus: &Modulus,
        a: &Residue,
        iterations: u64,
    ) -> Zeroizing<Vec<u8>> {
        if iterations == 0 {
            return Zeroizing::new(a.to_bytes());
        }
        let yp = power_mod_prime(&self.p, a.limbs(), iterations);
        let yq = power_mod_prime(&self.q, a.limbs(), iterations);
        // Garner: y = yq + q·((yp − yq)·q^(−1) mod p).
        let mut ring = Ring::new(&self.p).expect("a prime above 2 is odd");
        let q = Zeroizing::new(reduce_once(&self.q, &self.p));
        let q = Zeroizing::new(ring.enter(&q));
        let inverse = Zeroizing::new(ring.pow(&q, &minus(&self.p, 2)));
        let yq_mod_p = Zeroizing::new(reduce_once(&yq, &self.p));
        let difference = Zeroizing::new(sub_mod(&yp, &yq_mod_p, &self.p));
        // One factor is in Montgomery form, so the product is not.
        let h = Zeroizing::new(ring.mul(&difference, &inverse));
        ring.zeroize();
        let mut y = Zeroizing::new(nat::mul(&h, &self.q));
        nat::add(&mut y, &yq);
        Zeroizing::new(nat::to_bytes(&y, modulus.width()))
    }
}

/// a^(2^T) mod p for T ≥ 1 and p = 3 mod 4: the square of a has an order that divides the odd number
/// m = (p − 1)/2, so the exponent 2^(T − 1) is reduced mod m.
fn power_mod_prime(p: &[u64], a: &[u64], iterations: u64) -> Zeroizing<Vec<u64>> {
    let mut half = minus(p, 1);
    nat::shr(&mut half, 1);
    let mut order = Ring::new(&half).expect("p is 3 mod 4, so half of p - 1 is odd");
    let mut two = Zeroizing::new(order.one().to_vec());
    order.double(&mut two);
    let power = Zeroizing::new(order.pow_vartime(&two, &[iterations - 1]));
    let exponent = Zeroizing::new(order.leave(&power));
    order.zeroize();
    let mut ring = Ring::new(p).expect("a prime above 2 is odd");
    let reduced = Zeroizing::new(rem_wide(&ring, a));
    let square = Zeroizing::new(ring.mul(&reduced, &reduced));
    let power = Zeroizing::new(ring.pow(&square, &exponent));
    let out = Zeroizing::new(ring.leave(&power));
    ring.zeroize();
    out
}

/// a mod p in Montgomery form, for an a of twice p's length: high·R + low.
fn rem_wide(ring: &Ring, a: &[u64]) -> Vec<u64> {
    // `a` is public, but what it leaves modulo p is not.
    let p = ring.modulus();
    let (low, high) = a.split_at(ring.len());
    let low = Zeroizing::new(reduce_once(low, p));
    let low = Zeroizing::new(ring.enter(&low));
    // Entering twice multiplies by R once more.
    let high = Zeroizing::new(reduce_once(high, p));
    let high = Zeroizing::new(ring.enter(&high));
    let high = Zeroizing::new(ring.enter(&high));
    let mut minus_high = Zeroizing::new(p.to_vec());
    nat::sub(&mut minus_high, &high);
    let minus_high = Zeroizing::new(reduce_once(&minus_high, p));
    sub_mod(&low, &minus_high, p)
}

/// a mod p for a below 2·p, by a subtraction whose result is picked by a mask.
fn reduce_once(a: &[u64], p: &[u64]) -> Vec<u64> {
    let mut out = a.to_vec();
    // Opaque: told that the mask is all or nothing, the compiler would branch on it.
    let keep = black_box(u64::from(nat::sub(&mut out, p)).wrapping_neg());
    out.iter_mut().zip(a).for_each(|(out, &a)| *out = *out & !keep | a & keep);
    out
}

/// a − b mod p for a, b below p.
fn sub_mod(a: &[u64], b: &[u64], p: &[u64]) -> Vec<u64> {
    let mut out = a.to_vec();
    let add = black_box(u64::from(nat::sub(&mut out, b)).wrapping_neg());
    let masked = Zeroizing::new(p.iter().map(|&limb| limb & add).collect::<Vec<u64>>());
    nat::add(&mut out, &masked);
    out
}

/// p − k for a k below p's lowest limb.
fn minus(p: &[u64], k: u64) -> Zeroizing<Vec<u64>> {
    let mut out = Zeroizing::new(p.to_vec());
    nat::sub(&mut out, &[k]);
    out
}
