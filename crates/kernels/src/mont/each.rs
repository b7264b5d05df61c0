//! Products of two powers, many of them: what verifiers of many proofs compute.
//!
//! With IFMA eight at a time, in lanes: the squarings are shared by all, and each takes its own powers by
//! windows of four bits from tables of its own. Else one by one.

use super::FastRing;

/// Two bases with their exponents, little-endian limbs.
pub type TwoPowers<'a> = [(&'a [u64], &'a [u64]); 2];

/// So many of eight lanes must be in use: one number in lanes takes as long as eight, and as five by itself.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const WORTH_LANES: usize = 6;

impl FastRing {
    /// For each of the pairs, the product of its bases, raised to their public powers.
    #[must_use]
    pub fn two_powers_each_vartime(&mut self, pairs: &[TwoPowers<'_>]) -> Vec<Vec<u64>> {
        let mut out = Vec::with_capacity(pairs.len());
        for pairs in pairs.chunks(8) {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            if pairs.len() >= WORTH_LANES
                && let Some(powers) = self.two_powers_in_lanes(pairs)
            {
                out.extend(powers.into_iter().take(pairs.len()));
                continue;
            }
            out.extend(pairs.iter().map(|pair| self.multi_pow_vartime(pair)));
        }
        out
    }

    /// The same of up to eight, where there are lanes.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn two_powers_in_lanes(&self, pairs: &[TwoPowers<'_>]) -> Option<Vec<Vec<u64>>> {
        use super::Elements;
        use super::fast::Engine;
        use super::powers::{Eights, ONE, Steps};
        let Engine::Ifma(ifma) = &self.engine else { return None };
        let mut lanes = ifma.lanes(&self.ring)?;
        // A product in lanes is g times too small. So all numbers there are made g times too large, by a
        // product with g², and at last the result is multiplied by one.
        let [g, _] = lanes.factors();
        let mut scales = Elements::new(self, 3);
        scales.push(&self.one());
        scales.push(g);
        scales.push(&self.clone().pow_vartime(g, &[2]));
        let mut bases = Elements::new(self, 16);
        for base in 0..2 {
            let pair = |lane: usize| pairs.get(lane).unwrap_or(&pairs[0]);
            (0..8).for_each(|lane| bases.push(pair(lane)[base].0));
        }
        // The powers 1 to 15 of both bases: power k of lane i is element 8·(k − 1) + i.
        let tables = [0, 1].map(|base| {
            let mut table = Elements::new(self, 8 * 15);
            lanes.begin(core::array::from_fn(|lane| bases.lines(8 * base + lane)));
            lanes.take(&scales, Steps::new(&[[2; 8]]));
            lanes.push_to(&mut table);
            for _ in 1..15 {
                lanes.take(&table, Steps::new(&[[0, 1, 2, 3, 4, 5, 6, 7]]));
                lanes.push_to(&mut table);
            }
            table
        });
        let bits = pairs.iter().flatten().map(|(_, exponent)| super::ring::bit_len(exponent)).max();
        lanes.begin([scales.lines(1); 8]);
        for window in (0..bits.unwrap_or(0).div_ceil(4)).rev() {
            (0..4).for_each(|_| lanes.square());
            for (base, table) in tables.iter().enumerate() {
                let step = core::array::from_fn(|lane| {
                    let limbs = pairs.get(lane).map_or(&[][..], |pair| pair[base].1);
                    let limb = limbs.get(window / 16).copied().unwrap_or(0);
                    match (limb >> (4 * (window % 16)) & 15) as u32 {
                        0 => ONE,
                        digit => 8 * (digit - 1) + lane as u32,
                    }
                });
                lanes.take(table, Steps::new(&[step]));
            }
        }
        lanes.take(&scales, Steps::new(&[[0; 8]]));
        let mut powers = Elements::new(self, 8);
        lanes.push_to(&mut powers);
        Some((0..8).map(|lane| powers.value(lane).to_vec()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mont::test_moduli::{Words, reduced};
    use crate::mont::{Kernel, Ring};

    #[test]
    fn many_match_single_ones() {
        let mut words = Words(21);
        for bits in [500, 2048, 3318, 4150, 4200] {
            let ring = Ring::new(&words.rough_modulus(bits)).unwrap();
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.fits(bits)) {
                let mut fast = FastRing::with_kernel(kernel, &ring).unwrap();
                let element = |words: &mut Words| fast.enter(&reduced(&ring, &words.modulus(bits)));
                let bases: Vec<Vec<u64>> = (0..30).map(|_| element(&mut words)).collect();
                // Exponents of all lengths, and none.
                let exponents: Vec<Vec<u64>> = (0..30)
                    .map(|i| if i % 7 == 0 { vec![0; i % 3] } else { words.modulus(9 * i) })
                    .collect();
                let term = |i: usize| (&bases[i][..], &exponents[i][..]);
                let pairs: Vec<TwoPowers<'_>> = (0..15).map(|i| [term(i), term(29 - i)]).collect();
                let got = fast.two_powers_each_vartime(&pairs);
                assert_eq!(got.len(), pairs.len());
                for (got, pair) in got.iter().zip(&pairs) {
                    let want = fast.multi_pow_vartime(pair);
                    assert_eq!(fast.leave(got), fast.leave(&want), "{bits} {kernel:?}");
                }
            }
        }
        let mut fast = FastRing::new(&Ring::new(&[1001]).unwrap());
        assert!(fast.two_powers_each_vartime(&[]).is_empty());
    }
}
