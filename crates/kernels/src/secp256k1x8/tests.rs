//! Multiples of the base point against each other and against known ones; `tetralith-tss` compares
//! the jobs with another implementation.

use super::*;

/// G, 2·G and 3·G (SEC 2, and libsecp256k1's tests).
const G: &str = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
const G2: &str = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5";
const G3: &str = "02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9";
const G_Y: &str = "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
const ORDER: &str = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

fn hex<const N: usize>(text: &str) -> [u8; N] {
    core::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
}

fn small(x: u8) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[31] = x;
    bytes
}

fn token() -> Option<Lanes8> {
    let token = Lanes8::detect();
    if token.is_none() {
        println!("left out: this CPU, or TETRALITH_KERNEL, has no AVX-512");
    }
    token
}

fn base() -> Affine {
    [hex(&G[2..]), hex(G_Y)]
}

#[test]
fn small_multiples_are_known() {
    let Some(token) = token() else { return };
    let points = [hex(G), hex(G2), hex(G3), hex(G), hex(G2), hex(G3), hex(G), hex(G2), hex(G3)];
    let mul = |x: u8| mul_points_all(token, &points, &small(x), &base()).unwrap();
    let [same, next] = mul(1);
    assert_eq!(same, points);
    assert_eq!(next[..2], [hex(G2), hex::<33>(G3)]);
    let [twice, thrice] = mul(2);
    assert_eq!((twice[0], thrice[0]), (hex(G2), hex(G3)));
    assert_eq!(mul(3)[0][0], hex(G3));
    assert_eq!(mul(0)[0], [[0; 33]; 9], "the identity");
    assert_eq!(mul(0)[1], [hex::<33>(G); 9]);

    // The order less one is −1; plus G it is the identity.
    let mut minus_one = hex::<32>(ORDER);
    minus_one[31] -= 1;
    let [minus, zero] = mul_points_all(token, &points[..1], &minus_one, &base()).unwrap();
    assert_eq!((minus[0][0], &minus[0][1..]), (3, &hex::<33>(G)[1..]));
    assert_eq!(zero[0], [0; 33]);
    assert_eq!(mul_points_all(token, &points, &hex(ORDER), &base()).unwrap()[0], [[0; 33]; 9]);
}

#[test]
fn only_points_are_read() {
    let Some(token) = token() else { return };
    let refused = |point: Compressed| {
        let mut points = [hex(G); 11];
        points[9] = point;
        assert!(mul_points_all(token, &points, &small(1), &base()).is_none(), "{point:x?}");
    };
    for tag in [0, 1, 4, 5, 6, 7] {
        let mut point: Compressed = hex(G);
        point[0] = tag;
        refused(point);
    }
    refused([0; 33]);
    // x = 5 belongs to no point; p and p + 1 are not reduced (x = 1 does belong to one).
    let with = |x: [u8; 32]| {
        let mut point = [2; 33];
        point[1..].copy_from_slice(&x);
        point
    };
    refused(with(small(5)));
    let p = "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f";
    refused(with(hex(p)));
    refused(with(hex(&p.replace("fc2f", "fc30"))));
    refused(with([0xff; 32]));
    assert!(mul_points_all(token, &[with(small(1))], &small(1), &base()).is_some());
}

#[test]
fn limbs_and_digits_are_exact() {
    for text in [G_Y, ORDER, &"ff".repeat(32), &"00".repeat(32)] {
        let number: [u8; 32] = hex(text);
        assert_eq!(join(&split_limbs(&number)), number);
        // Σ digit·16^i, in signed digits of radix 2^8 with carries.
        let digits = radix_16(&number);
        let mut carry = 0i32;
        for i in 0..32 {
            let sum = i32::from(digits[2 * i]) + 16 * i32::from(digits[2 * i + 1]) + carry;
            assert_eq!(sum.rem_euclid(256), i32::from(number[31 - i]));
            carry = sum.div_euclid(256);
        }
        assert_eq!(carry + i32::from(digits[64]), 0);
    }
}

/// The field's functions at the extremes of what they take.
#[test]
fn extreme_elements() {
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn run() {
        let top =
            [(1 << 52) - 1, (1 << 52) - 1, (1 << 52) - 1, (1 << 52) - 1, (1 << 48) + (1 << 10)];
        let p = [0xf_fffe_ffff_fc2f, top[0], top[0], top[0], (1 << 48) - 1];
        let one = Fe8::small(1);
        for limbs in [
            top,
            p,
            [0; 5],
            [1, 0, 0, 0, 0],
            [0, 0, 0, 0, 1 << 48],
            [p[0] - 1, p[1], p[2], p[3], p[4]],
        ] {
            let x = Fe8::broadcast(&limbs);
            assert_eq!(x.mul(&x).sub(&x.sqr()).is_zero(), 0xff);
            assert_eq!(x.mul(&one).sub(&x).is_zero(), 0xff);
            assert_eq!(x.add(&x.neg()).is_zero(), 0xff);
            // (x + 1)² = x² + 2x + 1.
            let y = x.add(&one);
            let expanded = x.sqr().add(&x).add(&x).add(&one);
            assert_eq!(y.sqr().sub(&expanded).is_zero(), 0xff);
            let inverse = if x.is_zero() == 0xff { Fe8::small(0) } else { one };
            assert_eq!(x.invert().mul(&x).sub(&inverse).is_zero(), 0xff);
        }
        assert_eq!(Fe8::broadcast(&p).is_zero(), 0xff);
        assert_eq!(lanes(Fe8::broadcast(&p).freeze().0[0]), [0; 8]);
    }
    if token().is_some() {
        // SAFETY: the token shows that the CPU has the instructions.
        unsafe { run() }
    }
}
