//go:build !tetralith_wasm && !tetralith_cgo

package abi

import "embed"

//go:embed lib/linux_arm64
var embedded embed.FS

const embeddedName = "lib/linux_arm64/libtetralith.so"
