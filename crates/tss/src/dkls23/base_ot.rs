//! 128 base oblivious transfers between two parties, in three messages.
//!
//! Canetti, Sarkar and Wang, "Blazing Fast OT for Three-Round UC OT Extension" (ePrint 2020/110,
//! PKC 2020): Chou and Orlandi's "simplest" transfer with a second base point T from the random
//! oracle, and with one challenge and answer over the whole batch, from which the receiver's
//! choices can be extracted. UC-secure with selective failure (a sender may guess choice bits and
//! is caught unless all guesses are right) in the random-oracle model under CDH, which is what OT
//! extension needs. A transfer costs each side about one multiplication by a secret.
//!
//! 1. receiver → sender: seed, and B_i = α_i·G + w_i·T with T = H(seed);
//! 2. sender → receiver: z = r·G, χ_i = H(p_i⁰) ⊕ H(p_i¹) with p_i⁰ = H(r·B_i),
//!    p_i¹ = H(r·B_i − r·T), and Π = H(answer), answer = H(H(p_1⁰), …, H(p_128⁰));
//! 3. receiver → sender: the answer, which it can compute from p_i^{w_i} = H(α_i·z) and χ_i, after
//!    it has checked Π.
//!
//! Secret: w and the pads of the receiver, r and all pads of the sender. In constant time but for
//! the rejection of malformed messages.

use core::mem;
use k256::{ProjectivePoint, Scalar};
use rand_core::CryptoRng;
use subtle::{Choice, ConstantTimeEq};
use tetralith_kernels::ct;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::many::{Base, mul_points};
use crate::engine::Check;
use crate::oracle::{Oracle, Prf};
use crate::wire::{POINT, Reader, Writer, decode_point, holds, random_scalar};

/// Number of transfers: the computational security parameter.
pub(crate) const COUNT: usize = 128;
/// Bytes of a transferred pad, of the challenges and of the answer.
pub(crate) const PAD: usize = 32;
/// Bytes of the receiver's first message.
pub(crate) const REQUEST: usize = PAD + COUNT * POINT;
/// Bytes of the sender's reply.
pub(crate) const REPLY: usize = POINT + COUNT * PAD + PAD;
/// Bytes of the receiver's answer.
pub(crate) const ANSWER: usize = PAD;

/// What the receiver learns: a choice bit for each transfer, and the pad that it chose.
#[derive(Clone, Default, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Chosen {
    /// Bit i, little-endian, is the choice of transfer i. As bytes: a word of 128 bits is aligned to
    /// 16, and moving it would fill the bytes between it and its neighbors with what the stack held.
    pub(crate) choices: [u8; COUNT / 8],
    pub(crate) pads: Vec<[u8; PAD]>,
}

/// What the sender learns: both pads of each transfer.
#[derive(Clone, Default, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Offered {
    pub(crate) pads: Vec<[[u8; PAD]; 2]>,
}

/// The receiver between its two messages.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Receiver {
    choices: [u8; COUNT / 8],
    exponents: Vec<Scalar>,
    #[zeroize(skip)]
    request: [u8; 32],
}

impl Receiver {
    /// Draws the choices and begins the transfers; returns the request to send.
    pub(crate) fn new(label: &[u8; 32], rng: &mut impl CryptoRng) -> (Self, Zeroizing<Vec<u8>>) {
        let mut bytes = Zeroizing::new([0; 16]);
        rng.fill_bytes(&mut bytes[..]);
        let choices = u128::from_le_bytes(*bytes);
        let mut seed = [0; PAD];
        rng.fill_bytes(&mut seed);
        // It goes into the request as it is.
        let seed = ct::public(seed);
        let second = second_base(label, &seed);

        let exponents: Vec<Scalar> = (0..COUNT).map(|_| random_scalar(rng)).collect();
        let points = Base::generator().mul_all(&exponents, Some((&second, choices)));

        let mut message = Writer::with_capacity(REQUEST);
        message.bytes(&seed);
        points.iter().for_each(|point| {
            message.bytes(point);
        });
        let message = message.finish();
        let request = request_hash(label, &message);
        (Self { choices: *bytes, exponents, request }, message)
    }

