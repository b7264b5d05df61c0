//! The body that every Keccak kernel shares: the permutation and the lane jobs over a vector type.
//!
//! A kernel's module defines `V` (one 64-bit word of every lane), `L` (lanes) and the operations
//! `load store set1 xor xor3 chi rotl half_up half_down`, and expands [`keccak_body`]. The state is
//! `[V; 25]`, `a[x + 5·y]` in FIPS 202's coordinates; words are little-endian, so that the number
//! `i` in the last byte of a field is `i << 56` in the field's last word.

/// Expands to the jobs `prf`, `masked` and `pair` over the vector type in scope.
macro_rules! keccak_body {
    ($(#[$attr:meta])*) => {
        type State = [V; 25];

        /// One round: θ, ρ and π together from `a` to `b`, then χ and ι back.
        ///
        /// The parity of column `x − 1` and the turned parity of column `x + 1` are added to each
        /// word by one three-way exclusive or, instead of being summed beforehand.
        $(#[$attr])*
        #[inline]
        fn round(a: &mut State, rc: u64) {
            let mut c = [set1(0); 5];
            let mut d = [set1(0); 5];
            for x in 0..5 {
                c[x] = xor3(xor3(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20]);
                d[x] = rotl::<1>(c[x]);
            }
            let mut b = [set1(0); 25];
            b[0] = xor3(a[0], c[4], d[1]);
            b[1] = rotl::<44>(xor3(a[6], c[0], d[2]));
            b[2] = rotl::<43>(xor3(a[12], c[1], d[3]));
            b[3] = rotl::<21>(xor3(a[18], c[2], d[4]));
            b[4] = rotl::<14>(xor3(a[24], c[3], d[0]));
            b[5] = rotl::<28>(xor3(a[3], c[2], d[4]));
            b[6] = rotl::<20>(xor3(a[9], c[3], d[0]));
            b[7] = rotl::<3>(xor3(a[10], c[4], d[1]));
            b[8] = rotl::<45>(xor3(a[16], c[0], d[2]));
            b[9] = rotl::<61>(xor3(a[22], c[1], d[3]));
            b[10] = rotl::<1>(xor3(a[1], c[0], d[2]));
            b[11] = rotl::<6>(xor3(a[7], c[1], d[3]));
            b[12] = rotl::<25>(xor3(a[13], c[2], d[4]));
            b[13] = rotl::<8>(xor3(a[19], c[3], d[0]));
            b[14] = rotl::<18>(xor3(a[20], c[4], d[1]));
            b[15] = rotl::<27>(xor3(a[4], c[3], d[0]));
            b[16] = rotl::<36>(xor3(a[5], c[4], d[1]));
            b[17] = rotl::<10>(xor3(a[11], c[0], d[2]));
            b[18] = rotl::<15>(xor3(a[17], c[1], d[3]));
            b[19] = rotl::<56>(xor3(a[23], c[2], d[4]));
            b[20] = rotl::<62>(xor3(a[2], c[1], d[3]));
            b[21] = rotl::<55>(xor3(a[8], c[2], d[4]));
            b[22] = rotl::<39>(xor3(a[14], c[3], d[0]));
            b[23] = rotl::<41>(xor3(a[15], c[4], d[1]));
            b[24] = rotl::<2>(xor3(a[21], c[0], d[2]));
            a[0] = xor(chi(b[0], b[1], b[2]), set1(rc));
            a[1] = chi(b[1], b[2], b[3]);
            a[2] = chi(b[2], b[3], b[4]);
            a[3] = chi(b[3], b[4], b[0]);
            a[4] = chi(b[4], b[0], b[1]);
            a[5] = chi(b[5], b[6], b[7]);
            a[6] = chi(b[6], b[7], b[8]);
            a[7] = chi(b[7], b[8], b[9]);
            a[8] = chi(b[8], b[9], b[5]);
            a[9] = chi(b[9], b[5], b[6]);
            a[10] = chi(b[10], b[11], b[12]);
            a[11] = chi(b[11], b[12], b[13]);
            a[12] = chi(b[12], b[13], b[14]);
            a[13] = chi(b[13], b[14], b[10]);
            a[14] = chi(b[14], b[10], b[11]);
            a[15] = chi(b[15], b[16], b[17]);
            a[16] = chi(b[16], b[17], b[18]);
            a[17] = chi(b[17], b[18], b[19]);
            a[18] = chi(b[18], b[19], b[15]);
            a[19] = chi(b[19], b[15], b[16]);
            a[20] = chi(b[20], b[21], b[22]);
            a[21] = chi(b[21], b[22], b[23]);
            a[22] = chi(b[22], b[23], b[24]);
            a[23] = chi(b[23], b[24], b[20]);
            a[24] = chi(b[24], b[20], b[21]);
        }

        /// Keccak-f[1600]. FIPS 202 §3.3.
        $(#[$attr])*
        fn permute(a: &mut State) {
            let mut s = *a;
            for rc in RC {
                round(&mut s, rc);
            }
            *a = s;
        }

        $(#[$attr])*
        #[inline]
        fn loads<const N: usize>(rows: &[[u64; L]; N]) -> [V; N] {
            let mut out = [set1(0); N];
            for i in 0..N {
                out[i] = load(&rows[i]);
            }
            out
        }

        /// Adds `v` half a word above word `at`.
        $(#[$attr])*
        #[inline]
        fn add_half(a: &mut State, at: usize, v: V) {
            a[at] = xor(a[at], half_up(v));
            a[at + 1] = xor(a[at + 1], half_down(v));
        }

        $(#[$attr])*
        #[inline]
        fn add_const(a: &mut State, at: usize, word: u64) {
            a[at] = xor(a[at], set1(word));
        }

        /// The state of `prefix ‖ tail + number`, permuted.
        $(#[$attr])*
        #[inline]
        fn prf_state(m: &Soa, shape: &Shape, at: usize, number: u64) -> State {
            let mut a = loads(&m.base);
            let tail = [load(&m.tail[0]), xor(load(&m.tail[1]), set1(number << 56))];
            let word = at / 8;
            if at % 8 == 0 {
                a[word] = xor(a[word], tail[0]);
                a[word + 1] = xor(a[word + 1], tail[1]);
                add_const(&mut a, word + 2, DOMAIN);
            } else {
                add_half(&mut a, word, tail[0]);
                add_half(&mut a, word + 1, tail[1]);
                add_const(&mut a, word + 2, DOMAIN << 32);
            }
            add_const(&mut a, shape.rate / 8 - 1, 1 << 63);
            permute(&mut a);
            a
        }

        $(#[$attr])*
        pub(super) fn prf(m: &mut Soa, shape: &Shape, at: usize) {
            let a = prf_state(m, shape, at, 0);
            for i in 0..8 {
                store(&mut m.x[i], a[i]);
            }
        }

        /// The masked values of a job, one after the other: `x ⊕ b`, and `y ⊕ c` where `pair`.
        $(#[$attr])*
        #[inline]
        fn masked_words(m: &Soa, shape: &Shape, pair: bool) -> [V; 16] {
            let n = shape.n / 8;
            let mut v = [set1(0); 16];
            let b = prf_state(m, shape, shape.at, 1);
            for i in 0..n {
                v[i] = xor(load(&m.x[i]), b[i]);
            }
            if pair {
                let c = prf_state(m, shape, shape.at, 2);
                for i in 0..n {
                    v[n + i] = xor(load(&m.y[i]), c[i]);
                }
            }
            v
        }

        /// `x ← Hash(pad(pair) ‖ key ‖ masked values)`.
        $(#[$attr])*
        fn keyed(m: &mut Soa, shape: &Shape, pair: bool) {
            let v = masked_words(m, shape, pair);
            let key = prf_state(m, shape, shape.at, 0);
            let number = u64::from(pair);
            let mut a = [set1(0); 25];
            let last = shape.rate / 8 - 1;
            match shape.n {
                24 => {
                    let count = if pair { 6 } else { 3 };
                    a[0] = set1(number << 24);
                    for i in 0..3 {
                        add_half(&mut a, i, key[i]);
                    }
                    for i in 0..count {
                        add_half(&mut a, 3 + i, v[i]);
                    }
                    add_const(&mut a, 3 + count, DOMAIN << 32);
                }
                32 => {
                    let count = if pair { 8 } else { 4 };
                    a[3] = set1(number << 56);
                    a[4..8].copy_from_slice(&key[..4]);
                    a[8..8 + count].copy_from_slice(&v[..count]);
                    add_const(&mut a, 8 + count, DOMAIN);
                }
                _ => {
                    let count = if pair { 16 } else { 8 };
                    a[7] = set1(number << 56);
                    a[8..16].copy_from_slice(&key[..8]);
                    a[16] = v[0];
                    permute(&mut a);
                    for i in 1..count {
                        a[i - 1] = xor(a[i - 1], v[i]);
                    }
                    add_const(&mut a, count - 1, DOMAIN);
                }
            }
            add_const(&mut a, last, 1 << 63);
            permute(&mut a);
            for i in 0..shape.n / 8 {
                store(&mut m.x[i], a[i]);
            }
        }

        $(#[$attr])*
        pub(super) fn masked(m: &mut Soa, shape: &Shape) {
            keyed(m, shape, false);
        }

        $(#[$attr])*
        pub(super) fn pair(m: &mut Soa, shape: &Shape) {
            keyed(m, shape, true);
        }
    };
}
pub(crate) use keccak_body;
