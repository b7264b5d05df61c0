//! Powers of elements of the field of secp256k1, by the same chain for each kernel.

/// Expands to `invert` and `sqrt_candidate` of a field's `Fe`, which has `sqr`, `sqr_times` and `mul`.
macro_rules! secp256k1_powers {
    ($(#[$attr:meta])*) => {
        impl Fe {
            /// a^(2^2 − 1), and a^((2^223 − 1) 2^23 + 2^22 − 1).
            ///
            /// p − 2 and (p + 1)/4 begin with the same 246 bits: 223 ones, a zero, 22 ones.
            $(#[$attr])*
            fn ladder(&self) -> [Fe; 2] {
                let x2 = self.sqr().mul(self);
                let x3 = x2.sqr().mul(self);
                let x6 = x3.sqr_times(3).mul(&x3);
                let x9 = x6.sqr_times(3).mul(&x3);
                let x11 = x9.sqr_times(2).mul(&x2);
                let x22 = x11.sqr_times(11).mul(&x11);
                let x44 = x22.sqr_times(22).mul(&x22);
                let x88 = x44.sqr_times(44).mul(&x44);
                let x176 = x88.sqr_times(88).mul(&x88);
                let x220 = x176.sqr_times(44).mul(&x44);
                let x223 = x220.sqr_times(3).mul(&x3);
                [x2, x223.sqr_times(23).mul(&x22)]
            }

            /// 1/a; 0 for 0.
            $(#[$attr])*
            pub(crate) fn invert(&self) -> Fe {
                let [x2, high] = self.ladder();
                let t = high.sqr_times(5).mul(self);
                t.sqr_times(3).mul(&x2).sqr_times(2).mul(self)
            }

            /// a^((p+1)/4): a square root of a if it has one.
            $(#[$attr])*
            pub(crate) fn sqrt_candidate(&self) -> Fe {
                let [x2, high] = self.ladder();
                high.sqr_times(6).mul(&x2).sqr_times(2)
            }
        }
    };
}
pub(super) use secp256k1_powers;
