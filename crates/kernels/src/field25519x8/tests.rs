use super::*;
use crate::lanes8::Lanes8;
use subtle::ConditionallySelectable;

/// Values near 0, p, 2^255 and limb edges, and a pseudo-random run; a multiple of eight of them.
fn samples() -> Vec<[u8; 32]> {
    let mut all = vec![[0; 32], [0xff; 32]];
    for low in [1u8, 2, 18, 19, 0xec, 0xed, 0xee, 0xff] {
        let mut b = [0xff; 32];
        (b[0], b[31]) = (low, 0x7f);
        all.push(b);
        let mut b = [0; 32];
        b[0] = low;
        all.push(b);
    }
    for bit in [50usize, 51, 52, 102, 153, 204, 254] {
        let mut b = [0; 32];
        b[bit / 8] = 1 << (bit % 8);
        all.push(b);
    }
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    while all.len() < 64 {
        all.push(core::array::from_fn(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        }));
    }
    all
}

type Encodings = [[u8; 32]; 8];

/// Each sample with each other, every value coming to every lane.
fn pairs() -> Vec<(Encodings, Encodings)> {
    let all = samples();
    let n = all.len();
    let group = |start: usize, step: usize| -> [[u8; 32]; 8] {
        core::array::from_fn(|lane| all[(start + step * lane) % n])
    };
    (0..n)
        .flat_map(|i| (0..n).map(move |j| (i, j)))
        .map(|(i, j)| (group(i, 1), group(j, 3)))
        .collect()
}

fn run(test: unsafe fn()) {
    if Lanes8::detect().is_some() {
        // SAFETY: the token shows that the CPU has the features that the test enables.
        unsafe { test() }
    } else {
        println!("left out: this CPU has no AVX-512 IFMA, or TETRALITH_KERNEL forbids it");
    }
}

#[target_feature(enable = "avx512f")]
fn assert_tight(a: &Fe8) {
    for l in 0..8 {
        assert!(a.lane(l).0.iter().all(|&limb| limb <= TIGHT));
    }
}

/// Holds a result against the portable one in every lane, by canonical bytes.
#[target_feature(enable = "avx512f,avx512ifma")]
fn assert_same(result: &Fe8, expected: impl Fn(usize) -> Fe) {
    assert_tight(result);
    let bytes = result.to_bytes();
    for l in 0..8 {
        assert_eq!(bytes[l], expected(l).to_bytes(), "lane {l}");
    }
}

#[test]
fn arithmetic_agrees_with_portable() {
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn test() {
        for (i, (a, b)) in pairs().into_iter().enumerate() {
            let (pa, pb) = (a.map(|a| Fe::from_bytes(&a)), b.map(|b| Fe::from_bytes(&b)));
            let (a, b) = (Fe8::from_bytes(&a), Fe8::from_bytes(&b));
            let mask = ((i * 37) >> 2) as u8;
            let on = |l: usize| (mask >> l & 1).into();
            assert_same(&a, |l| pa[l]);
            assert_same(&Fe8::from_lanes(&pb), |l| pb[l]);
            assert_same(&a.add(&b), |l| pa[l].add(&pb[l]));
            assert_same(&a.sub(&b), |l| pa[l].sub(&pb[l]));
            assert_same(&a.neg(), |l| pa[l].neg());
            assert_same(&a.mul(&b), |l| pa[l].mul(&pb[l]));
            assert_same(&a.square(), |l| pa[l].square());
            assert_same(&a.negate_where(mask), |l| {
                Fe::conditional_select(&pa[l], &pa[l].neg(), on(l))
            });
            assert_same(&a.or_where(mask, &b), |l| Fe::conditional_select(&pa[l], &pb[l], on(l)));
            let (ab, aa) = (a.mul_wide(&b), a.square_wide());
            let (pab, paa) = (|l: usize| pa[l].mul(&pb[l]), |l: usize| pa[l].square());
            assert_same(&ab.add(&aa), |l| pab(l).add(&paa(l)));
            assert_same(&ab.sub(&aa), |l| pab(l).sub(&paa(l)));
            assert_same(&ab.twice(), |l| pab(l).add(&pab(l)));
            let (biased, square) = (mul_biased!(a, b), square_biased!(b));
            assert_same(&biased.reduce(), pab);
            assert_same(&biased.add(&aa), |l| pab(l).add(&paa(l)));
            assert_same(&biased.sub(&aa), |l| pab(l).sub(&paa(l)));
            assert_same(&square.twice_sub(&biased.minus(&aa)), |l| {
                let bb = pb[l].square();
                bb.add(&bb).sub(&pab(l)).add(&paa(l))
            });
            for l in 0..8 {
                assert_eq!(a.negative() >> l & 1, pa[l].is_negative().unwrap_u8());
                assert_eq!(a.zero() >> l & 1, pa[l].is_zero().unwrap_u8());
            }
        }
    }
    run(test);
}

