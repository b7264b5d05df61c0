//! Wesolowski's proof: π = x^⌊2^T/ℓ⌋ for a challenge prime ℓ, in (Z/N)*/{±1}.
//!
//! The verifier checks y = π^ℓ·x^(2^T mod ℓ). The prover writes ⌊2^T/ℓ⌋ in blocks of κ bits, b_0, b_1,
//! …, and uses the values C_m = x^(2^(κγm)) that were recorded while squaring:
//!
//! ```text
//! π = Π_j (Π_m C_m^(b_(mγ + j)))^(2^(κj)),   j = 0 … γ − 1
//! ```
//!
//! For each j, the product of the C_m to the powers b_(mγ + j) < 2^κ takes a multiplication a block and
//! one for each number below 2^κ: T/κ + γ·2^κ together. They do not wait for each other, so that a core makes
//! eight of them side by side ([`tetralith_kernels::mont::FastRing::product_of_powers_vartime`]), and threads
//! share them.
//!
//! Where T is small enough that every x^(2^p) can be recorded, sliding windows do with a seventh less: with
//! ⌊2^T/ℓ⌋ = Σ d·2^p over odd d < 2^w, π is the product of the x^(2^p) to the powers d, which takes a
//! multiplication a window and one for each odd number below 2^w: T/(w + 1) + 2^(w − 1).
//!
//! B. Wesolowski, Efficient verifiable delay functions, 2018/623, §4.1 (the blocks), §6 (the proof).
//! A. Menezes, P. van Oorschot, S. Vanstone, Handbook of Applied Cryptography, 14.6.1 (the windows).

mod check;
mod digits;
mod plan;
mod power;
mod quotient;
mod windows;

pub(crate) use plan::Plan;

use crate::eval::CHECK_PRIME;
use crate::field256::Field256;
use crate::tape::Tape;
use crate::transcript::{Statement, Transcript};
use crate::{Element, Error, System, nat};
pub(crate) use power::Space;
use power::power;

/// Why there is no proof.
#[derive(Debug)]
pub(crate) enum Unproved {
    Stopped,
    /// What came out is no proof, for a recorded value was wrong: memory can fail.
    Wrong,
}

/// What accompanies the computation of a proof.
pub(crate) struct Watch<'a> {
    /// Called first on each thread that is started.
    pub(crate) on_thread: fn(),
    /// Asked now and then; `false` ends the computation.
    pub(crate) go_on: &'a mut dyn FnMut() -> bool,
}

/// Computes the proof element from the recorded values, and checks it: modulo c where the values allow that
/// (see [`check`]), else as [`verify`] does.
///
/// # Errors
/// It was stopped, or a recorded value was wrong.
pub(crate) fn prove(
    plan: &Plan,
    tape: &mut Tape,
    system: System,
    statement: &Statement,
    watch: &mut Watch<'_>,
) -> Result<Element, Unproved> {
    let prime = Transcript::new(system, statement).challenge_prime_for_proof();
    let modulus = &statement.modulus;
    let number = power(plan, tape, check::ring_of(modulus), &prime, watch);
    let number = number.ok_or(Unproved::Stopped)?;
    let proof = modulus.residue(nat::rem(&number, modulus.limbs())).element(modulus);
    let right = match check::expected(tape, statement, &prime) {
        Some(expected) => nat::rem_small(&number, CHECK_PRIME) == expected,
        None => holds(&prime, statement, &proof),
    };
    if right { Ok(proof) } else { Err(Unproved::Wrong) }
}

/// Checks y = ±π^ℓ·x^(2^T mod ℓ).
///
/// # Errors
/// [`Error::Invalid`], which says no more; [`Error::NotUnit`] where x or y has a factor of N.
pub(crate) fn verify(system: System, statement: &Statement, proof: &Element) -> Result<(), Error> {
    check_units(statement)?;
    let prime = Transcript::new(system, statement).challenge_prime();
    if holds(&prime, statement, proof) { Ok(()) } else { Err(Error::Invalid) }
}

