//! A table of many elements of one ring, each where the kernels want it.

use super::FastRing;

/// 64 bytes, one register of AVX-512.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(super) struct Line(pub(super) [u64; 8]);

/// Elements of a [`FastRing`], each of which begins at a cache line.
#[derive(Clone)]
pub struct Elements {
    lines: Vec<Line>,
    /// Words of an element, and the lines that they take.
    words: usize,
    width: usize,
}

impl Elements {
    /// An empty table for elements of `ring`, with room for `capacity` of them.
    #[must_use]
    pub fn new(ring: &FastRing, capacity: usize) -> Self {
        let words = ring.len();
        let width = words.div_ceil(8);
        let mut table = Self { lines: Vec::with_capacity(capacity * width), words, width };
        prefer_large_pages(table.lines.spare_capacity_mut());
        table
    }

    /// Writes to each page of the room, so that the system has given it when this returns.
    pub fn touch(&mut self) {
        const PAGE: usize = 4096 / size_of::<Line>();
        for line in self.lines.spare_capacity_mut().iter_mut().step_by(PAGE) {
            line.write(Line([0; 8]));
        }
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len() / self.width
    }

    /// Says whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The bytes that an element of `ring` takes.
    #[must_use]
    pub fn bytes_of_one(ring: &FastRing) -> usize {
        64 * ring.len().div_ceil(8)
    }

    /// Appends an element.
    ///
    /// # Panics
    /// It has not as many words as the table's.
    pub fn push(&mut self, element: &[u64]) {
        assert_eq!(element.len(), self.words, "elements of a table have the same ring");
        for words in element.chunks(8) {
            let mut line = Line([0; 8]);
            line.0[..words.len()].copy_from_slice(words);
            self.lines.push(line);
        }
    }

    /// Appends an element by its lines.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    pub(super) fn push_lines(&mut self, lines: &[Line]) {
        assert_eq!(lines.len(), self.width, "elements of a table have the same ring");
        self.lines.extend_from_slice(lines);
    }

    /// Makes the table `count` elements long; new ones are `element`.
    pub fn resize(&mut self, count: usize, element: &[u64]) {
        self.truncate(count);
        while self.len() < count {
            self.push(element);
        }
    }

    /// Keeps the first `count` elements.
    pub fn truncate(&mut self, count: usize) {
        self.lines.truncate(count * self.width);
    }

    /// The words of element `i`.
    #[must_use]
    pub fn value(&self, i: usize) -> &[u64] {
        self.words_of(self.lines(i))
    }

    /// The words of element `i`, to be changed.
    pub fn value_mut(&mut self, i: usize) -> &mut [u64] {
        let lines = &mut self.lines[i * self.width..(i + 1) * self.width];
        // SAFETY: as in `words_of`, and `lines` is borrowed as long.
        unsafe { core::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), self.words) }
    }

    /// The lines of element `i`.
    pub(super) fn lines(&self, i: usize) -> &[Line] {
        &self.lines[i * self.width..(i + 1) * self.width]
    }

    /// The words of an element, from its lines.
    fn words_of<'a>(&self, lines: &'a [Line]) -> &'a [u64] {
        let lines = &lines[..self.width];
        // SAFETY: a line is eight words and nothing else, and an element has no more words than its
        // lines (`new`).
        unsafe { core::slice::from_raw_parts(lines.as_ptr().cast(), self.words) }
    }

    /// The elements, each of which has `V` lines.
    ///
    /// # Panics
    /// They have not.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    pub(super) fn arrays<const V: usize>(&self) -> &[[Line; V]] {
        assert_eq!(self.width, V, "elements of a table have the same ring");
        self.lines.as_chunks().0
    }

    /// Makes room for more elements; returns where the next one goes, and the lines of an element.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    pub(super) fn reserve(&mut self, more: usize) -> (*mut Line, usize) {
        let lines = more.checked_mul(self.width).expect("what is recorded fits memory");
        self.lines.reserve(lines);
        (self.lines.spare_capacity_mut().as_mut_ptr().cast(), self.width)
    }

    /// Takes in so many elements.
    ///
    /// # Safety
    /// They stand where [`Elements::reserve`] said, and all of their lines were written.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    pub(super) unsafe fn grow(&mut self, more: usize) {
        let len = self.lines.len() + more * self.width;
        // SAFETY: the caller vouches for the lines, which `reserve` made room for.
        unsafe { self.lines.set_len(len) };
    }
}

/// Asks for lines to be brought near: they will be read soon.
#[inline(always)]
pub(super) fn fetch(lines: &[Line]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in lines {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is of a line that is there; and it is not read, but asked for.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(line).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = lines;
}

/// Asks the system for large pages, which halves what a table of many megabytes costs where its elements
/// are met at random: no more than a wish.
fn prefer_large_pages(room: &mut [core::mem::MaybeUninit<Line>]) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use core::ffi::{c_int, c_void};
        unsafe extern "C" {
            fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
        }
        const MADV_HUGEPAGE: c_int = 14;
        const PAGE: usize = 4096;
        const LARGE: usize = 2 << 20;
        let skip = room.as_ptr().align_offset(PAGE);
        if size_of_val(room) >= 2 * LARGE && skip < room.len() {
            let whole = size_of_val(&room[skip..]) / PAGE * PAGE;
            let start: *mut c_void = room[skip..].as_mut_ptr().cast();
            // SAFETY: the range is whole pages of memory that is ours and borrowed here; the advice
            // changes nothing of what it holds.
            unsafe { madvise(start, whole, MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = room;
}
