package abi

import (
	"context"
	"strings"
	"unsafe"
)

// Watch passes progress on, and stops the call when the context ends. The last result ends the
// registration.
func Watch(ctx context.Context, progress func(done, total uint64)) (callback, user Word, end func()) {
	return Progress(func(done, total uint64) bool {
		if progress != nil {
			progress(done, total)
		}
		return ctx.Err() == nil
	})
}

// CallContext calls a function that [Watch] stops. It returns the context's error where that was why.
func (f *Func) CallContext(ctx context.Context, args ...Word) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := f.Call(args...)
	if ended := ctx.Err(); err != nil && ended != nil {
		return ended
	}
	return err
}

// Text passes a text with a final NUL, or NULL where it is empty. A text with a NUL is cut there by C, so that
// callers refuse it before: see [CheckText].
func Text(text string) Word {
	if text == "" {
		return Word{mode: in}
	}
	return In(append([]byte(text), 0))
}

// CheckText refuses a text that C would cut.
func CheckText(name, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return Failure(Malformed, "usage.arguments", name+" has a NUL character")
	}
	return nil
}

// OutNumbers passes the place of numbers that the function writes.
func OutNumbers(n []uint64) Word {
	return Word{mode: out, ptr: escape(unsafe.Pointer(unsafe.SliceData(n))), size: 8 * len(n)}
}
