//go:build !tetralith_wasm && !tetralith_cgo

package abi

import "embed"

//go:embed lib/darwin_amd64
var embedded embed.FS

const embeddedName = "lib/darwin_amd64/libtetralith.dylib"
