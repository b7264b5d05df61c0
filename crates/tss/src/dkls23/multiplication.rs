//! Random vector OLE: two parties turn products of secrets into sums.
//!
//! Alice has a = (a_1, a_2), Bob gets a random b; afterwards c_k + d_k = a_k·b, Alice holding c and
//! Bob d, two messages in all. DKLs23 §5 (Protocol 5.2) with ℓ = 2 and ρ = 1, over the transfers of
//! `ot_extension`.
//!
//! Bob's b = Σ g_j·β_j over the public gadget vector g ∈ Z_q^416, β his choice bits. In transfer j
//! Alice has pads α⁰_j, α¹_j ∈ Z_q³ and Bob γ_j = α_j^{β_j}. Alice sends
//! ã_j = α⁰_j − α¹_j + (a_1, a_2, â), â random, so that γ_j + β_j·ã_j = α⁰_j + β_j·(a_1, a_2, â).
//! The third component shows that she used one and the same a everywhere: with θ from the oracle,
//! she sends η = â + θ·a and a hash of all μ_j = α⁰_{j,3} + θ·α⁰_j, which Bob computes as well from
//! what he has minus β_j·η. An Alice who cheats in some transfers passes only if she guessed Bob's
//! choice in each of these. That she may learn so a few bits of β does no harm: g has 2·80 elements
//! more than b has bits, and b stays uniform given any 80 guessed bits.
//!
//! In constant time on all secrets.

use core::array;

use k256::Scalar;
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::base_ot::{Chosen, Offered};
use super::ot_extension::{self, Choices, ReceiverRows};
use crate::engine::Check;
use crate::oracle::{LANES, Oracle, Prf, scalar_of};
use crate::wire::{Reader, SCALAR, Writer, holds, random_scalar};

/// Products of one run: Alice's inputs.
pub(crate) const WIDTH: usize = 2;
/// Transfers of one run, ξ = κ + 2·λ_s with κ = 256 and λ_s = 80.
const TRANSFERS: usize = 256 + 2 * 80;
/// Components of a pad: the inputs' and the check's.
const PAD: usize = WIDTH + 1;
const NONCE: usize = 32;
const HASH: usize = 32;
/// Bytes of Bob's message.
pub(crate) const FIRST: usize = ot_extension::MESSAGE;
/// Bytes of Alice's message.
pub(crate) const SECOND: usize = NONCE + TRANSFERS * PAD * SCALAR + HASH + SCALAR;

/// The public vector g of one direction of one pair, drawn by both at setup.
pub(crate) struct Gadget(Vec<Scalar>);

impl Gadget {
    /// Expands the vector from the pair's seed.
    pub(crate) fn new(seed: &[u8; 32]) -> Self {
        let prf = Prf::new("rvole/gadget", seed);
        let group = |g: usize| {
            let numbers = array::from_fn(|lane| (LANES * g + lane) as u32);
            *prf.block_16(&[numbers])
        };
        Self((0..TRANSFERS / LANES).flat_map(group).map(scalar_of).collect())
    }
}

/// Bob between the two messages.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Bob {
    /// In a box, which keeps their alignment from this type, as in [`Chosen::choices`]; it wipes itself.
    #[zeroize(skip)]
    choices: Box<Zeroizing<Choices>>,
    rows: ReceiverRows,
    /// b, Bob's random factor.
    pub(crate) factor: Scalar,
}

impl Bob {
    /// Draws b and returns Bob's message.
    pub(crate) fn new(
        keys: &Offered,
        gadget: &Gadget,
        label: &[u8; 32],
        rng: &mut impl CryptoRng,
    ) -> (Self, Zeroizing<Vec<u8>>) {
        let mut choices = Box::new(Zeroizing::new(Choices::default()));
        let mut bytes = Zeroizing::new([0; 16]);
        for word in choices.iter_mut() {
            rng.fill_bytes(&mut bytes[..]);
            *word = u128::from_le_bytes(*bytes);
        }
        let (rows, message) = ot_extension::receive(keys, label, &choices, rng);
        let mut factor = Scalar::ZERO;
        for (j, element) in gadget.0.iter().enumerate() {
            factor += Scalar::conditional_select(&Scalar::ZERO, element, bit(&choices, j));
        }
        (Self { choices, rows, factor }, message)
    }