    /// All secrets, with their names.
    #[cfg(test)]
    pub(crate) fn secrets(&self) -> Vec<crate::wiped::Secret> {
        use crate::wiped::secret;
        let exponent = |scalar: &Scalar| secret("exponent", scalar.to_bytes());
        let mut all: Vec<_> = self.exponents.iter().map(exponent).collect();
        all.push(secret("choices", self.choices));
        all
    }

    /// Takes the sender's reply; returns the pads and the answer to send.
    pub(crate) fn answer(&self, reply: &[u8]) -> Result<(Chosen, [u8; ANSWER]), Check> {
        let mut reader = Reader::new(reply);
        let public = reader.slice(POINT)?;
        let base = Base::new(&decode_point(public).ok_or(Check::Encoding)?);
        let points = base.mul_all(&self.exponents, None);
        let pads = pads(&self.request, public, &points);

        let short = Prf::new("base-ot/short", &self.request);
        let mut answer = Oracle::new("base-ot/answer").absorb(&self.request);
        for (i, pad) in pads.iter().enumerate() {
            let challenge: [u8; PAD] = reader.array()?;
            let mut response = Zeroizing::new(short.block(pad));
            let mask = 0u8.wrapping_sub(bit(u128::from_le_bytes(self.choices), i).unwrap_u8());
            response.iter_mut().zip(challenge).for_each(|(byte, other)| *byte ^= mask & other);
            answer = answer.absorb(&response[..]);
        }
        let answer = answer.finish();
        let proof: [u8; PAD] = reader.array()?;
        reader.finish()?;
        if !holds(short.block(&answer).ct_eq(&proof)) {
            return Err(Check::BaseTransfer);
        }
        Ok((Chosen { choices: self.choices, pads: pads.to_vec() }, answer))
    }
}

/// The sender between its reply and the receiver's answer.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Sender {
    offered: Offered,
    answer: [u8; ANSWER],
}

