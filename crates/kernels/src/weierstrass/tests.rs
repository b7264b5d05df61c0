use super::*;

fn multiples<C: Prime>() -> Vec<Jacobian<C>> {
    let g = Affine::<C>::decode_vartime(&C::GENERATOR).unwrap().jacobian();
    let mut all = vec![Jacobian::NEUTRAL, g];
    for i in 1..40 {
        all.push(all[i].add(&g));
    }
    all
}

fn encode<C: Prime>(p: &Jacobian<C>) -> Option<[u8; 33]> {
    Jacobian::affine_all(&[*p])[0].map(|p| p.encode())
}

/// i G + j G = (i + j) G for all pairs, neutral elements, doublings and opposites among them.
fn group_laws_hold<C: Prime>() {
    let all = multiples::<C>();
    for i in 0..20 {
        assert_eq!(encode(&all[i].double()), encode(&all[2 * i]));
        for j in 0..20 {
            assert_eq!(encode(&all[i].add(&all[j])), encode(&all[i + j]));
            let Some(q) = Jacobian::affine_all(&[all[j]])[0] else { continue };
            assert_eq!(encode(&all[i].add_affine(&q)), encode(&all[i + j]));
            let difference = all[i].add_affine(&q.neg());
            if i >= j {
                assert_eq!(encode(&difference), encode(&all[i - j]));
            }
            assert_eq!(encode(&difference.add(&q.jacobian())), encode(&all[i]));
            assert_eq!(Affine::<C>::decode_vartime(&q.encode()).unwrap().encode(), q.encode());
            let (x, y) = (q.x.to_bytes(), q.y.to_bytes());
            assert!(Affine::<C>::from_coordinates_vartime(&x, &y).is_some());
            assert!(Affine::<C>::from_coordinates_vartime(&y, &x).is_none());
        }
    }
}

#[test]
fn group_laws() {
    group_laws_hold::<P256>();
    group_laws_hold::<K256>();
}

fn field_laws_hold<C: Prime>() {
    let mut samples = vec![Fe::<C>::ZERO, Fe::ONE, Fe::ONE.neg(), Fe::new(C::B), Fe::new(C::R2)];
    for i in 0..20 {
        let s = samples[i].square().add(&samples[i + 1]).sub(&Fe::new(C::B));
        samples.push(s);
    }
    for a in &samples {
        assert_eq!(a.add(&a.neg()), Fe::ZERO);
        assert_eq!(Fe::from_bytes(&a.to_bytes()), Some(*a));
        if *a != Fe::ZERO {
            assert_eq!(a.mul(&a.invert()), Fe::ONE);
        }
        let root = a.square().sqrt_candidate();
        assert!(root == *a || root == a.neg());
        for b in &samples {
            let (sum, difference) = (a.add(b), a.sub(b));
            assert_eq!(sum.mul(&difference), a.square().sub(&b.square()));
            assert_eq!(difference.add(b), *a);
        }
    }
    assert_eq!(Fe::<C>::from_bytes(&[0xff; 32]), None);
    let p: [u8; 32] = core::array::from_fn(|i| C::P[3 - i / 8].to_be_bytes()[i % 8]);
    assert_eq!(Fe::<C>::from_bytes(&p), None);
}

#[test]
fn field_laws() {
    field_laws_hold::<P256>();
    field_laws_hold::<K256>();
}

#[test]
fn sums_of_multiples() {
    let g = Affine::<P256>::decode_vartime(&P256::GENERATOR).unwrap();
    let scalar = |n: u8| {
        let mut s = [0; 32];
        s[31] = n;
        s
    };
    let all: Vec<Option<[u8; 33]>> = multiples::<P256>().iter().map(encode).collect();
    for (s, c) in [(20, 3), (7, 7), (39, 0), (0, 0), (16, 15)] {
        let mut c16 = [0; 16];
        c16[15] = c;
        let got = commitments_vartime(&scalar(s), &c16, &g, &g, &g);
        let expected = all[usize::from(s - c)];
        assert_eq!(got.map(|p| p.map(|p| p.encode())), [expected; 2]);
    }
}