    /// All secrets, with their names.
    #[cfg(test)]
    pub(crate) fn secrets(&self) -> Vec<crate::wiped::Secret> {
        use crate::wiped::secret;
        let mut all = vec![secret("factor", self.factor.to_bytes())];
        all.extend(self.choices.iter().map(|word| secret("factor's digits", word.to_le_bytes())));
        all.extend((0..TRANSFERS).map(|j| secret("row", self.rows.row(j).to_le_bytes())));
        all
    }

    /// Takes Alice's message; returns d.
    pub(crate) fn finish(&self, gadget: &Gadget, message: &[u8]) -> Result<[Scalar; WIDTH], Check> {
        let mut reader = Reader::new(message);
        let nonce: [u8; NONCE] = reader.array()?;
        let salt = salt(&self.rows.transcript, &nonce);
        let sums = reader.slice(TRANSFERS * PAD * SCALAR)?;
        let theta = challenge(&salt, sums);
        let hash: [u8; HASH] = reader.array()?;
        let eta = reader.scalar()?;
        reader.finish()?;

        let mut mu = MuHash::new(&salt);
        let mut outputs = [Scalar::ZERO; WIDTH];
        let mut sums = Reader::new(sums);
        let mut shares = pads(&salt, |j| self.rows.row(j));
        for ((j, element), share) in gadget.0.iter().enumerate().zip(shares.iter_mut()) {
            let choice = bit(&self.choices, j);
            for component in share.iter_mut() {
                let sum = sums.scalar()?;
                *component += Scalar::conditional_select(&Scalar::ZERO, &sum, choice);
            }
            let eta = Scalar::conditional_select(&Scalar::ZERO, &eta, choice);
            mu.absorb(&(combine(&theta, share) - eta));
            for (output, component) in outputs.iter_mut().zip(share.iter()) {
                *output += element * component;
            }
        }
        if holds(mu.finish().ct_eq(&hash)) { Ok(outputs) } else { Err(Check::Multiplication) }
    }
}

/// Alice's whole part: takes Bob's message and her inputs; returns c and the message to send.
pub(crate) fn alice(
    keys: &Chosen,
    gadget: &Gadget,
    label: &[u8; 32],
    message: &[u8],
    inputs: &[Scalar; WIDTH],
    rng: &mut impl CryptoRng,
) -> Result<([Scalar; WIDTH], Zeroizing<Vec<u8>>), Check> {
    let rows = ot_extension::send(keys, label, message)?;
    let mut nonce = [0; NONCE];
    rng.fill_bytes(&mut nonce);
    let salt = salt(&rows.transcript, &nonce);
    let check = Zeroizing::new(random_scalar(rng));
    let inputs = Zeroizing::new([inputs[0], inputs[1], *check]);

    let zeros = pads(&salt, |j| rows.row(j)[0]);
    let ones = pads(&salt, |j| rows.row(j)[1]);
    let mut outputs = [Scalar::ZERO; WIDTH];
    let mut reply = Writer::with_capacity(SECOND);
    reply.bytes(&nonce);
    for ((zero, one), element) in zeros.iter().zip(ones.iter()).zip(&gadget.0) {
        for k in 0..PAD {
            reply.scalar(&(zero[k] - one[k] + inputs[k]));
        }
        for (output, component) in outputs.iter_mut().zip(zero) {
            *output -= element * component;
        }
    }
    let mut reply = reply.finish();
    let theta = challenge(&salt, &reply[NONCE..]);
    let mut mu = MuHash::new(&salt);
    zeros.iter().for_each(|zero| mu.absorb(&combine(&theta, zero)));
    reply.extend_from_slice(&mu.finish());
    reply.extend_from_slice(&combine(&theta, &inputs).to_bytes());
    Ok((outputs, reply))
}

/// The check's combination of a pad: its last component plus θ times the others.
fn combine(theta: &[Scalar; WIDTH], pad: &[Scalar; PAD]) -> Scalar {
    theta.iter().zip(pad).fold(pad[WIDTH], |sum, (factor, component)| sum + factor * component)
}

fn bit(choices: &Choices, j: usize) -> Choice {
    Choice::from((choices[j / 128] >> (j % 128) & 1) as u8)
}

