//! The lanes of SHA-256 and SHA-512 as callers see them.

/// Expands to `Prefix` and `Lanes`, over what [`lane_kernels`](crate::lanes) makes, for values of the
/// lengths that the pattern has.
macro_rules! sha2_lanes {
    ($lengths:pat, $message:literal) => {
        /// What many messages share: everything before their last 16 bytes.
        ///
        /// # Security
        /// Wiped on drop; it is as secret as what it was made from.
        #[derive(Clone)]
        pub struct Prefix($crate::sha2::PrefixWords<W>);

        impl Prefix {
            /// Hashes a prefix as far as it goes.
            ///
            /// # Panics
            /// The length is not a whole number of words, or leaves less than four words of its last block.
            #[must_use]
            pub fn new(bytes: &[u8]) -> Self {
                Self(prefix_words(bytes))
            }
        }

        impl core::fmt::Debug for Prefix {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("Prefix")
            }
        }

        /// Lanes for messages of one value length, hashed together.
        pub struct Lanes {
            store: Store,
            n: usize,
            width: usize,
            prf: Shape,
            keygen: Shape,
            fixed: Fixed,
        }

        impl core::fmt::Debug for Lanes {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "Lanes {{ n: {}, width: {} }}", self.n, self.width)
            }
        }

        impl Lanes {
            /// Makes lanes for values of `n` bytes.
            ///
            /// # Panics
            /// `n` is no length that the standards have, or the kernel is not [`allowed`](Kernel::allowed).
            #[must_use]
            pub fn new(kernel: Kernel, n: usize) -> Self {
                assert!(matches!(n, $lengths), $message);
                assert!(kernel.allowed(), "the CPU has this kernel");
                let pad = if n == 24 { 4 } else { n };
                let fixed = hash_shape(pad, n);
                let (store, width) = Store::new(kernel, &fixed);
                let prf = prf_shape(pad + n + 16);
                let keygen = prf_shape(pad + 2 * n + 16);
                Self { store, n, width, prf, keygen, fixed }
            }

            /// How many messages one call hashes.
            #[must_use]
            pub fn width(&self) -> usize {
                self.width
            }

            /// Gives a lane its prefix; all lanes of a call must have prefixes of one length.
            pub fn set_prefix(&mut self, lane: usize, prefix: &Prefix) {
                each!(&mut self.store, m => m.set_prefix(lane, &prefix.0));
            }

            /// Gives a lane its tail, the last 16 bytes of its message.
            pub fn set_tail(&mut self, lane: usize, tail: [u32; 4]) {
                let bytes = tail.map(u32::to_be_bytes);
                let words = bytes.as_flattened().as_chunks::<{ size_of::<W>() }>().0;
                each!(&mut self.store, m => for (row, word) in m.tail.iter_mut().zip(words) {
                    row[lane] = W::from_be_bytes(*word);
                });
            }

            /// Adds one to the third word of every lane's tail, which stays below 2^24.
            pub fn advance(&mut self) {
                let one = 1 << (W::BITS - 32);
                each!(&mut self.store, m => for word in &mut m.tail[8 / size_of::<W>()] {
                    *word = word.wrapping_add(one);
                });
            }

            /// Puts a value into a lane: the left (`x`) or, for a pair, the right (`y`).
            ///
            /// # Panics
            /// The value has fewer than `n` bytes.
            pub fn put(&mut self, lane: usize, right: bool, value: &[u8]) {
                let words = value[..self.n].as_chunks::<{ size_of::<W>() }>().0;
                each!(&mut self.store, m => {
                    let rows = if right { &mut m.y } else { &mut m.x };
                    if let Ok(words) = <&[_; 8]>::try_from(words) {
                        // Written out, for they are as many as the rows.
                        for i in 0..8 {
                            rows[i][lane] = W::from_be_bytes(words[i]);
                        }
                    } else {
                        for (row, word) in rows.iter_mut().zip(words) {
                            row[lane] = W::from_be_bytes(*word);
                        }
                    }
                });
            }

            /// Takes a lane's value `x`.
            ///
            /// # Panics
            /// `value` has fewer than `n` bytes.
            pub fn take(&self, lane: usize, value: &mut [u8]) {
                let words = value[..self.n].as_chunks_mut::<{ size_of::<W>() }>().0;
                each!(&self.store, m => {
                    if let Ok(words) = <&mut [_; 8]>::try_from(&mut *words) {
                        for i in 0..8 {
                            words[i] = m.x[i][lane].to_be_bytes();
                        }
                    } else {
                        for (row, word) in m.x.iter().zip(words) {
                            *word = row[lane].to_be_bytes();
                        }
                    }
                });
            }

            /// `x ← Hash(prefix ‖ tail)`, the prefix being `pad ‖ n bytes ‖ 16 bytes`.
            pub fn prf(&mut self) {
                self.run_prf(false);
            }

            /// `x ← Hash(prefix ‖ tail)`, the prefix being `pad ‖ 2·n bytes ‖ 16 bytes`.
            pub fn prf_long(&mut self) {
                self.run_prf(true);
            }

            fn run_prf(&mut self, long: bool) {
                let shape = if long { &self.keygen } else { &self.prf };
                run!(&mut self.store, m => kernel::prf(m, shape));
            }

            /// `x ← Hash(pad(0) ‖ k ‖ (x ⊕ b))`; see the module.
            pub fn masked(&mut self) {
                run!(&mut self.store, m => kernel::masked(m, &self.prf, &self.fixed));
            }

            /// Does `count` times what [`masked`](Self::masked) and then [`advance`](Self::advance) do.
            pub fn steps(&mut self, count: u32) {
                run!(&mut self.store, m => kernel::steps(m, &self.prf, &self.fixed, count));
            }

            /// `x ← Hash(pad(1) ‖ k ‖ (x ⊕ b) ‖ (y ⊕ c))`; see the module.
            pub fn pair(&mut self) {
                run!(&mut self.store, m => kernel::pair(m, &self.prf, &self.fixed));
            }

            /// Does what [`pair`](Self::pair) does to lane 0 alone; the other lanes' values are undefined.
            pub fn pair_first(&mut self) {
                run!(&mut self.store, m => kernel::pair_first(m, &self.prf, &self.fixed));
            }
        }
    };
}
pub(crate) use sha2_lanes;
