//! Pietrzak's proof: halve T again and again, in the signed quadratic residues.
//!
//! The claim is that v = u^(2^S) for u, v in QR⁺, the numbers of 1 to (N − 1)/2 with Jacobi symbol 1.
//! A round of the proof: where S is odd, u becomes u² and S one less. Then the prover sends
//! μ = u^(2^(S/2)), a challenge r of 128 bits is drawn, and the claims μ = u^(2^(S/2)) and
//! v = μ^(2^(S/2)) are folded into one: u ← u^r·μ, v ← μ^r·v, S ← S/2. When S is at most [`LAST`],
//! the verifier squares himself. The first claim has u = x² and S = T − 1, so that u is a residue
//! whatever x is; T = 0 needs no proof.
//!
//! The prover records the values of the chain that the first d rounds need, 2^d to 2^(d+1) of them at
//! exponents known beforehand, and folds these lists along with u and v; what remains after d rounds is
//! squared again.
//!
//! K. Pietrzak, Simple verifiable delay functions, 2018/627, §3 and §6 (halving, signed residues).

use crate::tape::Tape;
use crate::transcript::{Statement, Transcript};
use crate::wesolowski::check_units;
use crate::{Element, Error, Modulus, System, nat};
use tetralith_kernels::mont::FastRing;

/// The claim at which rounds stop.
const LAST: u64 = 256;

/// The shape of one round: S before it, whether u is squared first, and half of what S is then.
#[derive(Clone, Copy)]
struct Round {
    odd: u64,
    half: u64,
}

/// The rounds for T, and the number of squarings of the claim that remains.
fn rounds(iterations: u64) -> (Vec<Round>, u64) {
    let mut rest = iterations.saturating_sub(1);
    let mut rounds = Vec::new();
    while rest > LAST {
        let round = Round { odd: rest & 1, half: rest / 2 };
        rounds.push(round);
        rest = round.half;
    }
    (rounds, rest)
}

/// The number of elements of a proof for T.
pub(crate) fn proof_len(iterations: u64) -> usize {
    rounds(iterations).0.len()
}

/// How a proof will be computed: which exponents each of the first d rounds needs.
pub(crate) struct Plan {
    rounds: Vec<Round>,
    /// For each recorded round and the one after: exponents of its u, rising. The first list counts
    /// from u = x².
    needs: Vec<Vec<u64>>,
}

impl Plan {
    /// The cheapest plan whose recorded values fit `memory` bytes.
    pub(crate) fn new(modulus: &Modulus, iterations: u64, memory: u64) -> Self {
        let (rounds, _) = rounds(iterations);
        let most = memory / (16 * modulus.fast().len() as u64); // 2^(d+1) values
        let depths = (0..=rounds.len().min(30)).filter(|&d| 1 << d <= most.max(1));
        // A folded value costs about 160 multiplications; each half of the rest is squared once.
        let cost = |d: &usize| (160u64 << d).saturating_add((iterations >> d).saturating_mul(2));
        Self::with_depth(iterations, depths.min_by_key(cost).unwrap_or(0))
    }

    /// The number of rounds whose values are recorded.
    pub(crate) fn depth(&self) -> u64 {
        self.needs.len() as u64 - 1
    }

    /// The plan that records the values of so many rounds.
    pub(crate) fn with_depth(iterations: u64, depth: usize) -> Self {
        let (rounds, _) = rounds(iterations);
        let depth = depth.min(rounds.len()).min(30);
        let mut needs = vec![vec![0]];
        for round in rounds[..depth].iter().rev() {
            let later = &needs[needs.len() - 1];
            let low = later.iter().map(|e| e + round.odd);
            let high = later.iter().map(|e| e + round.odd + round.half);
            let mut need: Vec<u64> = low.chain(high).collect();
            need.push(round.odd + round.half);
            need.sort_unstable();
            need.dedup();
            needs.push(need);
        }
        needs.reverse();
        Self { rounds, needs }
    }

    /// The empty tape to record on: exponents of x, where u = x^(2^1).
    pub(crate) fn tape(&self, modulus: &Modulus) -> Tape {
        Tape::at(modulus, self.needs[0].iter().map(|e| e + 1).collect())
    }
}

