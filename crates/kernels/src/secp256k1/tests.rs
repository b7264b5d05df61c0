//! Every kernel against known multiples and against the verifiers' code, which shares nothing with it.

use super::*;
use crate::weierstrass::{self, K256, commitments_vartime};

/// G, 2·G and 3·G (SEC 2, and libsecp256k1's tests).
const G: &str = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
const G2: &str = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5";
const G3: &str = "02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9";
const G_Y: &str = "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
const ORDER: &str = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
/// The endomorphism's factor, where one half of a scalar is 0.
const LAMBDA: &str = "5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72";

fn hex<const N: usize>(text: &str) -> [u8; N] {
    core::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
}

fn small(x: u8) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[31] = x;
    bytes
}

fn base() -> Affine {
    [hex(&G[2..]), hex(G_Y)]
}

fn kernels() -> impl Iterator<Item = Kernel> {
    let (here, missing): (Vec<Kernel>, Vec<Kernel>) =
        Kernel::ALL.into_iter().partition(|kernel| kernel.is_allowed());
    missing.iter().for_each(|kernel| println!("left out: {}", kernel.name()));
    here.into_iter()
}

/// Scalars around every edge: of the order, of λ, of digits and of the halves.
fn scalars() -> Vec<[u8; 32]> {
    let mut all: Vec<[u8; 32]> = (0..18).map(small).collect();
    for text in [ORDER, LAMBDA] {
        for add in [-2i16, -1, 1, 2, 7, 8, 9] {
            let mut near = hex::<32>(text);
            near[31] = (i16::from(near[31]) + add) as u8;
            all.push(near);
        }
    }
    for byte in [0x77, 0x78, 0x80, 0x87, 0x88, 0x7f, 0x08] {
        all.push([byte; 32]);
    }
    for bit in (0..256).step_by(11) {
        let mut one = [0; 32];
        one[31 - bit / 8] = 1 << (bit % 8);
        all.push(one);
    }
    let mut state = 1u64;
    all.extend((0..24).map(|_| {
        core::array::from_fn(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        })
    }));
    all
}

/// s P + n A by the code for verifiers; zeros for the identity.
fn expected(s: &[u8; 32], p: &Compressed, n: u8, a: &Compressed) -> Compressed {
    let decode = |bytes| weierstrass::Affine::<K256>::decode_vartime(bytes).unwrap();
    // It subtracts.
    let mut minus = *a;
    minus[0] ^= 1;
    let mut c = [0; 16];
    c[15] = n;
    let [_, sum] = commitments_vartime(s, &c, &decode(p), &decode(p), &decode(&minus));
    sum.map_or([0; 33], |sum| sum.encode())
}

fn compressed(point: &Affine) -> Compressed {
    let mut bytes = [2 + (point[1][31] & 1); 33];
    bytes[1..].copy_from_slice(&point[0]);
    bytes
}

#[test]
fn small_multiples_are_known() {
    for kernel in kernels() {
        let points = [hex(G), hex(G2), hex(G3), hex(G), hex(G2), hex(G3), hex(G), hex(G2), hex(G3)];
        let mul = |x: u8| kernel.mul_points_all(&points, &small(x), &base()).unwrap();
        let [same, next] = mul(1);
        assert_eq!(same, points, "{}", kernel.name());
        assert_eq!(next[..2], [hex(G2), hex::<33>(G3)]);
        let [twice, thrice] = mul(2);
        assert_eq!((twice[0], thrice[0]), (hex(G2), hex(G3)));
        assert_eq!(mul(3)[0][0], hex(G3));
        assert_eq!(mul(0)[0], [[0; 33]; 9], "the identity");
        assert_eq!(mul(0)[1], [hex::<33>(G); 9]);

        // The order less one is −1; plus G it is the identity.
        let mut minus_one = hex::<32>(ORDER);
        minus_one[31] -= 1;
        let [minus, zero] = kernel.mul_points_all(&points[..1], &minus_one, &base()).unwrap();
        assert_eq!((minus[0][0], &minus[0][1..]), (3, &hex::<33>(G)[1..]));
        assert_eq!(zero[0], [0; 33]);
        let [none, _] = kernel.mul_points_all(&points, &hex(ORDER), &base()).unwrap();
        assert_eq!(none, [[0; 33]; 9]);
    }
}

#[test]
fn only_points_are_read() {
    for kernel in kernels() {
        let refused = |point: Compressed| {
            let mut points = [hex(G); 11];
            points[9] = point;
            let read = kernel.mul_points_all(&points, &small(1), &base());
            assert!(read.is_none(), "{} {point:x?}", kernel.name());
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
        assert!(kernel.mul_points_all(&[with(small(1))], &small(1), &base()).is_some());
    }
}

#[test]
fn every_scalar_of_many_points() {
    let points: Vec<Compressed> =
        (1..12).map(|n| expected(&small(n), &hex(G), 0, &hex(G))).collect();
    for kernel in kernels() {
        for (i, scalar) in scalars().iter().enumerate() {
            // Counts that fill the lanes, and that do not.
            let some = &points[..1 + i % points.len()];
            let [products, sums] = kernel.mul_points_all(some, scalar, &base()).unwrap();
            assert_eq!((products.len(), sums.len()), (some.len(), some.len()));
            for (p, (product, sum)) in some.iter().zip(products.iter().zip(&sums)) {
                assert_eq!(*product, expected(scalar, p, 0, p), "{} {scalar:x?}", kernel.name());
                assert_eq!(*sum, expected(scalar, p, 1, &hex(G)), "{} {scalar:x?}", kernel.name());
            }
        }
        assert_eq!(kernel.mul_points_all(&[], &small(1), &base()), Some([vec![], vec![]]));
    }
}

#[test]
fn many_scalars_of_one_point() {
    // 5 G, of which no kernel has a table yet.
    let encoding = expected(&small(5), &hex(G), 0, &hex(G));
    let x: [u8; 32] = core::array::from_fn(|i| encoding[1 + i]);
    let y = "d8ac222636e5e3d6d4dba9dda6c9c426f788271bab0d6840dca87d3aa6ac62d6";
    let point: Affine = [x, hex(y)];
    assert_eq!(compressed(&point), encoding);
    let scalars = scalars();
    let choices: Vec<u8> = (0..scalars.len()).map(|i| (i % 3 == 0).into()).collect();
    for kernel in kernels() {
        for of in [point, base()] {
            let table = Table::with(kernel, &of);
            for added in [base(), point] {
                let sums = mul_table_all(&table, &scalars, &added, &choices);
                for (i, scalar) in scalars.iter().enumerate() {
                    let sum = expected(scalar, &compressed(&of), choices[i], &compressed(&added));
                    assert_eq!(sums[i], sum, "{} {scalar:x?}", kernel.name());
                }
            }
            for count in [0, 1, 3, 4, 7, 9] {
                let some = mul_table_all(&table, &scalars[..count], &base(), &[]);
                for (sum, scalar) in some.iter().zip(&scalars) {
                    let p = compressed(&of);
                    assert_eq!(*sum, expected(scalar, &p, 0, &p), "{}", kernel.name());
                }
                assert_eq!(some.len(), count);
            }
        }
    }
}
