//! The orders of steps of each size class, see `squaring.rs` for the letters.
//!
//! They were found by hill climbing from the plain order (column by column, what a value needs just
//! before it), moving one to five steps at a time and measuring on a Zen 5: at 2048 bits from 481 to
//! 368 cycles in some ten thousand trials.

/// (blocks of 8 digits, whether multiplications broadcast their own multipliers, order of steps)
pub const ORDERS: [(usize, bool, &str); 4] = [
    (
        3,
        false,
        "S00 L0 S12 D3 H3 S22 H4 H5 S01 D1 C00 K00 U0 Q00 q0 N00 V S02 D2 S11 C01 K01 N01 R0 C02 K02 \
         N02 R1 R2",
    ),
    (
        5,
        false,
        "S02 S34 S03 D7 S44 D3 S13 H7 H8 D2 C00 S04 H9 S14 S11 D4 S24 K00 C10 D6 U0 C01 C11 K01 U1 \
         C02 S23 Q00 q0 S22 D5 C12 C03 Q01 K03 Q10 q1 N03 N01 C13 N02 N12 S33 N11 N00 N10 N13 V K02 \
         N04 C04 K04 R0 N14 R1 C14 R2 +S00 R3 +L0 +S01 R4 +D1 +L1 +S12",
    ),
    (
        8,
        false,
        "S00 L0 S01 D1 L1 S02 D2 S11 L2 S57 Dc S66 Hc S67 Dd Hd S77 He Hf S03 S12 D3 C00 K00 U0 S04 \
         S13 D4 S22 C01 C10 K01 K10 U1 S05 S14 S23 D5 C02 C11 C20 K02 K11 U2 Q00 q0 Q01 Q10 q1 Q02 \
         Q11 Q20 q2 N01 N10 N02 N11 N20 V S06 S15 S24 D6 S33 C03 C12 C21 K03 K12 N03 N12 N21 R0 S07 \
         S16 S25 S34 D7 C04 C13 C22 K04 K13 N04 N13 N22 R1 S17 S26 S35 D8 S44 C05 C14 C23 K05 K14 N05 \
         N14 N23 R2 S27 S36 S45 D9 C06 C15 C24 K06 K15 N06 N15 N24 R3 S37 S46 Da S55 C07 C16 C25 K07 \
         K16 N07 N16 N25 R4 S47 S56 Db C17 C26 K17 N17 N26 R5 C27 N27 R6 R7",
    ),
    (
        10,
        true,
        "S00 L0 S01 D1 L1 S02 D2 S11 L2 S03 S12 D3 L3 S79 Dg S88 Hg S89 Dh Hh S99 Hi Hj S04 S13 D4 \
         S22 C00 K00 U0 S05 S14 S23 D5 C01 C10 K01 K10 U1 S06 S15 S24 D6 S33 C02 C11 C20 K02 K11 U2 \
         S07 S16 S25 S34 D7 C03 C12 C21 C30 K03 K12 U3 Q00 q0 Q01 Q10 q1 Q02 Q11 Q20 q2 Q03 Q12 Q21 \
         Q30 q3 N02 N11 N20 N03 N12 N21 N30 V S08 S17 S26 S35 D8 S44 C04 C13 C22 C31 K04 K13 N04 N13 \
         N22 N31 R0 S09 S18 S27 S36 S45 D9 C05 C14 C23 C32 K05 K14 N05 N14 N23 N32 R1 S19 S28 S37 S46 \
         Da S55 C06 C15 C24 C33 K06 K15 N06 N15 N24 N33 R2 S29 S38 S47 S56 Db C07 C16 C25 C34 K07 K16 \
         N07 N16 N25 N34 R3 S39 S48 S57 Dc S66 C08 C17 C26 C35 K08 K17 N08 N17 N26 N35 R4 S49 S58 S67 \
         Dd C09 C18 C27 C36 K09 K18 N09 N18 N27 N36 R5 S59 S68 De S77 C19 C28 C37 K19 N19 N28 N37 R6 \
         S69 S78 Df C29 C38 N29 N38 R7 C39 N39 R8 R9",
    ),
];
