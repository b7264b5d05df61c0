//go:build !tetralith_wasm && (linux || darwin) && (amd64 || arm64)

package abi

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// word is the argument as a register holds it.
func (w *Word) word() uintptr {
	switch w.mode {
	case value, handle, user:
		return uintptr(w.value)
	case progress:
		if w.value == 0 {
			return 0
		}
		return progressCallback()
	}
	return uintptr(w.ptr)
}

// take copies allocated bytes and frees them.
func take(o *Owned, _ Handle) ([]byte, error) {
	if o.bytes == nil {
		return nil, nil
	}
	if err := bytesFree.find(); err != nil {
		return nil, err
	}
	bytes, theirs := make([]byte, o.len), unsafe.Slice((*byte)(o.bytes), o.len)
	copy(bytes, theirs)
	clear(theirs) // it may be secret
	get(bytesFree, []Word{{value: uint64(uintptr(o.bytes))}, {value: o.len}})
	return bytes, nil
}

// Progress passes a function that the library calls a few times a second, and its user pointer. The run
// stops if the function returns false. The last result ends the registration.
func Progress(report func(done, total uint64) bool) (Word, Word, func()) {
	if report == nil {
		return Word{mode: progress}, Word{mode: user}, func() {}
	}
	id := reportID.Add(1)
	reports.Store(id, report)
	return Word{mode: progress, value: 1}, Word{mode: user, value: id}, func() { reports.Delete(id) }
}

var (
	reports  sync.Map
	reportID atomic.Uint64
)

// reported is what the library calls. A result other than 0 stops the run.
func reported(id, done, total uint64) int32 {
	report, ok := reports.Load(id)
	if !ok || !report.(func(done, total uint64) bool)(done, total) {
		return 1
	}
	return 0
}
