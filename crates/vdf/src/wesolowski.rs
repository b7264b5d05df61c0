//! Wesolowski's proof: π = x^⌊2^T/ℓ⌋ for a challenge prime ℓ, in (Z/N)*/{±1}.
//!
//! The verifier checks y = π^ℓ·x^(2^T mod ℓ). The prover writes ⌊2^T/ℓ⌋ in blocks of κ bits, b_0, b_1,
//! …, and uses the values C_m = x^(2^(κγm)) that were recorded while squaring:
//!
//! ```text
//! π = Π_j (Π_m C_m^(b_(mγ + j)))^(2^(κj)),   j = 0 … γ − 1
//! ```
//!
//! For each j the C_m with the same b are multiplied first, into 2^κ buckets; a running product then
//! raises bucket b to the power b. That is T/κ + γ·2^(κ+1) multiplications, and the γ values of j are
//! independent, so threads share them.
//!
//! B. Wesolowski, Efficient verifiable delay functions, 2018/623, §4.1 (the blocks), §6 (the proof).

use crate::field256::Field256;
use crate::tape::Tape;
use crate::transcript::{Statement, Transcript};
use crate::{Element, Error, Modulus, System, nat};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use tetralith_kernels::mont::FastRing;

/// How a proof will be computed: κ, γ, and the values to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// κ: bits of a block.
    bits: u32,
    /// γ: blocks between two recorded values.
    stride: u64,
    iterations: u64,
    threads: usize,
}

/// The fewest squarings between two recorded values: recording one costs about as much as one or two.
const MIN_INTERVAL: u64 = 32;

impl Plan {
    /// The cheapest plan whose recorded values and buckets fit `memory` bytes.
    pub(crate) fn new(modulus: &Modulus, iterations: u64, memory: u64, threads: usize) -> Self {
        let element = 8 * modulus.fast().len() as u64;
        let threads = threads.max(1);
        let plans = (1..=20).filter_map(|bits| {
            let buckets = (element << bits) * threads as u64;
            let room = memory.checked_sub(buckets)? / element;
            let least = iterations.div_ceil(room.saturating_sub(1).max(1) * u64::from(bits));
            let interval = MIN_INTERVAL.div_ceil(u64::from(bits));
            let stride = least.max(interval).max(threads as u64);
            Some(Plan { bits, stride, iterations, threads })
        });
        let smallest = Plan { bits: 1, stride: iterations.max(1), iterations, threads: 1 };
        plans.min_by_key(Plan::cost).unwrap_or(smallest)
    }

    /// Multiplications: one for each block, two for each bucket.
    fn cost(&self) -> u64 {
        let buckets = self.stride.saturating_mul(2 << self.bits);
        (self.iterations / u64::from(self.bits)).saturating_add(buckets)
    }

    fn interval(&self) -> u64 {
        u64::from(self.bits) * self.stride
    }

    /// The empty tape to record on.
    pub(crate) fn tape(&self, modulus: &Modulus) -> Tape {
        let count = self.iterations.div_ceil(self.interval()).max(1);
        Tape::every(modulus, self.interval(), count as usize)
    }
}

/// Computes the proof element from the recorded values.
pub(crate) fn prove(plan: &Plan, tape: &Tape, system: System, statement: &Statement) -> Element {
    let prime = Transcript::new(system, statement).challenge_prime();
    answer(plan, tape, &statement.modulus, &prime)
}

