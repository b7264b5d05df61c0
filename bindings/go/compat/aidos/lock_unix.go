//go:build unix

package xmss

import (
	"golang.org/x/sys/unix"
)

// locked works while no other process has the record locked.
func (r *record) locked(work func() error) error {
	for {
		err := unix.Flock(int(r.file.Fd()), unix.LOCK_EX)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return errEnvironment(err)
		}
		break
	}
	defer unix.Flock(int(r.file.Fd()), unix.LOCK_UN)
	return work()
}