/// Says whether y = ±π^ℓ·x^(2^T mod ℓ).
fn holds(prime: &[u64; 4], statement: &Statement, proof: &Element) -> bool {
    let modulus = &statement.modulus;
    let mut ring = modulus.fast().clone();
    let exponent = power_of_two_mod(statement.iterations, prime);
    let base = ring.enter(proof.residue().limbs());
    let x = ring.enter(statement.x.limbs());
    let product = ring.multi_pow_vartime(&[(&base, prime), (&x, &exponent)]);
    modulus.residue(ring.leave(&product)).element(modulus) == statement.y
}

/// Checks many proofs modulo one number, each as [`verify`] does, and says of each what that says.
///
/// They share a search for common factors with N and the lanes of
/// [`tetralith_kernels::mont::FastRing::two_powers_each_vartime`]. Multiplying the equations, each to a random
/// power, would save some squarings more; but a false one gets through that with a probability of one half
/// where it is off by an element of order 2.
pub(crate) fn verify_many(claims: &[(System, Statement, &Element)]) -> Vec<Result<(), Error>> {
    let Some((_, Statement { modulus, .. }, _)) = claims.first() else { return Vec::new() };
    debug_assert!(claims.iter().all(|(_, statement, _)| statement.modulus == *modulus));
    let mut ring = modulus.fast().clone();
    // One greatest common divisor for all: the product is a unit only where each factor is.
    let plain = modulus.ring();
    let factors = claims.iter().flat_map(|(_, s, _)| [s.x.limbs(), s.y.residue().limbs()]);
    let product = factors.fold(plain.one().to_vec(), |product, factor| plain.mul(&product, factor));
    let units = modulus.residue(product).is_unit(modulus);
    let prepared: Vec<_> = (claims.iter())
        .map(|(system, statement, proof)| {
            let prime = Transcript::new(*system, statement).challenge_prime();
            let exponent = power_of_two_mod(statement.iterations, &prime);
            let elements = [proof.residue().limbs(), statement.x.limbs()].map(|a| ring.enter(a));
            (elements, [prime, exponent])
        })
        .collect();
    let pairs: Vec<_> = (prepared.iter())
        .map(|([base, x], [prime, exponent])| [(&base[..], &prime[..]), (&x[..], &exponent[..])])
        .collect();
    let products = ring.two_powers_each_vartime(&pairs);
    let verdict = |((_, statement, _), product): (&(System, Statement, &Element), &Vec<u64>)| {
        if !units {
            check_units(statement)?;
        }
        let value = modulus.residue(ring.leave(product)).element(modulus);
        if value == statement.y { Ok(()) } else { Err(Error::Invalid) }
    };
    claims.iter().zip(&products).map(verdict).collect()
}

/// Refuses an x or y that has a factor in common with N: then neither is in the ring.
pub(crate) fn check_units(statement: &Statement) -> Result<(), Error> {
    let (modulus, x, y) = (&statement.modulus, &statement.x, statement.y.residue());
    let product = modulus.residue(modulus.ring().mul(x.limbs(), y.limbs()));
    if product.is_unit(modulus) {
        Ok(())
    } else if x.is_unit(modulus) {
        Err(Error::NotUnit { what: "y" })
    } else {
        Err(Error::NotUnit { what: "x" })
    }
}