/// Binds the pads to everything sent and to a nonce of each side.
fn salt(transcript: &[u8; 32], nonce: &[u8; NONCE]) -> [u8; 32] {
    Oracle::new("rvole/salt").absorb(transcript).absorb(nonce).finish()
}

/// Hashes the rows of the extension to pads: component k of pad j from row j ‖ 256·j + k.
fn pads(salt: &[u8; 32], row: impl Fn(usize) -> u128) -> Zeroizing<Vec<[Scalar; PAD]>> {
    const { assert!(TRANSFERS.is_multiple_of(LANES), "the transfers fill the lanes") };
    let prf = Prf::new("rvole/pad", salt);
    let mut pads = Zeroizing::new(vec![[Scalar::ZERO; PAD]; TRANSFERS]);
    let mut inputs = Zeroizing::new([[0u32; LANES]; 5]);
    for (g, pads) in pads.chunks_exact_mut(LANES).enumerate() {
        for lane in 0..LANES {
            // The row's little-endian bytes, read as big-endian words.
            let row = row(LANES * g + lane).swap_bytes();
            for (w, words) in inputs[..4].iter_mut().enumerate() {
                words[lane] = (row >> (96 - 32 * w)) as u32;
            }
        }
        for k in 0..PAD {
            inputs[4] = array::from_fn(|lane| (256 * (LANES * g + lane) + k) as u32);
            let hashes = prf.block_16(&inputs);
            for (pad, hash) in pads.iter_mut().zip(hashes.iter()) {
                pad[k] = scalar_of(*hash);
            }
        }
    }
    pads
}

/// θ, from Alice's ã and all that came before.
fn challenge(salt: &[u8; 32], sums: &[u8]) -> [Scalar; WIDTH] {
    let seed = Oracle::new("rvole/sums").absorb(salt).absorb(sums).finish();
    array::from_fn(|k| Oracle::new("rvole/theta").absorb(&seed).absorb(&[k as u8]).scalar())
}

/// The hash of all μ_j.
struct MuHash(Zeroizing<Vec<u8>>, [u8; 32]);

impl MuHash {
    fn new(salt: &[u8; 32]) -> Self {
        Self(Zeroizing::new(Vec::with_capacity(TRANSFERS * SCALAR)), *salt)
    }

    fn absorb(&mut self, mu: &Scalar) {
        self.0.extend_from_slice(&mu.to_bytes());
    }

    fn finish(self) -> [u8; HASH] {
        Oracle::new("rvole/mu").absorb(&self.1).absorb(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dkls23::ot_extension::tests::base;
    use chacha20::ChaCha20Rng;
    use k256::elliptic_curve::Field;
    use rand_core::SeedableRng;

    const LABEL: [u8; 32] = [4; 32];

    fn run(tamper: impl Fn(&mut Vec<u8>)) -> Result<(), Check> {
        let (chosen, offered) = base(1);
        let gadget = Gadget::new(&[6; 32]);
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        let inputs = [Scalar::random(&mut rng), Scalar::random(&mut rng)];
        let (bob, first) = Bob::new(&offered, &gadget, &LABEL, &mut rng);
        let (c, mut second) = alice(&chosen, &gadget, &LABEL, &first, &inputs, &mut rng).unwrap();
        assert_eq!((first.len(), second.len()), (FIRST, SECOND));
        tamper(&mut second);
        let factor = bob.factor;
        let d = bob.finish(&gadget, &second)?;
        for k in 0..WIDTH {
            assert_eq!(c[k] + d[k], inputs[k] * factor);
        }
        Ok(())
    }

    #[test]
    fn shares_add_up_to_the_product() {
        assert_eq!(run(|_| ()), Ok(()));
    }

    #[test]
    fn a_cheating_alice_is_caught() {
        let end = SECOND - 1;
        // The nonce, ã of one transfer, μ, η.
        for place in [0, NONCE + 31, end - SCALAR, end] {
            assert_eq!(run(|message| message[place] ^= 1), Err(Check::Multiplication), "{place}");
        }
        let too_big = |message: &mut Vec<u8>| message[NONCE..NONCE + SCALAR].fill(0xff);
        assert_eq!(run(too_big), Err(Check::Encoding));
        assert_eq!(run(|message| message.truncate(SECOND - 1)), Err(Check::Encoding));
    }
}
