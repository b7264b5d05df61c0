//! Oblivious-transfer extension: 416 random transfers from 128 base transfers, any number of times.
//!
//! Roy, "SoftSpokenOT" (CRYPTO 2022, ePrint 2022/192) with k = 1: the protocol of Ishai, Kilian,
//! Nissim and Petrank with a consistency check that is proven (that of KOS 2015 is not). The
//! challenge of the check comes from the random oracle, which makes it one message.
//!
//! The base transfers ran the other way: the extension's *sender* holds Δ ∈ {0,1}^128 and the seed
//! k_i^{Δ_i} of each column i, its *receiver* both seeds. The receiver expands them to columns
//! t_i⁰, t_i¹ and sends u_i = t_i⁰ ⊕ t_i¹ ⊕ x, x its choices; the sender has
//! q_i = t_i^{Δ_i} ⊕ Δ_i·u_i = t_i⁰ ⊕ Δ_i·x. Read as rows, q_j = t_j ⊕ x_j·Δ: the pads of transfer j
//! are hashes of q_j and q_j ⊕ Δ, of which the receiver knows the one of t_j.
//!
//! A receiver that does not put the same x in all columns would learn Δ. So both sides hash each
//! column with a universal hash of 128 bits, h(x) = x_last + Σ_b χ_b·x_b over GF(2^128) with χ from
//! the oracle, and the sender checks h(q_i) = h(t_i⁰) ⊕ Δ_i·h(x). The last block of x is random and
//! used for nothing else: h(x) says nothing about the choices.
//!
//! One failed check may tell the receiver a bit of Δ: after a failure the setup with that peer must
//! not be used again ([`crate::engine::Blame::retires_setup`]). A fresh nonce of the receiver is in
//! the expansion, one of the sender (see `multiplication`) in the output hash, so that not even a
//! repeated session name repeats a pad.

use rand_core::CryptoRng;
use subtle::{Choice, ConstantTimeEq};
use tetralith_kernels::bitmatrix::{multiply_add, reduce, transpose_128};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::base_ot::{COUNT, Chosen, Offered};
use crate::engine::Check;
use crate::oracle::{LANES, Oracle, Prf};
use crate::wire::{Reader, Writer, holds};

/// Blocks of 128 bits in a column: four of choices and one that masks the check.
const BLOCKS: usize = 5;
const DATA: usize = BLOCKS - 1;
const NONCE: usize = 32;
const BLOCK: usize = 16;
/// Bytes of the receiver's message.
pub(crate) const MESSAGE: usize = NONCE + COUNT * BLOCKS * BLOCK + BLOCK + COUNT * BLOCK;

/// The receiver's choices: bit b of word w is the choice of transfer 128·w + b.
pub(crate) type Choices = [u128; DATA];

/// A column, or the choices with their mask.
type Column = [u128; BLOCKS];

/// The receiver's rows: row j is t_j.
#[derive(ZeroizeOnDrop)]
pub(crate) struct ReceiverRows {
    rows: Vec<u128>,
    /// What the output hash binds: the label and the whole message.
    #[zeroize(skip)]
    pub(crate) transcript: [u8; 32],
}

/// The sender's rows: row j is q_j.
#[derive(ZeroizeOnDrop)]
pub(crate) struct SenderRows {
    rows: Vec<u128>,
    delta: u128,
    #[zeroize(skip)]
    pub(crate) transcript: [u8; 32],
}

