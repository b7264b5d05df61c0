//! WOTS+ digits and key derivation.
//!
//! The chains themselves run in [`lanes`](crate::lanes). RFC 8391 §3.

use crate::address::{TreePlace, Type};
use crate::hash::prf;
use crate::keys::{Derivation, SecretKey};
use crate::lanes::chains::{Chain, longest_first};
use crate::lanes::{Engine, Prefix};
use crate::params::{LEN_2, MAX_LEN, Params};
use tetralith_kernels::wipe::Wiped;

/// The last digit: w − 1.
pub(crate) const LAST: u32 = 15;

/// Writes a message digest as the base-16 digits that are signed, its checksum last.
///
/// RFC 8391 §3.1.5, Algorithm 5, lines 3 to 15, with Algorithm 1.
pub(crate) fn digits(p: Params, digest: &[u8]) -> [u8; MAX_LEN] {
    let mut digits = [0; MAX_LEN];
    let len_1 = p.len_1();
    for (pair, byte) in digits[..len_1].chunks_mut(2).zip(digest) {
        pair[0] = byte >> 4;
        pair[1] = byte & 15;
    }
    let mut checksum: u32 = digits[..len_1].iter().map(|digit| LAST - u32::from(*digit)).sum();
    // Three digits hold 15·len_1; the standard's shift to whole bytes drops out again.
    for digit in digits[len_1..len_1 + LEN_2].iter_mut().rev() {
        *digit = (checksum & 15) as u8;
        checksum >>= 4;
    }
    digits
}

/// Computes the secret starts of the chains of the keys `first ‥`, `len` values each.
///
/// # Security
/// Constant time. The result is secret.
/// SP 800-208 §6.2, Algorithm 10 line 8; the older derivation is xmss-reference's before 2020.
pub(crate) fn secrets(
    engine: &mut Engine,
    key: &SecretKey,
    place: TreePlace,
    first: u32,
    out: &mut [u8],
) {
    let (p, n) = (key.params(), key.params().n());
    let head = place.head(Type::Ots);
    let len = p.len() as u32;
    match key.derivation() {
        Derivation::PrfKeygen => {
            let prefix = Prefix::prf_keygen(p, key.sk_seed(), key.seed(), &head);
            let count = (out.len() / n) as u32;
            let tails = (0..count as usize).map(|i| [first + i as u32 / len, i as u32 % len, 0, 0]);
            engine.prf_many(&prefix, true, tails, out);
        }
        Derivation::PrfCounter => {
            for (ots, out) in (first..).zip(out.chunks_mut(n * p.len())) {
                let mut address = [0; 32];
                address[..16].copy_from_slice(&head);
                address[16..20].copy_from_slice(&ots.to_be_bytes());
                let ots_seed = prf(p, key.sk_seed(), &address);
                let prefix = Prefix::prf(p, &ots_seed[..n], &[0; 16]);
                let tails = (0..p.len()).map(|i| [0, 0, 0, i as u32]);
                engine.prf_many(&prefix, false, tails, out);
            }
        }
    }
}

/// Signs a digest with one key: `len` values.
///
/// # Security
/// Constant time but for the digits, which the signature shows.
/// RFC 8391 §3.1.5, Algorithm 5.
pub(crate) fn sign(
    engine: &mut Engine,
    key: &SecretKey,
    place: TreePlace,
    ots: u32,
    digest: &[u8],
) -> Vec<u8> {
    let p = key.params();
    let mut values = Wiped::zeros(p.len() * p.n());
    secrets(engine, key, place, ots, &mut values);
    let digits = digits(p, digest);
    let chains = (0..p.len() as u32)
        .map(|chain| {
            let end = digits[chain as usize].into();
            Chain { prefix: 0, ots, chain, start: 0, end, slot: chain }
        })
        .collect();
    let prefixes = [Prefix::prf(p, key.seed(), &place.head(Type::Ots))];
    engine.run_chains(&prefixes, longest_first(chains).into_iter(), &mut values);
    values.into_public()
}

/// Every value of every chain of one key: step `s` of chain `i` is value `16·i + s`.
///
/// # Security
/// Constant time. All of it is secret: who has it can sign anything with this key.
pub(crate) fn table(engine: &mut Engine, key: &SecretKey, place: TreePlace, ots: u32) -> Wiped {
    let (p, n) = (key.params(), key.params().n());
    let mut values = Wiped::zeros(p.len() * n);
    secrets(engine, key, place, ots, &mut values);
    let prefixes = [Prefix::prf(p, key.seed(), &place.head(Type::Ots))];
    let mut table = Wiped::zeros(16 * p.len() * n);
    for step in 0..=LAST {
        for (row, value) in table.chunks_mut(16 * n).zip(values.chunks(n)) {
            row[step as usize * n..][..n].copy_from_slice(value);
        }
        if step < LAST {
            let chains = (0..p.len()).map(|chain| {
                let chain = chain as u32;
                Chain { prefix: 0, ots, chain, start: step, end: step + 1, slot: chain }
            });
            engine.run_chains(&prefixes, chains, &mut values);
        }
    }
    table
}

/// Signs a digest by taking the values from the key's table.
///
/// # Security
/// Which are taken follows from the digest, which the signature shows.
pub(crate) fn sign_from_table(p: Params, table: &[u8], digest: &[u8], out: &mut Vec<u8>) {
    let digits = digits(p, digest);
    match p.n() {
        24 => take::<24>(table, &digits, out),
        32 => take::<32>(table, &digits, out),
        _ => take::<64>(table, &digits, out),
    }
}

/// Takes from each row of 16 values the one that its digit tells.
///
/// A table that was made some time ago is in no near cache. All values are asked for before the first is
/// copied, so that they come side by side: 1.0 µs instead of 1.7 where a thousand tables of 34 kB wait
/// (Zen 5). To read a byte of each page while the message is still to be hashed takes as long as it saves.
fn take<const N: usize>(table: &[u8], digits: &[u8], out: &mut Vec<u8>) {
    let (rows, _) = table.as_chunks::<N>().0.as_chunks::<16>();
    let chosen = rows.iter().zip(digits).map(|(row, digit)| &row[usize::from(*digit)]);
    let ends = chosen.clone().fold(0, |all, value| all ^ value[0] ^ value[N - 1]);
    core::hint::black_box(ends);
    chosen.for_each(|value| out.extend_from_slice(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_is_the_standards() {
        let p = Params::XMSS_SHA2_10_256;
        let all = |byte| digits(p, &[byte; 32])[..p.len()].to_vec();
        assert_eq!(all(0)[64..], [3, 12, 0]); // 960
        assert_eq!(all(0xff)[62..], [15, 15, 0, 0, 0]);
        assert_eq!(all(0x1e)[..2], [1, 14]);
    }
}
