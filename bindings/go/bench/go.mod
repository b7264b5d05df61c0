module tetralith.example/tetralith/bench

go 1.25.0

require (
	github.com/bwesterb/go-xmssmt v1.5.2
	tetralith.example/tetralith v0.1.0
	tetralith.example/tetralith/compat/aidos v0.1.0
)

require (
	github.com/bwesterb/byteswriter v1.0.0 // indirect
	github.com/cespare/xxhash v1.1.0 // indirect
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/edsrzf/mmap-go v1.1.0 // indirect
	github.com/golang/protobuf v1.5.2 // indirect
	github.com/hashicorp/errwrap v1.1.0 // indirect
	github.com/hashicorp/go-multierror v1.1.1 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/nightlyone/lockfile v1.0.0 // indirect
	github.com/templexxx/cpu v0.0.9 // indirect
	github.com/templexxx/xorsimd v0.4.1 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	github.com/vmihailenco/msgpack v4.0.4+incompatible // indirect
	golang.org/x/crypto v0.0.0-20220518034528-6f7dac969898 // indirect
	golang.org/x/sys v0.44.0 // indirect
	google.golang.org/appengine v1.6.8 // indirect
	google.golang.org/protobuf v1.26.0 // indirect
)

replace tetralith.example/tetralith => ..

replace tetralith.example/tetralith/compat/aidos => ../compat/aidos
