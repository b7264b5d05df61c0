//! The field's functions at the extremes of what they take.

use super::*;

#[test]
fn extreme_elements() {
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn run() {
        let top = [M52, M52, M52, M52, TOP];
        let below_p = [P[0] - 1, P[1], P[2], P[3], P[4]];
        let one = Fe8::small(1);
        let mul2 = |a: &Fe8, b: &Fe8, c: &Fe8, d: &Fe8| {
            let mut sum = one;
            Fe8::mul2_to(a, b, c, d, &mut sum);
            sum
        };
        for limbs in [top, P, [0; 5], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1 << 48], below_p] {
            let x = Fe8::broadcast(&limbs);
            assert_eq!(x.mul(&x).sub(&x.sqr()).is_zero(), 0xff);
            assert_eq!(x.mul(&one).sub(&x).is_zero(), 0xff);
            assert_eq!(x.add(&x.neg()).is_zero(), 0xff);
            // (x + 1)² = x² + 2x + 1.
            let y = x.add(&one);
            let expanded = x.sqr().add(&x).add(&x).add(&one);
            assert_eq!(y.sqr().sub(&expanded).is_zero(), 0xff);
            assert_eq!(mul2(&x, &y, &x, &y).equal(&x.mul(&y).twice()), 0xff);
            let inverse = if x.is_zero() == 0xff { Fe8::small(0) } else { one };
            assert_eq!(x.invert().mul(&x).sub(&inverse).is_zero(), 0xff);
            assert_eq!(x.less(&y, &y).equal(&x.add(&y.twice().neg())), 0xff);
            assert_eq!(x.less_thrice(&y).equal(&x.sub(&y.small_multiple(3))), 0xff);
            let five = x.add(&x).add(&x).add(&x).add(&x);
            assert_eq!(x.small_multiple(21).sub(&x).equal(&five.twice().twice()), 0xff);
            assert_eq!(x.small_multiple(8).equal(&five.add(&x.small_multiple(3))), 0xff);
            assert_eq!(x.sum_small_multiple(&y, 21).equal(&x.add(&y).small_multiple(21)), 0xff);
        }
        assert_eq!(Fe8::broadcast(&P).is_zero(), 0xff);
        assert_eq!(lanes(Fe8::broadcast(&P).freeze().0[0]), [0; 8]);
    }
    if crate::lanes8::Lanes8::detect().is_some() {
        // SAFETY: the token shows that the CPU has the instructions.
        unsafe { run() }
    } else {
        println!("left out: this CPU, or TETRALITH_KERNEL, has no AVX-512");
    }
}