impl Sender {
    /// Takes the receiver's request; returns the reply to send.
    pub(crate) fn reply(
        label: &[u8; 32],
        request: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<(Self, Zeroizing<Vec<u8>>), Check> {
        let mut reader = Reader::new(request);
        let seed: [u8; PAD] = reader.array()?;
        let secret = Zeroizing::new(random_scalar(rng));
        let public = crate::wire::encode_point(&ProjectivePoint::mul_by_generator(&secret));
        let shift = -(second_base(label, &seed) * *secret);
        let points = reader.slice(COUNT * POINT)?;
        reader.finish()?;
        let [first, second] = mul_points(points, &secret, &shift).ok_or(Check::Encoding)?;

        let request = request_hash(label, request);
        let zeros = pads(&request, &public, &first);
        let ones = pads(&request, &public, &second);

        let short = Prf::new("base-ot/short", &request);
        let mut answer = Oracle::new("base-ot/answer").absorb(&request);
        let mut reply = Writer::with_capacity(REPLY);
        reply.bytes(&public);
        for (zero, one) in zeros.iter().zip(ones.iter()) {
            let mut challenge = short.block(zero);
            answer = answer.absorb(&challenge);
            challenge.iter_mut().zip(short.block(one)).for_each(|(byte, other)| *byte ^= other);
            reply.bytes(&challenge);
        }
        let answer = answer.finish();
        reply.bytes(&short.block(&answer));
        let pads = zeros.iter().zip(ones.iter()).map(|(zero, one)| [*zero, *one]).collect();
        Ok((Self { offered: Offered { pads }, answer }, reply.finish()))
    }

    /// Checks the receiver's answer and gives away the pads.
    pub(crate) fn finish(&mut self, answer: &[u8]) -> Result<Offered, Check> {
        if holds(self.answer[..].ct_eq(answer)) {
            Ok(mem::take(&mut self.offered))
        } else {
            Err(Check::BaseTransfer)
        }
    }
}

/// Bit i of `bits`.
fn bit(bits: u128, i: usize) -> Choice {
    Choice::from((bits >> i & 1) as u8)
}

/// The hash of all that both sides know after the request.
fn request_hash(label: &[u8; 32], request: &[u8]) -> [u8; 32] {
    Oracle::new("base-ot/request").absorb(label).absorb(request).finish()
}

/// Hashes the shared points to pads.
fn pads(request: &[u8; 32], public: &[u8], points: &[[u8; POINT]]) -> Zeroizing<Vec<[u8; PAD]>> {
    let salt = Oracle::new("base-ot/pads").absorb(request).absorb(public).finish();
    let prf = Prf::new("base-ot/pad", &salt);
    let mut pads = Zeroizing::new(Vec::with_capacity(COUNT));
    let mut input = Zeroizing::new([0; 1 + POINT]);
    for (i, point) in points.iter().enumerate() {
        input[0] = i as u8;
        input[1..].copy_from_slice(point);
        pads.push(prf.block(&input));
    }
    pads
}

/// The second base point: the random oracle, by trial. Nobody knows its discrete logarithm.
fn second_base(label: &[u8; 32], seed: &[u8; PAD]) -> ProjectivePoint {
    let salt = Oracle::new("base-ot/base").absorb(label).absorb(seed).finish();
    let prf = Prf::new("base-ot/point", &salt);
    let mut counter = 0u64;
    loop {
        let mut candidate = [2; POINT];
        candidate[1..].copy_from_slice(&prf.block(&counter.to_le_bytes()));
        // Half of all abscissas have a point: the loop ends after two rounds on average.
        if let Some(point) = decode_point(&candidate) {
            return point;
        }
        counter += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;

    const LABEL: [u8; 32] = [9; 32];

    fn rng(seed: u8) -> ChaCha20Rng {
        ChaCha20Rng::from_seed([seed; 32])
    }

    #[test]
    fn the_receiver_gets_what_it_chose() {
        let (receiver, request) = Receiver::new(&LABEL, &mut rng(1));
        let (mut sender, reply) = Sender::reply(&LABEL, &request, &mut rng(2)).unwrap();
        assert_eq!((request.len(), reply.len()), (REQUEST, REPLY));
        let (chosen, answer) = receiver.answer(&reply).unwrap();
        let offered = sender.finish(&answer).unwrap();
        let ones = u128::from_le_bytes(chosen.choices).count_ones();
        assert!((30..98).contains(&ones), "{ones} of 128 choices are 1");
        for (i, (pads, pad)) in offered.pads.iter().zip(&chosen.pads).enumerate() {
            let choice = usize::from(bit(u128::from_le_bytes(chosen.choices), i).unwrap_u8());
            assert_eq!(pads[choice], *pad);
            assert_ne!(pads[1 - choice], *pad);
        }
    }

    #[test]
    fn each_message_is_checked() {
        let (receiver, request) = Receiver::new(&LABEL, &mut rng(1));
        let mut bent = request.clone();
        bent[PAD] = 9;
        assert_eq!(Sender::reply(&LABEL, &bent, &mut rng(2)).err(), Some(Check::Encoding));
        let short = &request[..REQUEST - 1];
        assert_eq!(Sender::reply(&LABEL, short, &mut rng(2)).err(), Some(Check::Encoding));

        let (mut sender, reply) = Sender::reply(&LABEL, &request, &mut rng(2)).unwrap();
        for place in [POINT, REPLY - 1] {
            let (receiver, _) = Receiver::new(&LABEL, &mut rng(1));
            let mut bent = reply.clone();
            bent[place] ^= 1;
            // A changed challenge is seen only where the choice is 1: here choice 0 is.
            let seen = place == REPLY - 1 || receiver.choices[0] & 1 == 1;
            assert_eq!(receiver.answer(&bent).is_err(), seen);
        }
        let (_, mut answer) = receiver.answer(&reply).unwrap();
        answer[0] ^= 1;
        assert_eq!(sender.finish(&answer).err(), Some(Check::BaseTransfer));
    }

    #[test]
    fn another_label_is_another_transfer() {
        let (receiver, request) = Receiver::new(&LABEL, &mut rng(1));
        let (_, reply) = Sender::reply(&[8; 32], &request, &mut rng(2)).unwrap();
        assert_eq!(receiver.answer(&reply).err(), Some(Check::BaseTransfer));
    }
}