/// x^⌊2^T/ℓ⌋ for any odd ℓ of 256 bits.
///
/// Each thread takes a run of consecutive j and combines their products from the highest down, so that
/// no more than one product a thread is kept; the runs are combined in the same way.
fn answer(plan: &Plan, tape: &Tape, modulus: &Modulus, prime: &[u64; 4]) -> Element {
    // A block above the top bit of 2^T is empty, and so are those j beyond the last block.
    let count = plan.stride.min(plan.iterations / u64::from(plan.bits));
    let length = count.div_ceil(plan.threads as u64).max(1);
    let run = |start: u64| {
        let mut buckets = Buckets::new(modulus.fast().clone(), plan.bits);
        let mut out = buckets.ring.one();
        for j in (start..count.min(start + length)).rev() {
            let product = buckets.product(plan, tape, prime, j);
            buckets.ring.square_assign(&mut out, u64::from(plan.bits));
            buckets.ring.mul_assign(&mut out, &product);
        }
        out
    };
    let starts = (0..count.max(1)).step_by(length as usize);
    let runs: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let run = &run;
        let helpers: Vec<_> = starts.skip(1).map(|start| scope.spawn(move || run(start))).collect();
        let first = run(0);
        let join = |helper: std::thread::ScopedJoinHandle<'_, _>| {
            helper.join().expect("a prover's thread does not panic")
        };
        std::iter::once(first).chain(helpers.into_iter().map(join)).collect()
    });
    let mut ring = modulus.fast().clone();
    let mut out = ring.one();
    for run in runs.iter().rev() {
        ring.square_assign(&mut out, u64::from(plan.bits) * length);
        ring.mul_assign(&mut out, run);
    }
    modulus.residue(ring.leave(&out)).element(modulus)
}

/// Products between the call for a bucket and its use: about as long as memory takes.
const AHEAD: usize = 4;

/// One product for each value of a block.
struct Buckets {
    ring: FastRing,
    values: Vec<u64>,
    used: Vec<bool>,
}

impl Buckets {
    fn new(ring: FastRing, bits: u32) -> Self {
        let count = 1usize << bits;
        Self { values: vec![0; ring.len() * count], used: vec![false; count], ring }
    }

    fn product(&mut self, plan: &Plan, tape: &Tape, prime: &[u64; 4], j: u64) -> Vec<u64> {
        self.used.fill(false);
        // Buckets are met at random: each is called into the cache some products before its own.
        let mut waiting = VecDeque::with_capacity(AHEAD + 1);
        for (m, digit) in Digits::new(plan, prime, j).filter(|(_, digit)| *digit != 0) {
            FastRing::prefetch(self.bucket(digit as usize));
            FastRing::prefetch(tape.value(m));
            waiting.push_back((m, digit));
            if waiting.len() > AHEAD
                && let Some((m, digit)) = waiting.pop_front()
            {
                self.put(digit as usize, tape.value(m));
            }
        }
        for (m, digit) in waiting {
            self.put(digit as usize, tape.value(m));
        }
        self.collect()
    }

    fn bucket(&self, digit: usize) -> &[u64] {
        let len = self.ring.len();
        &self.values[digit * len..(digit + 1) * len]
    }

    fn put(&mut self, digit: usize, value: &[u64]) {
        let len = self.ring.len();
        let bucket = &mut self.values[digit * len..(digit + 1) * len];
        if self.used[digit] {
            self.ring.mul_assign(bucket, value);
        } else {
            bucket.copy_from_slice(value);
            self.used[digit] = true;
        }
    }

    /// Π bucket[b]^b: from the top, `run` is the product of the buckets so far.
    fn collect(&mut self) -> Vec<u64> {
        let len = self.ring.len();
        let mut run: Option<Vec<u64>> = None;
        let mut out = self.ring.one();
        for digit in (1..self.used.len()).rev() {
            if self.used[digit] {
                let bucket = &self.values[digit * len..(digit + 1) * len];
                match &mut run {
                    Some(run) => self.ring.mul_assign(run, bucket),
                    None => run = Some(bucket.to_vec()),
                }
            }
            if let Some(run) = &run {
                self.ring.mul_assign(&mut out, run);
            }
        }
        out
    }
}

/// The blocks b_(mγ + j) of ⌊2^T/ℓ⌋ for one j, from the highest m down, as (m, b).
///
/// Block i is ⌊2^κ·r/ℓ⌋ with r = 2^(T − κ(i + 1)) mod ℓ, and r for m − 1 is r·2^(κγ) mod ℓ.
struct Digits {
    field: Field256,
    /// 2^(κγ) in Montgomery form, so that the product with a plain r is plain.
    step: [u64; 4],
    remainder: [u64; 4],
    bits: u32,
    /// The m of the next block, plus one.
    left: u64,
}