/// The receiver's whole part: expands its seeds for `choices` and returns the message to send.
pub(crate) fn receive(
    keys: &Offered,
    label: &[u8; 32],
    choices: &Choices,
    rng: &mut impl CryptoRng,
) -> (ReceiverRows, Zeroizing<Vec<u8>>) {
    let mut nonce = [0; NONCE];
    rng.fill_bytes(&mut nonce);
    let mut mask = Zeroizing::new([0; BLOCK]);
    rng.fill_bytes(&mut mask[..]);
    let mut x: Zeroizing<Column> = Zeroizing::new([0; BLOCKS]);
    x[..DATA].copy_from_slice(choices);
    x[DATA] = u128::from_le_bytes(*mask);

    let expand = expander(label, &nonce);
    let columns = expand_all(&expand, keys.pads.iter().map(|[zero, _]| zero));
    let others = expand_all(&expand, keys.pads.iter().map(|[_, one]| one));
    let mut message = Writer::with_capacity(MESSAGE);
    message.bytes(&nonce);
    for (t, other) in columns.iter().zip(others.iter()) {
        for b in 0..BLOCKS {
            message.bytes(&(t[b] ^ other[b] ^ x[b]).to_le_bytes());
        }
    }
    let mut message = message.finish();
    let chi = challenges(label, &message);
    message.extend_from_slice(&universal_hash(&chi, &x).to_le_bytes());
    for t in columns.iter() {
        message.extend_from_slice(&universal_hash(&chi, t).to_le_bytes());
    }
    let transcript = transcript(label, &message);
    (ReceiverRows { rows: rows(&columns), transcript }, message)
}

/// The sender's whole part: checks the receiver's message.
pub(crate) fn send(keys: &Chosen, label: &[u8; 32], message: &[u8]) -> Result<SenderRows, Check> {
    let delta = u128::from_le_bytes(keys.choices);
    let mut reader = Reader::new(message);
    let nonce: [u8; NONCE] = reader.array()?;
    let expand = expander(label, &nonce);
    let mut columns = expand_all(&expand, keys.pads.iter());
    for (i, q) in columns.iter_mut().enumerate() {
        let chosen = mask(delta, i);
        for block in q {
            *block ^= chosen & u128::from_le_bytes(reader.array()?);
        }
    }

    let chi = challenges(label, &message[..NONCE + COUNT * BLOCKS * BLOCK]);
    let hash_x = u128::from_le_bytes(reader.array()?);
    let mut difference = 0;
    for (i, q) in columns.iter().enumerate() {
        let hash_t = u128::from_le_bytes(reader.array()?);
        difference |= universal_hash(&chi, q) ^ hash_t ^ (mask(delta, i) & hash_x);
    }
    reader.finish()?;
    if !holds(difference.ct_eq(&0)) {
        return Err(Check::TransferExtension);
    }
    Ok(SenderRows { rows: rows(&columns), delta, transcript: transcript(label, message) })
}

impl ReceiverRows {
    /// The row of transfer `j`, which is hashed to the chosen pad.
    pub(crate) fn row(&self, j: usize) -> u128 {
        self.rows[j]
    }
}

impl SenderRows {
    /// The rows of transfer `j` that are hashed to its two pads.
    pub(crate) fn row(&self, j: usize) -> [u128; 2] {
        [self.rows[j], self.rows[j] ^ self.delta]
    }
}

/// All ones if bit i of `delta` is set, else zero.
fn mask(delta: u128, i: usize) -> u128 {
    // Through a `Choice`, of which the compiler does not know that it is a bit and makes no branch.
    let bit = Choice::from((delta >> i & 1) as u8);
    u128::from(bit.unwrap_u8()).wrapping_neg()
}

fn expander(label: &[u8; 32], nonce: &[u8; NONCE]) -> Prf {
    Prf::new("ote/expand", &Oracle::new("ote/nonce").absorb(label).absorb(nonce).finish())
}

/// Expands the columns' seeds: two blocks of a column from each hash of seed ‖ 256·column + counter.
fn expand_all<'a>(
    expand: &Prf,
    seeds: impl Iterator<Item = &'a [u8; 32]>,
) -> Zeroizing<Vec<Column>> {
    let seeds: Vec<&[u8; 32]> = seeds.collect();
    let mut columns = Zeroizing::new(vec![[0; BLOCKS]; COUNT]);
    let mut inputs = Zeroizing::new([[0u32; LANES]; 9]);
    let groups = seeds.chunks_exact(LANES).zip(columns.chunks_exact_mut(LANES));
    for (group, (seeds, columns)) in groups.enumerate() {
        for (lane, seed) in seeds.iter().enumerate() {
            for (row, word) in inputs.iter_mut().zip(seed.chunks_exact(4)) {
                row[lane] = u32::from_be_bytes(core::array::from_fn(|k| word[k]));
            }
        }
        for counter in 0..BLOCKS.div_ceil(2) {
            inputs[8] =
                core::array::from_fn(|lane| (256 * (LANES * group + lane) + counter) as u32);
            let hashes = expand.block_16(&inputs);
            for (column, hash) in columns.iter_mut().zip(hashes.iter()) {
                let pair = column[2 * counter..].iter_mut().take(2);
                for (block, half) in pair.zip(hash.chunks_exact(BLOCK)) {
                    *block = u128::from_le_bytes(core::array::from_fn(|k| half[k]));
                }
            }
        }
    }
    columns
}

