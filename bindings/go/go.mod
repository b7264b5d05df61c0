module tetralith.example/tetralith

go 1.25.0

require (
	github.com/ebitengine/purego v0.11.3
	github.com/tetratelabs/wazero v1.12.0
	golang.org/x/sys v0.44.0
)
