package abi

// Functions are all that this program may call.
func Functions() []*Func { return functions }

// Name is the function's name in the header.
func (f *Func) Name() string { return f.name }

// Find looks the function up.
func (f *Func) Find() error { return f.find() }

// Carrier names the way to the library.
const Carrier = carrier
