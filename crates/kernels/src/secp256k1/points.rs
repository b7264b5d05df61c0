//! Points of secp256k1 in lanes: written once, for the field of each kernel.

/// Expands to `Points` and the jobs of a kernel. Its module has `L`, the lanes, and `field` with:
///
/// - `V`, a word of every lane, and `Mask`, a choice of lanes; `Fe`, elements of which five words are the packed
///   form; `pack` and `unpack_bytes` between these words and big-endian bytes;
/// - `Fe::{add, mul, sqr, invert, sqrt_candidate, select, freeze, is_zero}`, which take and return carried
///   elements; `mul_to` and `mul2_to(a, b, c, d)`, a b + c d, which write their results; and `sum`, `negative`, `less_thrice` and `small_multiple`,
///   whose results are fit for one product as the formulas below take it, but may not be carried.
macro_rules! secp256k1_points {
    ($(#[$attr:meta])*) => {
        use super::glv::{BETA, Halves, radix_16};
        use super::{Affine, Compressed, PRIME, ROW, ROWS};
        use field::{Fe, L, Mask, V, blend, differ, equal, load, mask, mask_bits, negative, pack, splat, store, unpack};
        use zeroize::Zeroizing;

        /// Five words of every lane: an element where it is stored.
        type Packed = [V; 5];

        /// A point of each lane in homogeneous coordinates: x = X/Z, y = Y/Z; Z = 0 for the identity.
        #[derive(Clone, Copy)]
        struct Points {
            x: Fe,
            y: Fe,
            z: Fe,
        }

        /// Multiples 1 to 8 of points, stored, and the abscissas of λ times these.
        struct Multiples([([Packed; 3], Packed); ROW]);

        /// As [`super::mul_table_all`].
        $(#[$attr])*
        pub(super) fn mul_table(
            table: &[[[u64; 5]; 2]],
            scalars: &[[u8; 32]],
            addend: &Affine,
            choices: &[u8],
        ) -> Vec<Compressed> {
            let [x, y] = broadcast(addend);
            let mut groups = Vec::with_capacity(scalars.len().div_ceil(L));
            let mut scratch = Points::identity();
            for (g, group) in scalars.chunks(L).enumerate() {
                let mut digits = Zeroizing::new([[0i8; ROWS]; L]);
                for (lane, scalar) in group.iter().enumerate() {
                    digits[lane] = radix_16(scalar);
                }
                let mut sum = Points::identity();
                for (i, row) in table.chunks_exact(ROW).enumerate() {
                    let mut words = Zeroizing::new([0u64; L]);
                    for lane in 0..L {
                        words[lane] = i64::from(digits[lane][i]) as u64;
                    }
                    sum.add_multiple(row, load(&words), &mut scratch);
                }
                if !choices.is_empty() {
                    let mut chosen = 0;
                    for (lane, &choice) in choices[g * L..].iter().take(L).enumerate() {
                        chosen |= (choice & 1) << lane;
                    }
                    sum.add_affine(&x, &y, &mut scratch);
                    sum.assign_where(&scratch, mask(chosen));
                }
                groups.push(sum);
            }
            compress(&groups, scalars.len())
        }

        /// As [`super::mul_points_all`].
        $(#[$attr])*
        pub(super) fn mul_points(
            points: &[Compressed],
            scalar: &[u8; 32],
            addend: &Affine,
        ) -> Option<[Vec<Compressed>; 2]> {
            let halves = Halves::new(scalar);
            let [x, y] = broadcast(addend);
            let beta = Fe::unpacked(&pack(&BETA).map(|word| splat(word)));
            let groups = points.len().div_ceil(L);
            let mut all = Vec::with_capacity(2 * groups);
            for group in points.chunks(L) {
                all.push(Points::decompress(group)?.mul(&halves, &beta));
            }
            for i in 0..groups {
                let mut sum = Points::identity();
                all[i].add_affine(&x, &y, &mut sum);
                all.push(sum);
            }
            // One inversion for both.
            let mut products = compress(&all, all.len() * L);
            let sums = products[groups * L..][..points.len()].to_vec();
            products.truncate(points.len());
            Some([products, sums])
        }

        /// The same point in every lane.
        $(#[$attr])*
        fn broadcast(point: &Affine) -> [Fe; 2] {
            let [x, y] = point;
            [Fe::unpacked(&pack(x).map(|word| splat(word))), Fe::unpacked(&pack(y).map(|word| splat(word)))]
        }

        impl Points {
            #[inline]
            $(#[$attr])*
            fn identity() -> Points {
                Points { x: Fe::small(0), y: Fe::small(1), z: Fe::small(0) }
            }

            /// Reads up to as many encodings as there are lanes; further lanes repeat the first.
            $(#[$attr])*
            fn decompress(group: &[Compressed]) -> Option<Points> {
                let mut words = [[0u64; L]; 5];
                let mut odd = 0;
                for lane in 0..L {
                    let (tag, x) = group.get(lane).unwrap_or(group.first()?).split_first()?;
                    let x: &[u8; 32] = x.try_into().ok()?;
                    if !matches!(tag, 2 | 3) || *x >= PRIME {
                        return None;
                    }
                    odd |= (tag & 1) << lane;
                    for (i, word) in pack(x).into_iter().enumerate() {
                        words[i][lane] = word;
                    }
                }
                let x = Fe::unpacked(&words.each_ref().map(|word| load(word)));
                let square = x.sqr().mul(&x).add(&Fe::small(7));
                let y = square.sqrt_candidate();
                if mask_bits(y.sqr().equal(&square)) != ALL {
                    return None;
                }
                let parity = y.freeze().odd();
                Some(Points { x, y: y.select(&y.neg(), mask(parity ^ odd)), z: Fe::small(1) })
            }

            /// Doubles the points. Algorithm 9.
            #[inline]
            $(#[$attr])*
            fn double(&mut self) {
                let yy = self.y.sqr();
                let zz21 = self.z.sqr().small_multiple(21);
                let yy8 = yy.small_multiple(8);
                let difference = yy.less_thrice(&zz21);
                let yz = self.y.mul(&self.z);
                self.x.mul(&self.y).twice().mul_to(&difference, &mut self.x);
                Fe::mul2_to(&difference, &yy.sum(&zz21), &zz21, &yy8, &mut self.y);
                yz.mul_to(&yy8, &mut self.z);
            }

            /// Adds points. Algorithm 7.
            #[inline]
            $(#[$attr])*
            fn add(&mut self, q: &Points) {
                let t0 = self.x.mul(&q.x);
                let t1 = self.y.mul(&q.y);
                let t2 = self.z.mul(&q.z);
                let xy = self.x.sum(&self.y).mul(&q.x.sum(&q.y)).less(&t0, &t1);
                let yz = self.y.sum(&self.z).mul(&q.y.sum(&q.z)).less(&t1, &t2);
                let xz = self.x.sum(&self.z).mul(&q.x.sum(&q.z)).less(&t0, &t2);
                let t2 = t2.small_multiple(21);
                self.finish(&t0, &t1, &t2, &xy, &yz, &xz.small_multiple(21));
            }

            /// Writes the sums with affine points, which are not the identity. Algorithm 8.
            #[inline]
            $(#[$attr])*
            fn add_affine(&self, x: &Fe, y: &Fe, sum: &mut Points) {
                let t0 = self.x.mul(x);
                let t1 = self.y.mul(y);
                let xy = self.x.sum(&self.y).mul(&x.sum(y)).less(&t0, &t1);
                let yz = y.mul(&self.z).add(&self.y);
                let xz = x.mul(&self.z).sum_small_multiple(&self.x, 21);
                sum.finish(&t0, &t1, &self.z.small_multiple(21), &xy, &yz, &xz);
            }

            /// The common end of Algorithms 7 and 8: with t0 = X1·X2, t1 = Y1·Y2, t2 = 3b·Z1·Z2, and the
            /// cross sums xy = X1·Y2 + X2·Y1, yz = Y1·Z2 + Y2·Z1, xz = 3b·(X1·Z2 + X2·Z1).
            #[inline]
            $(#[$attr])*
            fn finish(&mut self, t0: &Fe, t1: &Fe, t2: &Fe, xy: &Fe, yz: &Fe, xz: &Fe) {
                let t0 = t0.small_multiple(3);
                let (plus, minus) = (t1.sum(t2), t1.sum(&t2.negative()));
                Fe::mul2_to(&minus, xy, &yz.negative(), xz, &mut self.x);
                Fe::mul2_to(&plus, &minus.reduced(), xz, &t0, &mut self.y);
                Fe::mul2_to(&plus, yz, &t0, xy, &mut self.z);
            }

            /// Adds the digit's multiple of the row's first point in each lane; `scratch` is written to.
            #[inline]
            $(#[$attr])*
            fn add_multiple(&mut self, row: &[[[u64; 5]; 2]], digits: V, scratch: &mut Points) {
                let (magnitude, minus) = negative(digits);
                let mut words = [[splat(0); 5]; 2];
                for (k, multiple) in row.iter().enumerate() {
                    let here = equal(magnitude, splat(k as u64 + 1));
                    for i in 0..5 {
                        words[0][i] = blend(words[0][i], splat(multiple[0][i]), here);
                        words[1][i] = blend(words[1][i], splat(multiple[1][i]), here);
                    }
                }
                let (x, mut y) = (Fe::unpacked(&words[0]), Fe::unpacked(&words[1]));
                let minus_y = y.neg();
                y.assign_where(&minus_y, minus);
                self.add_affine(&x, &y, scratch);
                // The row has no multiple for the digit 0, and x = y = 0 is no point.
                self.assign_where(scratch, differ(magnitude, splat(0)));
            }

            /// The same scalar, by the digits of its halves, times each point.
            $(#[$attr])*
            fn mul(&self, halves: &Halves, beta: &Fe) -> Points {
                let multiples = self.multiples(beta);
                let mut sum = Points::identity();
                for i in (0..super::glv::PLACES).rev() {
                    if i + 1 < super::glv::PLACES {
                        for _ in 0..4 {
                            sum.double();
                        }
                    }
                    for half in 0..2 {
                        let digit = splat(i64::from(halves.0[half][i]) as u64);
                        sum.add(&multiples.look_up(digit, half == 1));
                    }
                }
                sum
            }

            $(#[$attr])*
            fn multiples(&self, beta: &Fe) -> Multiples {
                let mut table = [*self; ROW];
                for k in 1..ROW {
                    if k % 2 == 1 {
                        table[k] = table[k / 2];
                        table[k].double();
                    } else {
                        table[k] = table[k - 1];
                        table[k].add(self);
                    }
                }
                let mut all = Multiples([([[splat(0); 5]; 3], [splat(0); 5]); ROW]);
                for (entry, p) in all.0.iter_mut().zip(&table) {
                    *entry = ([p.x.packed(), p.y.packed(), p.z.packed()], p.x.mul(beta).packed());
                }
                all
            }

            /// Takes `q` in the lanes of the mask.
            #[inline]
            $(#[$attr])*
            fn assign_where(&mut self, q: &Points, here: Mask) {
                self.x.assign_where(&q.x, here);
                self.y.assign_where(&q.y, here);
                self.z.assign_where(&q.z, here);
            }
        }

        impl Multiples {
            /// The digits' multiples, or λ times these.
            #[inline]
            $(#[$attr])*
            fn look_up(&self, digits: V, lambda: bool) -> Points {
                let (magnitude, minus) = negative(digits);
                let identity = Points::identity();
                let mut words = [identity.x.packed(), identity.y.packed(), identity.z.packed()];
                for (k, ([x, y, z], beta_x)) in self.0.iter().enumerate() {
                    let here = equal(magnitude, splat(k as u64 + 1));
                    let x = if lambda { beta_x } else { x };
                    for i in 0..5 {
                        words[0][i] = blend(words[0][i], x[i], here);
                        words[1][i] = blend(words[1][i], y[i], here);
                        words[2][i] = blend(words[2][i], z[i], here);
                    }
                }
                let mut q = Points {
                    x: Fe::unpacked(&words[0]),
                    y: Fe::unpacked(&words[1]),
                    z: Fe::unpacked(&words[2]),
                };
                let minus_y = q.y.neg();
                q.y.assign_where(&minus_y, minus);
                q
            }
        }

        /// All lanes.
        const ALL: u8 = (0xff_u16 >> (8 - L)) as u8;

        /// Compresses the first `count` points, with one inversion for all groups; the identity becomes zeros.
        $(#[$attr])*
        fn compress(groups: &[Points], count: usize) -> Vec<Compressed> {
            let mut out = vec![[0; 33]; groups.len() * L];
            for ((x, y, infinite), out) in normalized(groups).iter().zip(out.chunks_exact_mut(L)) {
                let (odd, infinite) = (y.odd(), mask_bits(*infinite));
                let words = x.packed().map(|word| store(word));
                for (lane, out) in out.iter_mut().enumerate() {
                    out[0] = 2 + (odd >> lane & 1);
                    out[1..].copy_from_slice(&unpack(&words.map(|word| word[lane])));
                    // The identity, if any: public once it is sent, as it is no valid encoding. The compiler
                    // must not know that the bit is one of two values, or it branches on it.
                    let keep = core::hint::black_box(infinite >> lane & 1).wrapping_sub(1);
                    for byte in out.iter_mut() {
                        *byte &= keep;
                    }
                }
            }
            out.truncate(count);
            out
        }

        /// The affine coordinates, below p, and the lanes that hold the identity.
        ///
        /// Montgomery's trick; where Z is zero, 1 takes its place.
        $(#[$attr])*
        fn normalized(groups: &[Points]) -> Vec<(Fe, Fe, Mask)> {
            let one = Fe::small(1);
            let mut depths = Vec::with_capacity(groups.len());
            let mut product = one;
            for group in groups {
                let infinite = group.z.is_zero();
                let z = group.z.select(&one, infinite);
                depths.push((product, z, infinite));
                product = product.mul(&z);
            }
            let mut inverse = product.invert();
            let mut all = Vec::with_capacity(groups.len());
            for (group, (before, z, infinite)) in groups.iter().zip(&depths).rev() {
                let z_inverse = inverse.mul(before);
                inverse = inverse.mul(z);
                let (x, y) = (group.x.mul(&z_inverse), group.y.mul(&z_inverse));
                all.push((x.freeze(), y.freeze(), *infinite));
            }
            all.reverse();
            all
        }
    };
}
pub(super) use secp256k1_points;
