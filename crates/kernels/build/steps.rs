//! The steps of a squaring or product, the order they are written in, and where their data stands.

/// One step of a squaring; [`Size`] explains the block counts v, l, h and m.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Step {
    /// `S`: A_i·A_j into column i + j of A², once where i < j. Of A·B: A_i·B_j.
    Square(usize, usize),
    /// `D`: doubles a column, once all its products with i < j are there and nothing else is.
    Double(usize),
    /// `L`: closes one of A²'s l lowest columns.
    Low(usize),
    /// `H`: closes one of A²'s highest columns: two that stay, and h to be folded.
    High(usize),
    /// `C`: Low_i·C_j.
    FoldLow(usize, usize),
    /// `K`: High_i·K_j.
    FoldHigh(usize, usize),
    /// `U`: closes the lowest columns of the folded number: block i of P.
    Part(usize),
    /// `Q`: P_i·N'_j.
    Quotient(usize, usize),
    /// `q`: closes block i of the quotient.
    CloseQuotient(usize),
    /// `N`: q_i·N_j.
    Multiple(usize, usize),
    /// `V`: what the half that the quotient makes zero carries into the result.
    Vanish,
    /// `R`: closes block i of the result.
    Result(usize),
}

impl Step {
    fn parse_one(text: &str) -> Step {
        let mut digits = text[1..].chars().map(|d| d.to_digit(36).expect("base 36") as usize);
        let mut index = || digits.next().expect("another index");
        match &text[..1] {
            "S" => Step::Square(index(), index()),
            "D" => Step::Double(index()),
            "L" => Step::Low(index()),
            "H" => Step::High(index()),
            "C" => Step::FoldLow(index(), index()),
            "K" => Step::FoldHigh(index(), index()),
            "U" => Step::Part(index()),
            "Q" => Step::Quotient(index(), index()),
            "q" => Step::CloseQuotient(index()),
            "N" => Step::Multiple(index(), index()),
            "V" => Step::Vanish,
            "R" => Step::Result(index()),
            other => panic!("no step {other}"),
        }
    }
}

/// The size class of moduli of v blocks of 8 digits.
///
/// One fold takes away the l lowest and the h highest blocks of the 2·v of A²; Montgomery's reduction
/// takes m more, l + h + m = v. The folds reach no farther than q·N because l ≤ m and h ≤ m.
#[derive(Clone, Copy)]
pub struct Size {
    pub v: usize,
    pub l: usize,
    pub h: usize,
    pub m: usize,
    /// Whether multipliers are broadcast by the multiplication itself (shorter code, more loads).
    pub words: bool,
    pub job: Job,
}

/// What is computed, of factors that stand in the workspace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// A².
    Square,
    /// A·B.
    Product,
}

impl Size {
    /// The smallest class does without folds: it waits rather than works, and has one wait less so.
    pub fn new(v: usize, words: bool, job: Job) -> Self {
        let (l, m) = if v == 3 { (0, v) } else { (v.div_ceil(3), v.div_ceil(3)) };
        Size { v, l, h: v - l - m, m, words, job }
    }

    /// First line of Low, High, P, q, the two sums and B, in a workspace that begins with A.
    pub fn low(&self) -> usize {
        self.v
    }
    pub fn high(&self) -> usize {
        self.low() + self.l
    }
    pub fn part(&self) -> usize {
        self.high() + self.h
    }
    pub fn quotient(&self) -> usize {
        self.part() + self.m
    }
    pub fn sums(&self) -> usize {
        self.quotient() + self.m
    }
    pub fn second(&self) -> usize {
        self.sums() + 2
    }
    /// Lines of a workspace.
    pub fn workspace(&self) -> usize {
        self.second() + self.v
    }

    /// Lines of the constants: C, K, N (v each), N' (m), five masks, spilled registers.
    pub fn masks(&self) -> usize {
        3 * self.v + self.m
    }
    pub fn spills(&self) -> usize {
        self.masks() + 5
    }

    /// The first column of A² that is closed before the fold.
    pub fn first_high(&self) -> usize {
        2 * self.v - self.h - 2
    }

    /// Bytes from the beginning of a workspace to where its pointer points.
    pub fn bias(&self) -> usize {
        64 * (self.workspace() / 2)
    }
}

/// An order's steps, and whether each is for the next squaring.
pub fn parse(order: &str) -> Vec<(Step, bool)> {
    let step = |text: &str| match text.strip_prefix('+') {
        Some(ahead) => (Step::parse_one(ahead), true),
        None => (Step::parse_one(text), false),
    };
    order.split_whitespace().map(step).collect()
}
