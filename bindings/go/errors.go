package tetralith

import (
	"errors"

	"tetralith.example/tetralith/internal/abi"
)

// The kinds of failure, for [errors.Is]. Each has the meaning of an exit code of the command.
var (
	// ErrNotValid says that a well-formed signature or proof is not valid. Exit code 1.
	ErrNotValid = errors.New("not valid")
	// ErrMalformed says that input is malformed or an argument is wrong. Exit code 2.
	ErrMalformed = errors.New("malformed input")
	// ErrEnvironment says that the machine, the system or a file failed, that a call is not
	// available with this backend, or that the caller stopped the work. Exit code 3.
	ErrEnvironment = errors.New("environment failed")
	// ErrState says that the durable state of a key refuses. Exit code 4.
	ErrState = errors.New("state refused")
	// ErrPeer says that another party failed. Exit code 5.
	ErrPeer = errors.New("peer failed")
	// ErrInternal says that this library is at fault. Please report it.
	ErrInternal = errors.New("internal fault")
)

// Error is a failure. Its Kind is one of the errors above, so that both of
//
//	errors.Is(err, tetralith.ErrMalformed)
//	errors.As(err, &failure) // var failure *tetralith.Error
//
// work.
type Error struct {
	// Kind is ErrNotValid, ErrMalformed, ErrEnvironment, ErrState, ErrPeer or ErrInternal.
	Kind error
	// Code is stable and dotted, such as "input.length": the command prints the same.
	Code string
	// Message says what failed.
	Message string
	// Hint says what to do next; it may be empty.
	Hint string
}

// Error returns the message.
func (e *Error) Error() string { return "tetralith: " + e.Message }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

var kinds = map[int]error{
	abi.NotValid:    ErrNotValid,
	abi.Malformed:   ErrMalformed,
	abi.Argument:    ErrMalformed,
	abi.Environment: ErrEnvironment,
	abi.State:       ErrState,
	abi.Peer:        ErrPeer,
}

var hints = map[string]string{
	"backend.missing":     "run `make go` in Tetralith's repository and use the module that it leaves below target/go",
	"backend.version":     "run `make go` again: the library is from another version of Tetralith",
	"backend.load":        "build with the tag tetralith_wasm where a shared library cannot be loaded",
	"backend.unsupported": "build without the tag tetralith_wasm, on Linux or macOS",
}

func init() {
	abi.Failure = func(status int, code, message string) error {
		kind, ok := kinds[status]
		if !ok {
			kind = ErrInternal
		}
		return &Error{Kind: kind, Code: code, Message: message, Hint: hints[code]}
	}
}