/// Computes the proof elements from the recorded values; none where `go_on`, asked now and then, says
/// `false`.
pub(crate) fn prove(
    plan: &Plan,
    tape: &Tape,
    statement: &Statement,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Element>> {
    if statement.iterations == 0 {
        return Some(Vec::new());
    }
    prove_by(plan, tape, &statement.modulus, Transcript::new(System::Pietrzak, statement), go_on)
}

/// The same with challenges of that transcript, which a forger might choose.
fn prove_by(
    plan: &Plan,
    tape: &Tape,
    modulus: &Modulus,
    mut transcript: Transcript,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Element>> {
    let ring = &mut modulus.fast().clone();
    let mut values: Vec<Vec<u64>> =
        (0..plan.needs[0].len()).map(|i| tape.value(i).to_vec()).collect();
    let mut proof = Vec::new();
    let mut send = |middle: &[u64]| {
        let mu = element(modulus, middle);
        transcript.absorb(&mu.to_bytes());
        proof.push(mu);
        transcript.challenge()
    };
    for (round, (need, later)) in plan.rounds.iter().zip(plan.needs.iter().zip(&plan.needs[1..])) {
        let at = |e: u64| {
            let i = need.binary_search(&e).expect("a plan holds what its rounds need");
            &values[i][..]
        };
        let (low, high) = (round.odd, round.odd + round.half);
        let r = send(at(high));
        if !go_on() {
            return None;
        }
        values = later.iter().map(|e| folded(ring, at(e + low), &r, at(e + high))).collect();
    }
    let mut u = values.swap_remove(0);
    for round in &plan.rounds[plan.needs.len() - 1..] {
        u = squared_while(ring, &u, round.odd, go_on)?;
        let middle = squared_while(ring, &u, round.half, go_on)?;
        let r = send(&middle);
        u = folded(ring, &u, &r, &middle);
    }
    Some(proof)
}

/// a^r·b.
fn folded(ring: &mut FastRing, a: &[u64], r: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = ring.pow_vartime(a, r);
    ring.mul_assign(&mut out, b);
    out
}

fn squared(ring: &mut FastRing, a: &[u64], count: u64) -> Vec<u64> {
    let mut a = a.to_vec();
    ring.square_assign(&mut a, count);
    a
}

/// The same, for as long as it is wanted.
fn squared_while(
    ring: &mut FastRing,
    a: &[u64],
    count: u64,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<u64>> {
    let (mut a, mut left) = (a.to_vec(), count);
    while left > 0 {
        if !go_on() {
            return None;
        }
        let some = left.min(crate::eval::CHECK_EVERY);
        ring.square_assign(&mut a, some);
        left -= some;
    }
    Some(a)
}

fn element(modulus: &Modulus, a: &[u64]) -> Element {
    modulus.residue(modulus.fast().leave(a)).element(modulus)
}

/// Checks a proof.
///
/// # Errors
/// [`Error::Invalid`], which says no more; [`Error::NotUnit`] and [`Error::NotResidue`] where a number
/// is not in the group.
pub(crate) fn verify(statement: &Statement, proof: &[Element]) -> Result<(), Error> {
    check_units(statement)?;
    let (rounds, rest) = rounds(statement.iterations);
    let modulus = &statement.modulus;
    if statement.iterations == 0 {
        let same = statement.x.element(modulus) == statement.y && proof.is_empty();
        return if same { Ok(()) } else { Err(Error::Invalid) };
    }
    if rounds.len() != proof.len() {
        return Err(Error::Invalid);
    }
    check_residues(modulus, &statement.y, proof)?;
    let ring = &mut modulus.fast().clone();
    let mut transcript = Transcript::new(System::Pietrzak, statement);
    let x = ring.enter(statement.x.limbs());
    let mut u = squared(ring, &x, 1);
    let mut v = ring.enter(statement.y.residue().limbs());
    for (round, mu) in rounds.iter().zip(proof) {
        u = squared(ring, &u, round.odd);
        transcript.absorb(&mu.to_bytes());
        let r = transcript.challenge();
        let mu = ring.enter(mu.residue().limbs());
        u = folded(ring, &u, &r, &mu);
        v = folded(ring, &mu, &r, &v);
    }
    if element(modulus, &squared(ring, &u, rest)) == element(modulus, &v) {
        Ok(())
    } else {
        Err(Error::Invalid)
    }
}

/// Refuses elements whose Jacobi symbol is not 1: they are no signed quadratic residues.
///
/// Where N = 3 mod 4, −1 has the symbol −1, so of a and −a exactly one has the symbol 1 and the test
/// could refuse nothing but right elements; there it is left out.
fn check_residues(modulus: &Modulus, y: &Element, proof: &[Element]) -> Result<(), Error> {
    let symbol = |a: &Element| nat::jacobi(a.residue().limbs(), modulus.limbs());
    if modulus.limbs()[0] & 3 == 3 {
        return Ok(());
    }
    if symbol(y) != 1 {
        return Err(Error::NotResidue { what: "y" });
    }
    if proof.iter().any(|mu| symbol(mu) != 1) {
        return Err(Error::NotResidue { what: "an element of the proof" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evaluation, Residue};

    fn honest(modulus: &Modulus, x: &Residue, t: u64) -> (Plan, Tape, Statement) {
        let plan = Plan::new(modulus, t, 1 << 20);
        let mut evaluation = Evaluation::new(modulus, x, t).unwrap();
        evaluation.record(plan.tape(modulus));
        evaluation.advance(t).unwrap();
        let y = evaluation.result().unwrap().element(modulus);
        let tape = evaluation.take_tape().unwrap();
        (plan, tape, Statement { modulus: modulus.clone(), x: x.clone(), iterations: t, y })
    }

    #[test]
    fn challenges_of_another_or_a_truncated_statement() {
        let modulus = Modulus::rsa2048();
        let (x, _) = modulus.reduce(b"forged");
        let (plan, tape, statement) = honest(&modulus, &x, 2000);
        verify(&statement, &prove(&plan, &tape, &statement, &mut || true).unwrap()).unwrap();
        let blank = |change: fn(&mut Statement)| {
            let mut truncated = statement.clone();
            change(&mut truncated);
            Transcript::new(System::Pietrzak, &truncated)
        };
        let transcripts = [
            Transcript::new(System::Wesolowski, &statement),
            blank(|s| s.iterations = 0),
            blank(|s| s.x = s.modulus.reduce(&[0]).0),
            blank(|s| s.y = s.modulus.reduce(&[1]).0.element(&s.modulus)),
            blank(|s| s.modulus = Modulus::lcs35()),
        ];
        for transcript in transcripts {
            let proof = prove_by(&plan, &tape, &modulus, transcript, &mut || true).unwrap();
            assert!(matches!(verify(&statement, &proof), Err(Error::Invalid)));
        }
        // Too few and too many elements.
        let proof = prove(&plan, &tape, &statement, &mut || true).unwrap();
        assert!(matches!(verify(&statement, &proof[1..]), Err(Error::Invalid)));
        let more = [&proof[..], &proof[..1]].concat();
        assert!(matches!(verify(&statement, &more), Err(Error::Invalid)));
    }

    #[test]
    fn outputs_with_a_factor_of_low_order() {
        // As for Wesolowski's proofs: w is 1 modulo p and -1 modulo q, for a modulus whose factors are known.
        let (p, q) = ((1u64 << 61) - 1, (1u64 << 31) - 1);
        let modulus = Modulus::from_limbs_unchecked(&nat::mul(&[p], &[q]));
        let inverse = u128::from(crate::modulus::pow_small(p % q, q - 2, q));
        let k = (inverse * u128::from(q - 2) % u128::from(q)) as u64;
        let mut w = nat::mul(&[p], &[k]);
        nat::add(&mut w, &[1]);
        let times_w = |a: &Residue| {
            let product = modulus.ring().mul(&modulus.ring().enter(a.limbs()), &w);
            modulus.residue(product).element(&modulus)
        };
        let (x, _) = modulus.reduce(&[6]);
        let (plan, tape, statement) = honest(&modulus, &x, 2000);
        verify(&statement, &prove(&plan, &tape, &statement, &mut || true).unwrap()).unwrap();
        let forged = Statement { y: times_w(statement.y.residue()), ..statement };
        // The honest elements for the forged statement, and each of them times w: with an element
        // times w the claim is right again where r + 1 is even, so one round in two must refuse.
        let mut proof = prove(&plan, &tape, &forged, &mut || true).unwrap();
        assert!(verify(&forged, &proof).is_err());
        let last = proof.len() - 1;
        proof[last] = times_w(proof[last].residue());
        let early = verify(&forged, &proof);
        assert!(early.is_err() || last == 0);
    }
}
