//! The field's functions at the extremes of what they take.

use super::*;

#[test]
fn extreme_elements() {
    #[target_feature(enable = "avx2")]
    fn run() {
        let most = |n: u64| {
            let mut limbs = [n * ((1 << 29) + (1 << 18)); 9];
            limbs[8] = n * ((1 << 24) + (1 << 10));
            limbs
        };
        let mut below_p = P;
        below_p[0] -= 1;
        let (mut unit, mut top) = ([0; 9], [0; 9]);
        (unit[0], top[8]) = (1, 1 << 24);
        let one = Fe::small(1);
        let mul2 = |a: &Fe, b: &Fe, c: &Fe, d: &Fe| {
            let mut sum = Fe::small(0);
            Fe::mul2_to(a, b, c, d, &mut sum);
            sum
        };
        let all = |here: Mask| assert_eq!(mask_bits(here), 0xf);
        for limbs in [most(1), P, [0; 9], unit, top, below_p] {
            let mut x = one;
            for i in 0..9 {
                x.0[i] = splat(limbs[i]);
            }
            all(x.mul(&x).equal(&x.sqr()));
            all(x.mul(&one).equal(&x));
            all(x.add(&x.neg()).is_zero());
            all(x.mul(&x.negative()).equal(&x.sqr().neg()));
            let y = x.add(&one);
            // (x + 1)² = x² + 2x + 1.
            all(y.sqr().equal(&x.sqr().add(&x).add(&x).add(&one)));
            all(mul2(&x, &y, &x, &y).equal(&x.mul(&y).twice().reduced()));
            // The largest bounds: 3 times 2, and 3 times 1 with 3 times 1.
            let (two, three) = (x.twice(), x.twice().sum(&x));
            all(three.mul(&two).equal(&x.sqr().small_multiple(6)));
            all(two.sqr().equal(&x.sqr().small_multiple(4)));
            all(mul2(&three, &x, &three, &x).equal(&x.sqr().small_multiple(6)));
            let inverse = if mask_bits(x.is_zero()) == 0xf { Fe::small(0) } else { one };
            all(x.invert().mul(&x).equal(&inverse));
            all(x.less(&y, &y).equal(&x.add(&y.add(&y).neg())));
            all(x.less_thrice(&y).equal(&x.add(&y.small_multiple(3).neg())));
            all(x.sum_small_multiple(&y, 21).equal(&x.add(&y).small_multiple(21)));
            all(Fe::unpacked(&x.packed()).equal(&x));
        }
        let mut p = one;
        for i in 0..9 {
            p.0[i] = splat(P[i]);
        }
        all(p.is_zero());
        for bits in 0..16 {
            assert_eq!(mask_bits(mask(bits)), bits);
        }
    }
    for bytes in [[0xff; 32], [0; 32], core::array::from_fn(|i| (17 * i) as u8 ^ 0x5a)] {
        assert_eq!(unpack(&pack(&bytes)), bytes);
    }
    if crate::cpu::allowed(crate::cpu::Family::Avx2) {
        // SAFETY: the CPU has AVX2, as asked just now.
        unsafe { run() }
    } else {
        println!("left out: this CPU, or TETRALITH_KERNEL, has no AVX2");
    }
}