/// The largest limbs that the bounds allow, in products that must not overflow or lose bits.
#[test]
fn bounds_are_reached_safely() {
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn test() {
        for most in [TIGHT, LOOSE] {
            for zeroed in 0..32usize {
                let limbs: [u64; 5] =
                    core::array::from_fn(|i| if zeroed >> i & 1 == 1 { 0 } else { most });
                let a = Fe8(limbs.map(|limb| splat(limb)));
                let full = Fe8([splat(most); 5]);
                let (pa, pfull) = (Fe(limbs), Fe([most; 5]));
                assert_same(&a.mul(&full), |_| pa.mul(&pfull));
                assert_same(&full.mul(&a), |_| pa.mul(&pfull));
                assert_same(&a.square(), |_| pa.square());
                let (wide, most_wide) = (a.square_wide(), full.square_wide());
                let (square, most_square) = (pa.square(), pfull.square());
                assert_same(&wide.sub(&most_wide), |_| square.sub(&most_square));
                let (biased, most_biased) = (square_biased!(a), square_biased!(full));
                assert_same(&mul_biased!(full, full).sub(&wide), |_| most_square.sub(&square));
                assert_same(&biased.twice_sub(&most_biased.minus(&wide)), |_| {
                    square.add(&square).sub(&most_square).add(&square)
                });
                assert_same(&most_biased.twice_sub(&biased.minus(&most_wide)), |_| {
                    most_square.add(&most_square).sub(&square).add(&most_square)
                });
                if most == TIGHT {
                    assert_same(&full.sub(&a), |_| pfull.sub(&pa));
                    assert_same(&a.sub(&full), |_| pa.sub(&pfull));
                    assert_same(&a.add(&full), |_| pa.add(&pfull));
                    assert_same(&a.negate_loose_where(0xff).mul(&full), |_| pa.neg().mul(&pfull));
                    assert_same(&Wide::twice_of(&full).sub(&most_wide), |_| {
                        pfull.add(&pfull).sub(&most_square)
                    });
                }
            }
        }
    }
    run(test);
}

#[test]
fn roots_and_inverses_agree_with_portable() {
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn test() {
        let (mut u, mut v, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        for (a, b) in pairs().into_iter().step_by(11) {
            u.push(Fe8::from_bytes(&a));
            v.push(Fe8::from_bytes(&b));
            plain.push((a.map(|a| Fe::from_bytes(&a)), b.map(|b| Fe::from_bytes(&b))));
        }
        for n in [1, 4, 5, u.len()] {
            for (found, (pu, pv)) in sqrt_ratio_all(&u[..n], &v[..n]).iter().zip(&plain) {
                let expected: [_; 8] = core::array::from_fn(|l| Fe::sqrt_ratio(&pu[l], &pv[l]));
                assert_same(&found.root, |l| expected[l].1);
                for l in 0..8 {
                    assert_eq!(found.square >> l & 1, expected[l].0.unwrap_u8());
                }
            }
        }
        let fourth: Vec<u8> = fourth_powers(&u);
        for (mask, (pu, _)) in fourth.iter().zip(&plain) {
            for l in 0..8 {
                let character = pu[l].pow_p58().square().mul(&pu[l]);
                assert_eq!(mask >> l & 1 == 1, character.to_bytes() == Fe::ONE.to_bytes());
            }
        }
        let one = Fe8::splat(&Fe::ONE);
        let mut inverses: Vec<Fe8> = u.iter().map(|a| one_for_zero(a, &one)).collect();
        let before = inverses.clone();
        invert_all(&mut inverses);
        for (a, inverse) in before.iter().zip(&inverses) {
            assert_same(&a.mul(inverse), |_| Fe::ONE);
        }
        invert_all(&mut []);
    }
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn one_for_zero(a: &Fe8, one: &Fe8) -> Fe8 {
        a.or_where(a.zero(), one)
    }
    run(test);
}
