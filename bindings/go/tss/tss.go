// Package tss makes threshold keys and signatures: ECDSA on secp256k1 by DKLs23, and Ed25519 by FROST.
//
// A [Session] is one party's side of a run, as messages in and out. The caller carries the messages: each must reach its
// receiver authenticated, and those to one party confidential as well, for they carry secrets.
//
// Errors are of type [tetralith.Error]. A session may be used by many goroutines: one call waits for the other.
package tss

import (
	"fmt"
	"runtime"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/internal/abi"
)

// Scheme is a signature scheme and the protocols for it.
type Scheme int

// The schemes.
const (
	DKLs23       Scheme = 1 // ECDSA on secp256k1
	FROSTEd25519 Scheme = 2 // Ed25519, RFC 9591
)

// RunID names a run. It is the same for all parties, and never used again.
type RunID [32]byte

// Session is one party's side of a run.
type Session struct{ handle abi.Handle }

// Message is what a party sends.
type Message struct {
	// To is the receiver, or 0 for all others.
	To int
	// Bytes are secret where there is one receiver.
	Bytes []byte
}

// Keygen begins to make a key of which any t of n parties can sign. me is this party, from 1. The result is this
// party's share.
func Keygen(scheme Scheme, run RunID, me, t, n int) (*Session, error) {
	if err := small(me, t, n); err != nil {
		return nil, err
	}
	return begin(func(out *abi.Handle) error {
		return tssKeygen.Call(abi.Int(scheme), abi.In(run[:]), abi.Len(run[:]), abi.Int(me), abi.Int(t), abi.Int(n), abi.OutHandle(out))
	})
}

// Sign begins to sign with a share. The result is the signature.
//
// signers are the parties that take part, in ascending order. DKLs23 signs a digest of 32 bytes, and its signature is r, s
// and a recovery number, 65 bytes. FROST signs a message of any length, and its signature is RFC 8032's, 64 bytes. The
// caller decides what may be signed.
func Sign(scheme Scheme, run RunID, share []byte, signers []int, message []byte) (*Session, error) {
	if err := small(signers...); err != nil {
		return nil, err
	}
	parties := make([]byte, len(signers))
	for i, party := range signers {
		parties[i] = byte(party)
	}
	return begin(func(out *abi.Handle) error {
		return tssSign.Call(abi.Int(scheme), abi.In(run[:]), abi.Len(run[:]), abi.In(share), abi.Len(share), abi.In(parties), abi.Len(parties),
			abi.In(message), abi.Len(message), abi.OutHandle(out))
	})
}

// Refresh begins to replace all shares of a DKLs23 key, whose public key stays. All parties take part. The result is
// this party's new share.
func Refresh(run RunID, share []byte) (*Session, error) {
	return begin(func(out *abi.Handle) error {
		return tssRefresh.Call(abi.In(run[:]), abi.Len(run[:]), abi.In(share), abi.Len(share), abi.OutHandle(out))
	})
}

func begin(call func(*abi.Handle) error) (*Session, error) {
	var handle abi.Handle
	if err := call(&handle); err != nil {
		return nil, err
	}
	session := &Session{handle: handle}
	runtime.AddCleanup(session, func(handle abi.Handle) { tssFree.Get(abi.The(handle)) }, handle)
	return session, nil
}

// Receive takes in a message. from is the true sender, which the caller's channel has authenticated.
//
// The error is [tetralith.ErrMalformed] with the code message.refused for a message that was not accepted; the run goes on
// unchanged. Order and duplicates do not matter.
func (s *Session) Receive(from int, message []byte) error {
	defer runtime.KeepAlive(s)
	if err := small(from); err != nil {
		return err
	}
	return tssReceive.Call(abi.The(s.handle), abi.Int(from), abi.In(message), abi.Len(message))
}

// Messages returns what is ready to be sent.
func (s *Session) Messages() ([]Message, error) {
	defer runtime.KeepAlive(s)
	var ready []Message
	for {
		var to [1]byte
		var bytes abi.Owned
		err := tssNextMessage.Call(abi.The(s.handle), abi.Out(to[:]), abi.OutBytes(&bytes), abi.OutLen(&bytes))
		if err != nil {
			return ready, err
		}
		next, err := bytes.Take(s.handle)
		if next == nil || err != nil {
			return ready, err
		}
		ready = append(ready, Message{To: int(to[0]), Bytes: next})
	}
}

