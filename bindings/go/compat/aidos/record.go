package xmss

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"tetralith.example/tetralith"
)

// record is the file of the indices that a key has used, each with the digest of its message.
//
// The file is a header and entries of one length, appended in the order of use. An entry is synced before its
// signature is made, under the file's lock. A crash can leave the last entry incomplete: its signature was never
// made, and the next entry overwrites it.
//
//	header: magic (32 bytes) ‖ SHA-256 of height, layers, root and SEED
//	entry:  index (8 bytes, big-endian) ‖ HMAC-SHA256 of the message under SK_PRF ‖ check (8 bytes)
//
// The first entry, with a digest of zeros, is the floor: no index below it signs.
type record struct {
	sync.Mutex
	path  string
	file  *os.File
	id    [sha256.Size]byte
	used  map[uint64][sha256.Size]byte
	floor uint64
	// size is how much of the file is read.
	size int64
}

const (
	magic  = "tetralith aidos used indices 1\n\x00"
	header = int64(len(magic) + sha256.Size)
	entry  = 8 + sha256.Size + 8
)

// records are the open files of this process, one for each path.
var records = struct {
	sync.Mutex
	open map[string]*record
}{open: map[string]*record{}}

// stateFolder is where the records lie.
func stateFolder() (string, error) {
	if folder := os.Getenv("TETRALITH_AIDOS_STATE"); folder != "" {
		return filepath.Abs(folder)
	}
	if runtime.GOOS == "darwin" {
		folder, err := os.UserConfigDir()
		return filepath.Join(folder, "tetralith", "aidos"), err
	}
	if folder := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(folder) {
		return filepath.Join(folder, "tetralith", "aidos"), nil
	}
	folder, err := os.UserHomeDir()
	return filepath.Join(folder, ".local", "state", "tetralith", "aidos"), err
}

// openRecord opens a key's record, or makes it with a floor.
func openRecord(key []byte, floor uint64) (*record, error) {
	folder, err := stateFolder()
	if err != nil {
		return nil, errEnvironment(err)
	}
	id := sha256.Sum256(key)
	path := filepath.Join(folder, hex.EncodeToString(id[:16])+".used")
	records.Lock()
	defer records.Unlock()
	if known := records.open[path]; known != nil {
		return known, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, errEnvironment(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, errEnvironment(err)
	}
	r := &record{path: path, file: file, id: id, used: map[uint64][sha256.Size]byte{}}
	if err := r.locked(func() error { return r.begin(folder, floor) }); err != nil {
		file.Close()
		return nil, err
	}
	records.open[path] = r
	return r, nil
}

// begin checks the header, or writes it with the floor where the file is new.
func (r *record) begin(folder string, floor uint64) error {
	info, err := r.file.Stat()
	if err != nil {
		return errEnvironment(err)
	}
	// A crash before the first sync leaves a part of these bytes, or zeros.
	first := append(append([]byte(magic), r.id[:]...), r.entry(floor, [sha256.Size]byte{})...)
	if info.Size() <= int64(len(first)) {
		found := make([]byte, info.Size())
		if _, err := r.file.ReadAt(found, 0); err != nil {
			return errEnvironment(err)
		}
		if int64(len(found)) < header+entry || !r.isEntry(found[header:]) {
			if _, err := r.file.WriteAt(first, 0); err != nil {
				return errEnvironment(err)
			}
			if err := r.file.Sync(); err != nil {
				return errEnvironment(err)
			}
			if err := syncFolders(folder); err != nil {
				return errEnvironment(err)
			}
		}
	}
	found := make([]byte, header)
	if _, err := r.file.ReadAt(found, 0); err != nil {
		return errEnvironment(err)
	}
	if !bytes.Equal(found, first[:header]) {
		return r.refuse("state.corrupt", "is not one of this key")
	}
	r.size = header
	return nil
}

// commit records that an index signs a message's digest, durably. An index that has signed another is refused.
func (r *record) commit(index uint64, digest [sha256.Size]byte) error {
	r.Lock()
	defer r.Unlock()
	return r.locked(func() error {
		if err := r.read(); err != nil {
			return err
		}
		if known, found := r.used[index]; found {
			if known == digest {
				return nil
			}
			return r.refuse("state.used", fmt.Sprintf("says that index %d signed another message", index))
		}
		if index < r.floor {
			return r.refuse("state.used", fmt.Sprintf("says that all indices below %d are used; this is %d", r.floor, index))
		}
		if _, err := r.file.WriteAt(r.entry(index, digest), r.size); err != nil {
			return errEnvironment(err)
		}
		if err := r.file.Sync(); err != nil {
			return errEnvironment(err)
		}
		r.used[index] = digest
		r.size += entry
		return nil
	})
}

// read takes the entries that other processes wrote, and checks that the file is still the one at its path.
func (r *record) read() error {
	here, err := r.file.Stat()
	if err != nil {
		return errEnvironment(err)
	}
	if there, err := os.Stat(r.path); err != nil || !os.SameFile(here, there) {
		return r.refuse("state.replaced", "was removed or replaced while it was in use")
	}
	if here.Size() < r.size {
		return r.refuse("state.replaced", "became shorter while it was in use")
	}
	found := make([]byte, here.Size()-r.size)
	if _, err := r.file.ReadAt(found, r.size); err != nil && len(found) > 0 {
		return errEnvironment(err)
	}
	for len(found) >= entry {
		if !r.isEntry(found[:entry]) {
			if len(found) < 2*entry {
				return nil // the last one, cut off by a crash
			}
			return r.refuse("state.corrupt", fmt.Sprintf("is damaged at byte %d", r.size))
		}
		index, digest := binary.BigEndian.Uint64(found), [sha256.Size]byte(found[8:])
		if r.size == header {
			r.floor = index
		} else {
			r.used[index] = digest
		}
		r.size, found = r.size+entry, found[entry:]
	}
	if r.size == header {
		return r.refuse("state.corrupt", "has no first entry")
	}
	return nil
}

// entry encodes an entry.
func (r *record) entry(index uint64, digest [sha256.Size]byte) []byte {
	bytes := append(binary.BigEndian.AppendUint64(nil, index), digest[:]...)
	check := sha256.Sum256(append(r.id[:len(r.id):len(r.id)], bytes...))
	return append(bytes, check[:8]...)
}

// isEntry says whether the check of an entry is right.
func (r *record) isEntry(found []byte) bool {
	return bytes.Equal(found, r.entry(binary.BigEndian.Uint64(found), [sha256.Size]byte(found[8:])))
}

func (r *record) refuse(code, why string) error {
	hint := "load the newest JSON of the key, or skip to an unused index with SetLeafNo"
	if code != "state.used" {
		hint = "restore the file as it was, or make a new key"
	}
	return &tetralith.Error{Kind: tetralith.ErrState, Code: code, Message: fmt.Sprintf("%s %s", r.path, why), Hint: hint}
}

// syncFolders makes a new file durable, and the folders that MkdirAll may have made.
func syncFolders(folder string) error {
	for range 4 {
		opened, err := os.Open(folder)
		if err != nil {
			return nil // no permission to read a folder of the system's: it was not made just now
		}
		err = opened.Sync()
		opened.Close()
		if err != nil {
			return err
		}
		folder = filepath.Dir(folder)
	}
	return nil
}
