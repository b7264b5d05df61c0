module tetralith.example/tetralith/compat/aidos

go 1.25.0

require (
	github.com/vmihailenco/msgpack v4.0.4+incompatible
	golang.org/x/sys v0.44.0
	tetralith.example/tetralith v0.1.0
)

require (
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/golang/protobuf v1.5.2 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	google.golang.org/appengine v1.6.8 // indirect
	google.golang.org/protobuf v1.26.0 // indirect
	gopkg.in/check.v1 v1.0.0-20201130134442-10cb98267c6c // indirect
)

replace tetralith.example/tetralith => ../..