impl Digits {
    fn new(plan: &Plan, prime: &[u64; 4], j: u64) -> Self {
        let field = Field256::new(*prime);
        let step = field.pow(&field.two(), &[plan.interval()]);
        let blocks = plan.iterations / u64::from(plan.bits);
        let left = blocks.saturating_sub(j).div_ceil(plan.stride);
        let mut digits = Self { field, step, remainder: [0; 4], bits: plan.bits, left };
        if left > 0 {
            let block = (left - 1) * plan.stride + j;
            let exponent = plan.iterations - u64::from(plan.bits) * (block + 1);
            digits.remainder = power_of_two_mod(exponent, prime);
        }
        digits
    }
}

impl Iterator for Digits {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let digit = self.field.quotient(&self.remainder, self.bits);
        self.remainder = self.field.mul(&self.remainder, &self.step);
        Some((self.left as usize, digit))
    }
}

/// Checks y = ±π^ℓ·x^(2^T mod ℓ).
///
/// # Errors
/// [`Error::Invalid`], which says no more; [`Error::NotUnit`] where x or y has a factor of N.
pub(crate) fn verify(system: System, statement: &Statement, proof: &Element) -> Result<(), Error> {
    check_units(statement)?;
    let modulus = &statement.modulus;
    let mut ring = modulus.fast().clone();
    let prime = Transcript::new(system, statement).challenge_prime();
    let exponent = power_of_two_mod(statement.iterations, &prime);
    let base = ring.enter(proof.residue().limbs());
    let x = ring.enter(statement.x.limbs());
    let product = ring.multi_pow_vartime(&[(&base, &prime), (&x, &exponent)]);
    let value = modulus.residue(ring.leave(&product)).element(modulus);
    if value == statement.y { Ok(()) } else { Err(Error::Invalid) }
}

