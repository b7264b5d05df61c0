//! The check of a proof that its maker makes: modulo the small prime c of [`CHECK_PRIME`].
//!
//! The chain runs modulo N·c ([`crate::eval`]), and where the kernel's elements modulo N·c are elements modulo
//! N too, the recorded values are values modulo N·c. Then the whole proof is computed modulo N·c, and must be
//! x^⌊2^T/ℓ⌋ modulo c, which is known in no time, before it is reduced modulo N: Shamir's check once more.
//! A wrong value, digit or product passes with a probability of 2/c, about 2^-21, as an error of the chain
//! does; to verify the proof would find it always, but takes as long as several hundred squarings. What is not
//! looked at is y, which passed the chain's own check, and the challenge prime.
//!
//! With p' = (c − 1)/2, a prime, the order of x modulo c is p' or 2·p' unless x is 0 or ±1 modulo c. Then an
//! error need not show modulo c (every power of 1 is 1, and what is multiplied by 0 is 0), and the proof is
//! verified; so it is where values were read from a file, which has them modulo N.

use super::power_of_two_mod;
use crate::Modulus;
use crate::eval::CHECK_PRIME;
use crate::modulus::pow_small;
use crate::nat;
use crate::tape::Tape;
use crate::transcript::Statement;
use tetralith_kernels::mont::FastRing;

/// The ring in which recorded values are multiplied: modulo N·c where its elements are the same.
pub(super) fn ring_of(modulus: &Modulus) -> &FastRing {
    let (checked, fast) = (modulus.checked(), modulus.fast());
    if checked.shares_elements_with(fast) { checked } else { fast }
}

/// x^⌊2^T/ℓ⌋ mod c for a prime ℓ of 256 bits; none where that would say nothing of values on the tape.
pub(super) fn expected(tape: &Tape, statement: &Statement, prime: &[u64; 4]) -> Option<u64> {
    let x = nat::rem_small(statement.x.limbs(), CHECK_PRIME);
    let telling = tape.is_checked() && (2..CHECK_PRIME - 1).contains(&x);
    telling.then(|| pow_small(x, quotient(statement.iterations, prime), CHECK_PRIME))
}

/// ⌊2^T/ℓ⌋ mod c − 1, for an odd ℓ that p' does not divide.
fn quotient(iterations: u64, prime: &[u64; 4]) -> u64 {
    let half = (CHECK_PRIME - 1) / 2;
    // (2^T − 2^T mod ℓ)/ℓ, modulo p' and modulo 2.
    let rest = power_of_two_mod(iterations, prime);
    let multiple = pow_small(2, iterations, half) + half - nat::rem_small(&rest, half);
    let inverse = pow_small(nat::rem_small(prime, half), half - 2, half);
    let quotient = multiple % half * inverse % half;
    let odd = (rest[0] ^ u64::from(iterations == 0)) & 1;
    if quotient & 1 == odd { quotient } else { quotient + half }
}

#[cfg(test)]
mod tests {
    use super::super::{Plan, Watch, prove};
    use super::*;
    use crate::System;
    use tetralith_kernels::mont::Kernel;

    #[test]
    fn any_flipped_bit_of_a_value_is_found() {
        let modulus = Modulus::rsa2048();
        let (x, _) = modulus.reduce(b"a flipped bit");
        let iterations = 3000;
        let plan = Plan::new(&modulus, iterations, 1 << 20, 1);
        let mut evaluation = crate::Evaluation::new(&modulus, &x, iterations).unwrap();
        evaluation.record(plan.tape(&modulus));
        evaluation.advance(iterations).unwrap();
        let y = evaluation.result().unwrap().element(&modulus);
        let mut tape = evaluation.take_tape().unwrap();
        let statement = Statement { modulus, x, iterations, y };
        let mut proved = |change: &dyn Fn(&mut Tape)| {
            change(&mut tape);
            let mut watch = Watch { on_thread: || (), go_on: &mut || true };
            let proof = prove(&plan, &mut tape, System::Wesolowski, &statement, &mut watch);
            change(&mut tape);
            proof
        };
        let right = proved(&|_| ()).unwrap();
        // Debug builds assert that elements are digits, which in doubles are whole numbers.
        let bits: &[usize] = match statement.modulus.fast().kernel() {
            _ if !cfg!(debug_assertions) => &[0, 17, 34, 51, 52, 63],
            Kernel::Fma => &[51],
            _ => &[0, 17, 34, 51],
        };
        let (mut found, words) = (0, statement.modulus.fast().len());
        for (word, bit) in (0..words).flat_map(|word| bits.iter().map(move |&bit| (word, bit))) {
            let value = 1 + (word + bit) % 60;
            match proved(&|tape| tape.flip(value, word, bit)) {
                Ok(proof) => assert_eq!(proof, right, "{value} {word} {bit}"),
                Err(_) => found += 1,
            }
        }
        // The exponent of a value may be zero, and what stands above 52 bits may count for nothing.
        assert!(2 * found > words * bits.len(), "{found}");
    }

    #[test]
    fn quotients_match_long_division() {
        for prime in [[3, 5, 7, 1 << 63 | 9], [95, 0, 0, 1 << 63], [u64::MAX - 188, !0, !0, !0]] {
            for iterations in (0..600).chain([1000, 2047, 4096]) {
                // 2^T by restoring division, a bit at a time.
                let (mut quotient, mut rest) = (0, [0; 5]);
                for i in 0..=iterations {
                    if i == 0 {
                        rest[0] = 1;
                    } else {
                        nat::shl(&mut rest, 1);
                    }
                    quotient = 2 * quotient % (CHECK_PRIME - 1);
                    if nat::cmp(&rest, &prime).is_ge() {
                        nat::sub(&mut rest, &prime);
                        quotient += 1;
                    }
                }
                assert_eq!(super::quotient(iterations, &prime), quotient % (CHECK_PRIME - 1));
            }
        }
    }
}