/// The coefficients of the universal hash, from all that the receiver sent before.
fn challenges(label: &[u8; 32], corrections: &[u8]) -> [u128; DATA] {
    let seed = Oracle::new("ote/corrections").absorb(label).absorb(corrections).finish();
    let prf = Prf::new("ote/challenge", &seed);
    core::array::from_fn(|b| {
        let block = prf.block(&[b as u8]);
        u128::from_le_bytes(core::array::from_fn(|k| block[k]))
    })
}

fn universal_hash(chi: &[u128; DATA], column: &Column) -> u128 {
    let mut sum = [column[DATA], 0];
    for (&factor, &block) in chi.iter().zip(column) {
        multiply_add(&mut sum, factor, block);
    }
    reduce(sum)
}

fn transcript(label: &[u8; 32], message: &[u8]) -> [u8; 32] {
    Oracle::new("ote/transcript").absorb(label).absorb(message).finish()
}

/// Turns the columns' data blocks into rows.
fn rows(columns: &[Column]) -> Vec<u128> {
    let mut rows = Vec::with_capacity(128 * DATA);
    for b in 0..DATA {
        let mut block = Zeroizing::new([0u128; 128]);
        block.iter_mut().zip(columns).for_each(|(row, column)| *row = column[b]);
        transpose_128(&mut block);
        rows.extend_from_slice(&block[..]);
    }
    rows
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use chacha20::ChaCha20Rng;
    use rand_core::{Rng, SeedableRng};

    const LABEL: [u8; 32] = [5; 32];

    /// Base transfers as if they had been performed.
    pub(crate) fn base(seed: u8) -> (Chosen, Offered) {
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        let mut offered = Offered { pads: vec![[[0; 32]; 2]; COUNT] };
        offered.pads.iter_mut().flatten().for_each(|pad| rng.fill_bytes(pad));
        let choices = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        let pads = (0..COUNT).map(|i| offered.pads[i][usize::from(choices >> i & 1 == 1)]);
        (Chosen { choices: choices.to_le_bytes(), pads: pads.collect() }, offered)
    }

    #[test]
    fn rows_correlate() {
        let (chosen, offered) = base(1);
        let choices = [3, u128::MAX, 0, 0x5555 << 100];
        let mut rng = ChaCha20Rng::from_seed([2; 32]);
        let (receiver, message) = receive(&offered, &LABEL, &choices, &mut rng);
        assert_eq!(message.len(), MESSAGE);
        let sender = send(&chosen, &LABEL, &message).unwrap();
        for j in 0..128 * DATA {
            let choice = usize::from(choices[j / 128] >> (j % 128) & 1 == 1);
            assert_eq!(sender.row(j)[choice], receiver.row(j));
            assert_ne!(sender.row(j)[1 - choice], receiver.row(j));
        }
        assert_eq!(sender.transcript, receiver.transcript);
        assert!(send(&chosen, &[6; 32], &message).is_err(), "another label");
    }

    #[test]
    fn inconsistent_corrections_are_caught() {
        let (chosen, offered) = base(1);
        let mut rng = ChaCha20Rng::from_seed([2; 32]);
        let (_, message) = receive(&offered, &LABEL, &[0; DATA], &mut rng);
        // Nonce, first and last correction, h(x), and the first h(t).
        let end = NONCE + COUNT * BLOCKS * BLOCK;
        for place in [0, NONCE, end - 1, end, end + BLOCK] {
            let mut bent = message.clone();
            bent[place] ^= 1;
            assert!(matches!(send(&chosen, &LABEL, &bent), Err(Check::TransferExtension)));
        }
        assert!(matches!(send(&chosen, &LABEL, &message[1..]), Err(Check::Encoding)));
    }
}