// Result returns the result once the run has ended, and nil before that and after it was taken.
//
// The error is [tetralith.ErrPeer] if the run was aborted because of a party; [Session.Suspects] names those among which
// the fault lies. A share is in the clear: encrypt it before you store it.
func (s *Session) Result() ([]byte, error) {
	defer runtime.KeepAlive(s)
	var result abi.Owned
	if err := tssResult.Call(abi.The(s.handle), abi.OutBytes(&result), abi.OutLen(&result)); err != nil {
		return nil, err
	}
	return result.Take(s.handle)
}

// WaitingFor returns the parties of which a message is missing in this round; none at the end.
func (s *Session) WaitingFor() ([]int, error) { return s.parties(tssWaitingFor) }

// Suspects returns the parties among which the fault lies, once [Session.Result] returned [tetralith.ErrPeer].
func (s *Session) Suspects() ([]int, error) { return s.parties(tssSuspects) }

func (s *Session) parties(f *abi.Func) ([]int, error) {
	defer runtime.KeepAlive(s)
	var numbers [255]byte
	var count uint64
	if err := f.Call(abi.The(s.handle), abi.Out(numbers[:]), abi.OutSize(&count)); err != nil {
		return nil, err
	}
	parties := make([]int, 0, count)
	for _, number := range numbers[:count] {
		parties = append(parties, int(number))
	}
	return parties, nil
}

// ShareInfo is what is public of a share.
type ShareInfo struct {
	Me, T, N int
	// GroupKey is the public key: 33 bytes of SEC 1 for DKLs23, 32 bytes of RFC 8032 for FROST.
	GroupKey []byte
}

// Info reads what is public of a share.
func Info(scheme Scheme, share []byte) (*ShareInfo, error) {
	size := 33
	if scheme == FROSTEd25519 {
		size = 32
	}
	var numbers [3]byte
	key := make([]byte, size)
	err := tssShareInfo.Call(abi.Int(scheme), abi.In(share), abi.Len(share), abi.Out(numbers[0:1]), abi.Out(numbers[1:2]), abi.Out(numbers[2:3]),
		abi.Out(key), abi.Len(key))
	if err != nil {
		return nil, err
	}
	return &ShareInfo{int(numbers[0]), int(numbers[1]), int(numbers[2]), key}, nil
}

// Verify verifies a DKLs23 signature of 65 bytes for a digest of 32 bytes under a group key of 33 bytes. A FROST
// signature is an Ed25519 signature, for crypto/ed25519.
func Verify(groupKey, digest, signature []byte) error {
	return tssVerify.Call(abi.In(groupKey), abi.Len(groupKey), abi.In(digest), abi.Len(digest), abi.In(signature), abi.Len(signature))
}

// Exchange runs all parties in this process until each has its result, to try a protocol out.
func Exchange(sessions map[int]*Session) (map[int][]byte, error) {
	results := map[int][]byte{}
	for len(results) < len(sessions) {
		moved := false
		for from, session := range sessions {
			messages, err := session.Messages()
			if err != nil {
				return nil, err
			}
			for _, message := range messages {
				moved = true
				for to, other := range sessions {
					if to == from || message.To != 0 && message.To != to {
						continue
					}
					if err := other.Receive(from, message.Bytes); err != nil {
						return nil, err
					}
				}
			}
		}
		for me, session := range sessions {
			result, err := session.Result()
			if err != nil {
				return nil, err
			}
			if result != nil {
				results[me], moved = result, true
			}
		}
		if !moved {
			return nil, &tetralith.Error{Kind: tetralith.ErrPeer, Code: "peers.silent", Message: "a party is missing: no messages are left"}
		}
	}
	return results, nil
}

// small refuses numbers that are not those of parties.
func small(parties ...int) error {
	for _, party := range parties {
		if party < 0 || party > 255 {
			message := fmt.Sprintf("%d is not 1 to 255", party)
			return &tetralith.Error{Kind: tetralith.ErrMalformed, Code: "usage.arguments", Message: message}
		}
	}
	return nil
}

var (
	tssKeygen      = abi.Function("tss_keygen")
	tssSign        = abi.Function("tss_sign")
	tssRefresh     = abi.Function("tss_refresh")
	tssReceive     = abi.Function("tss_receive")
	tssNextMessage = abi.Function("tss_next_message")
	tssResult      = abi.Function("tss_result")
	tssWaitingFor  = abi.Function("tss_waiting_for")
	tssSuspects    = abi.Function("tss_suspects")
	tssFree        = abi.Function("tss_session_free")
	tssShareInfo   = abi.Function("tss_share_info")
	tssVerify      = abi.Function("tss_verify")
)