/// Checks many proofs modulo one number at once.
///
/// Each equation is raised to a number of 128 bits, drawn by hashing them all, and they are multiplied:
/// Π π^(ℓ·s)·x^(r·s) = ±Π y^s. The squarings are shared. A false equation among true ones gets through
/// with a probability of 2^-128, unless it is off by an element of low order, which the proofs' security
/// takes nobody to know in any case.
///
/// # Errors
/// As [`verify`]; it does not say which of the proofs is false.
pub(crate) fn verify_many(claims: &[(System, Statement, &Element)]) -> Result<(), Error> {
    let [(system, statement, proof), others @ ..] = claims else { return Ok(()) };
    if others.is_empty() {
        return verify(*system, statement, proof);
    }
    let mut ring = statement.modulus.fast().clone();
    let mut seed = Sha256::new_with_prefix(b"tetralith vdf batch v1");
    let mut bases = Vec::new();
    for (system, statement, proof) in claims {
        check_units(statement)?;
        let transcript = Transcript::new(*system, statement);
        seed.update(transcript.digest());
        seed.update(proof.to_bytes());
        let elements = [proof.residue(), &statement.x, statement.y.residue()]
            .map(|residue| ring.enter(residue.limbs()));
        bases.push((transcript.challenge_prime(), elements));
    }
    let (mut powers, mut outputs) = (Vec::new(), Vec::new());
    for (i, (prime, _)) in bases.iter().enumerate() {
        let digest = seed.clone().chain_update((i as u64).to_be_bytes()).finalize();
        let weight = nat::from_bytes(&digest[..16]);
        let exponent = power_of_two_mod(claims[i].1.iterations, prime);
        powers.push((nat::mul(prime, &weight), nat::mul(&exponent, &weight)));
        outputs.push(weight);
    }
    let left: Vec<(&[u64], &[u64])> = (bases.iter().zip(&powers))
        .flat_map(|((_, [proof, x, _]), (a, b))| [(&proof[..], &a[..]), (&x[..], &b[..])])
        .collect();
    let right: Vec<(&[u64], &[u64])> =
        bases.iter().zip(&outputs).map(|((_, [_, _, y]), s)| (&y[..], &s[..])).collect();
    let modulus = &statement.modulus;
    let [left, right] = [left, right].map(|terms| {
        let product = ring.multi_pow_vartime(&terms);
        modulus.residue(ring.leave(&product)).element(modulus)
    });
    if left == right { Ok(()) } else { Err(Error::Invalid) }
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
    field.leave(&field.pow(&field.two(), &[iterations]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_make_the_quotient() {
        let prime = [3, 5, 7, 1 << 63 | 9];
        for (bits, stride, iterations) in [(1, 1, 300), (3, 2, 511), (7, 3, 512), (12, 5, 1029)] {
            let plan = Plan { bits, stride, iterations, threads: 1 };
            let mut sum = vec![0; 40];
            for j in 0..stride {
                for (m, digit) in Digits::new(&plan, &prime, j) {
                    let at = u64::from(bits) * (m as u64 * stride + j);
                    let mut term = vec![0; 40];
                    term[(at / 64) as usize] = digit;
                    if !at.is_multiple_of(64) {
                        nat::shl(&mut term, (at % 64) as u32);
                    }
                    nat::add(&mut sum, &term);
                }
            }
            // sum·ℓ + (2^T mod ℓ) = 2^T
            let mut product = nat::mul(&sum, &prime);
            nat::add(&mut product, &power_of_two_mod(iterations, &prime));
            let mut power = vec![0; 44];
            power[(iterations / 64) as usize] = 1 << (iterations % 64);
            assert_eq!(product, power, "{bits} {stride} {iterations}");
        }
    }

    #[test]
    fn plans_keep_to_their_memory() {
        let modulus = Modulus::rsa2048();
        for t in [0, 1, 100, 1 << 12, 1 << 20, 1 << 26, 1 << 34, 1 << 63] {
            for memory in [0, 1 << 16, 1 << 20, 1 << 26] {
                let plan = Plan::new(&modulus, t, memory, 2);
                let values = t.div_ceil(plan.interval()).max(1) * 256;
                assert!(
                    values + ((256 << plan.bits) * plan.threads as u64) <= memory.max(1024),
                    "{t}"
                );
            }
        }
        assert!(Plan::new(&modulus, 1 << 30, 1 << 26, 1).cost() < (1 << 30) / 10);
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

    fn refused(statement: &Statement, proof: &Element) {
        let outcome = verify(System::Wesolowski, statement, proof);
        assert!(matches!(outcome, Err(Error::Invalid)), "{outcome:?}");
    }

    #[test]
    fn challenges_of_another_or_a_truncated_statement() {
        let (plan, tape, statement) = honest(2000);
        let right = prove(&plan, &tape, System::Wesolowski, &statement);
        verify(System::Wesolowski, &statement, &right).unwrap();
        let blank = |change: fn(&mut Statement)| {
            let mut truncated = statement.clone();
            change(&mut truncated);
            Transcript::new(System::Wesolowski, &truncated).challenge_prime()
        };
        let primes = [
            Transcript::new(System::Segmented, &statement).challenge_prime(),
            blank(|s| s.iterations = 0),
            blank(|s| s.x = s.modulus.reduce(&[0]).0),
            blank(|s| s.y = s.modulus.reduce(&[1]).0.element(&s.modulus)),
            blank(|s| s.modulus = Modulus::lcs35()),
        ];
        for prime in primes {
            refused(&statement, &answer(&plan, &tape, &statement.modulus, &prime));
        }
    }

    #[test]
    fn a_challenge_that_is_no_prime() {
        let (plan, tape, statement) = honest(2000);
        let mut smooth = [0; 4];
        smooth[0] = 0x3b1d_65eb_5a4f_8a61; // odd, with small factors
        smooth[3] = 1 << 63;
        while !crate::prime::has_small_factor(&smooth) {
            smooth[0] += 2;
        }
        refused(&statement, &answer(&plan, &tape, &statement.modulus, &smooth));
        let mut shifted = Transcript::new(System::Wesolowski, &statement).challenge_prime();
        shifted[0] ^= 2;
        refused(&statement, &answer(&plan, &tape, &statement.modulus, &shifted));
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
        let tape = evaluation.take_tape().unwrap();
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
        let proof = answer(&plan, &tape, &modulus, &prime);
        refused(&forged, &proof);
        // As w has order 2 and ℓ is odd, π·w is a proof of y·w: proofs are sound only where nobody
        // knows an element of low order, and to know one is to know a factor of N.
        verify(System::Wesolowski, &forged, &times_w(proof.residue())).unwrap();
        let mut minus = w.clone();
        nat::sub(&mut minus, &[1]);
        assert_eq!(nat::gcd_odd(&minus, modulus.limbs()), p);
    }
}