/// 2^T mod ℓ.
fn power_of_two_mod(iterations: u64, prime: &[u64; 4]) -> [u64; 4] {
    let field = Field256::new(*prime);
    field.leave(&field.power_of_two(iterations))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Modulus;

    macro_rules! quiet {
        () => {
            &mut Watch { on_thread: || (), go_on: &mut || true }
        };
    }

    #[test]
    fn plans_keep_to_their_memory() {
        let modulus = Modulus::rsa2048();
        let element = 8 * modulus.fast().len() as u64;
        for t in [0, 1, 100, 1 << 12, 1 << 16, 1 << 20, 1 << 26, 1 << 34, 1 << 63] {
            for memory in [0, 1 << 16, 1 << 20, 1 << 26] {
                for plan in [Plan::new, Plan::quickest].map(|new| new(&modulus, t, memory, 2)) {
                    let values = t.div_ceil(plan.interval()).max(1) * element;
                    assert!(values + (element << plan.bits) <= memory.max(4 * element), "{t}");
                    assert_eq!(
                        Plan::values(plan.parameters(), t),
                        Some(t.div_ceil(plan.interval()))
                    );
                    let again = Plan::with_parameters(plan.parameters(), t, plan.threads, memory);
                    assert_eq!(again.unwrap(), plan);
                }
            }
        }
        // All values are recorded where that costs little and is of use.
        let ifma = modulus.fast().kernel() == tetralith_kernels::mont::Kernel::Ifma;
        for (t, memory, slides) in [(16, 1 << 26, true), (16, 1 << 24, false), (18, 1 << 30, false)]
        {
            let plan = Plan::quickest(&modulus, 1 << t, memory, 1);
            assert_eq!(plan.slides(), slides && ifma, "2^{t}");
        }
        for t in [20, 24, 30, 36] {
            let cost = Plan::new(&modulus, 1 << t, 1 << 26, 1).multiplications();
            assert!(cost < (1 << t) / 100 * 10, "2^{t}: {cost}");
        }
    }

    /// The proof element does not depend on the plan.
    #[test]
    fn all_plans_make_the_same_proof() {
        let small = Modulus::from_limbs_unchecked(&[0x9e37_79b9_7f4a_7c15; 5]);
        let prime = Transcript::new(System::Wesolowski, &honest(10).2).challenge_prime();
        // With the last of these there is work for threads.
        for (modulus, t) in [(&small, 1), (&small, 700), (&Modulus::rsa2048(), 40_000)] {
            let (x, _) = modulus.reduce(b"plans");
            let made = |bits, stride, threads| {
                let plan = Plan { bits, stride, iterations: t, threads, memory: 1 << 24 };
                let mut evaluation = crate::Evaluation::new(modulus, &x, t).unwrap();
                evaluation.record(plan.tape(modulus));
                evaluation.advance(t).unwrap();
                let mut tape = evaluation.take_tape().unwrap();
                forge(&plan, &mut tape, modulus, &prime)
            };
            let expected = made(3, 2, 1);
            for (bits, stride, threads) in
                [(3, 1, 3), (4, 1, 2), (2, 2, 2), (7, 5, 1), (1, 0, 1), (2, 0, 2), (3, 0, 3)]
            {
                assert_eq!(made(bits, stride, threads), expected, "{bits} {stride} {t}");
            }
        }
    }

    /// An honest run, of which forgers may use every part.
    fn honest(t: u64) -> (Plan, Tape, Statement) {
        let modulus = Modulus::rsa2048();
        let (x, _) = modulus.reduce(b"forged");
        let plan = Plan::new(&modulus, t, 1 << 20, 1);
        let mut evaluation = crate::Evaluation::new(&modulus, &x, t).unwrap();
        evaluation.record(plan.tape(&modulus));
        evaluation.advance(t).unwrap();
        let y = evaluation.result().unwrap().element(&modulus);
        let tape = evaluation.take_tape().unwrap();
        (plan, tape, Statement { modulus, x, iterations: t, y })
    }

    /// What would be the proof for some challenge.
    fn forge(plan: &Plan, tape: &mut Tape, modulus: &Modulus, challenge: &[u64; 4]) -> Element {
        let number = power(plan, tape, check::ring_of(modulus), challenge, quiet!()).unwrap();
        modulus.residue(nat::rem(&number, modulus.limbs())).element(modulus)
    }

    fn refused(system: System, statement: &Statement, proof: &Element) {
        let outcome = verify(system, statement, proof);
        assert!(matches!(outcome, Err(Error::Invalid)), "{outcome:?}");
    }

    /// The two systems whose elements these are, and which do not stand for each other.
    const SYSTEMS: [System; 2] = [System::Wesolowski, System::Segmented];

    #[test]
    fn challenges_of_another_or_a_truncated_statement() {
        let (plan, mut tape, statement) = honest(2000);
        for (system, other) in [(SYSTEMS[0], SYSTEMS[1]), (SYSTEMS[1], SYSTEMS[0])] {
            let right = prove(&plan, &mut tape, system, &statement, quiet!()).unwrap();
            verify(system, &statement, &right).unwrap();
            let blank = |change: fn(&mut Statement)| {
                let mut truncated = statement.clone();
                change(&mut truncated);
                Transcript::new(system, &truncated).challenge_prime()
            };
            let primes = [
                Transcript::new(other, &statement).challenge_prime(),
                blank(|s| s.iterations = 0),
                blank(|s| s.x = s.modulus.reduce(&[0]).0),
                blank(|s| s.y = s.modulus.reduce(&[1]).0.element(&s.modulus)),
                blank(|s| s.modulus = Modulus::lcs35()),
            ];
            for prime in primes {
                let forged = forge(&plan, &mut tape, &statement.modulus, &prime);
                refused(system, &statement, &forged);
            }
        }
    }

    #[test]
    fn a_challenge_that_is_no_prime() {
        let (plan, mut tape, statement) = honest(2000);
        let mut smooth = [0; 4];
        smooth[0] = 0x3b1d_65eb_5a4f_8a61; // odd, with small factors
        smooth[3] = 1 << 63;
        while !crate::prime::has_small_factor(&smooth) {
            smooth[0] += 2;
        }
        for system in SYSTEMS {
            let mut shifted = Transcript::new(system, &statement).challenge_prime();
            shifted[0] ^= 2;
            for challenge in [smooth, shifted] {
                let forged = forge(&plan, &mut tape, &statement.modulus, &challenge);
                refused(system, &statement, &forged);
            }
        }
    }

    /// Without the check that x and y have no factor in common with N, both of these would pass: an x that
    /// is 0 modulo p, and a false y that is right modulo q and 0 modulo p.
    #[test]
    fn numbers_that_share_a_factor_with_the_modulus() {
        let (p, q) = ([(1u64 << 61) - 1], [(1u64 << 31) - 1]);
        let modulus = Modulus::from_limbs_unchecked(&nat::mul(&p, &q));
        // e is 0 modulo p and 1 modulo q.
        let inverse = crate::modulus::pow_small(p[0] % q[0], q[0] - 2, q[0]);
        let e = nat::mul(&p, &[inverse]);
        let times_e = |a: &crate::Residue| {
            modulus.residue(modulus.ring().mul(&modulus.ring().enter(a.limbs()), &e))
        };
        let (x, _) = modulus.reduce(&[6]);
        let plan = Plan::new(&modulus, 600, 1 << 16, 1);
        let run = |x: &crate::Residue| {
            let mut evaluation = crate::Evaluation::new(&modulus, x, 600).unwrap();
            evaluation.record(plan.tape(&modulus));
            evaluation.advance(600).unwrap();
            (evaluation.result().unwrap(), evaluation.take_tape().unwrap())
        };
        for (what, x) in [("x", times_e(&x)), ("y", x)] {
            let (y, mut tape) = run(&x);
            for system in SYSTEMS {
                // Of an x that is 0 modulo p, the right y is so too.
                let y = times_e(&y).element(&modulus);
                let statement =
                    Statement { modulus: modulus.clone(), x: x.clone(), iterations: 600, y };
                let prime = Transcript::new(system, &statement).challenge_prime();
                let proof = forge(&plan, &mut tape, &modulus, &prime);
                let proof = times_e(proof.residue()).element(&modulus);
                assert!(holds(&prime, &statement, &proof), "{what}: the equation holds");
                let refused = |verdict: &Result<(), Error>| matches!(verdict, Err(Error::NotUnit { what: named }) if *named == what);
                assert!(refused(&verify(system, &statement, &proof)), "{what}");
                let claim = || (system, statement.clone(), &proof);
                let verdicts = verify_many(&[claim(), claim(), claim()]);
                assert!(verdicts.len() == 3 && verdicts.iter().all(refused), "{what}");
            }
        }
    }

    /// Modulo m² + 1 everyone knows an element of order 2 of (Z/N)*/{±1}, m, which gives no factor away: a
    /// false output is proved, so such moduli are refused.
    #[test]
    fn outputs_with_a_square_root_of_minus_one() {
        let m = 0x9027_c4d1_c386_bbc4_u64;
        let mut n = nat::mul(&[m], &[m]);
        nat::add(&mut n, &[1]);
        let modulus = Modulus::from_limbs_unchecked(&n);
        let (x, _) = modulus.reduce(&[6]);
        let plan = Plan::new(&modulus, 600, 1 << 16, 1);
        let mut evaluation = crate::Evaluation::new(&modulus, &x, 600).unwrap();
        evaluation.record(plan.tape(&modulus));
        evaluation.advance(600).unwrap();
        let y = evaluation.result().unwrap();
        let mut tape = evaluation.take_tape().unwrap();
        let times_m = |a: &crate::Residue| {
            let product = modulus.ring().mul(&modulus.ring().enter(a.limbs()), &[m, 0]);
            modulus.residue(product).element(&modulus)
        };
        let forged = Statement { modulus: modulus.clone(), x, iterations: 600, y: times_m(&y) };
        assert_ne!(forged.y, y.element(&modulus));
        let prime = Transcript::new(System::Wesolowski, &forged).challenge_prime();
        let proof = forge(&plan, &mut tape, &modulus, &prime);
        verify(System::Wesolowski, &forged, &times_m(proof.residue())).unwrap();
        assert!(nat::is_one(&nat::gcd_odd(&[m - 1], modulus.limbs())));
        let flaw = modulus.check_provable();
        assert!(matches!(flaw, Err(Error::ModulusSpecial { exponent: 2, sign: '+' })), "{flaw:?}");
    }

    #[test]
    fn outputs_with_a_factor_of_low_order() {
        // For a modulus whose factors are known there is an element w of order 2 beside −1: the
        // forger claims y·w, with the right proof or one multiplied by w.
        let (p, q) = ([(1u64 << 61) - 1], [(1u64 << 31) - 1]);
        let modulus = Modulus::from_limbs_unchecked(&nat::mul(&p, &q));
        let (x, _) = modulus.reduce(&[6]);
        let plan = Plan::new(&modulus, 600, 1 << 16, 1);
        let mut evaluation = crate::Evaluation::new(&modulus, &x, 600).unwrap();
        evaluation.record(plan.tape(&modulus));
        evaluation.advance(600).unwrap();
        let y = evaluation.result().unwrap();
        let mut tape = evaluation.take_tape().unwrap();
        // w = 1 + k·p with k·p = −2 mod q: 1 mod p and −1 mod q.
        let inverse = u128::from(crate::modulus::pow_small(p[0] % q[0], q[0] - 2, q[0]));
        let k = (inverse * u128::from(q[0] - 2) % u128::from(q[0])) as u64;
        let mut w = nat::mul(&p, &[k]);
        nat::add(&mut w, &[1]);
        assert_eq!(nat::rem_small(&w, q[0]), q[0] - 1);
        let times_w = |a: &crate::Residue| {
            let product = modulus.ring().mul(&modulus.ring().enter(a.limbs()), &w);
            modulus.residue(product).element(&modulus)
        };
        let forged = Statement { modulus: modulus.clone(), x, iterations: 600, y: times_w(&y) };
        let prime = Transcript::new(System::Wesolowski, &forged).challenge_prime();
        let proof = forge(&plan, &mut tape, &modulus, &prime);
        refused(System::Wesolowski, &forged, &proof);
        // As w has order 2 and ℓ is odd, π·w is a proof of y·w: proofs are sound only where nobody
        // knows an element of low order. This one, whose square is 1, gives away a factor of N.
        verify(System::Wesolowski, &forged, &times_w(proof.residue())).unwrap();
        let mut minus = w.clone();
        nat::sub(&mut minus, &[1]);
        assert_eq!(nat::gcd_odd(&minus, modulus.limbs()), p);
    }
}
