//go:build !unix

package xmss

import "errors"

// locked refuses: without locks two processes could use one index.
func (r *record) locked(func() error) error {
	return errEnvironment(errors.New("files cannot be locked on this system"))
}
