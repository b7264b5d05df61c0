# make run   build in release mode and run the demonstration
# make test  run every test
# Both install what they need themselves where it is missing, and say what they do.

CARGO := cargo
export CARGO_TERM_COLOR ?= auto

.PHONY: help run test lint docs test-slow fuzz bench miri deny clean

help:
	@sed -n '1,3s/^# //p' Makefile
	@echo 'also: python, js, try, engines, go, java, install-c, deb, archive, image, sbom, book, lint, cross, test-slow, fuzz, bench, miri, deny, clean'

tools: ; @sh .ci/tools
test-tools: tools ; @sh .ci/test-tools
.PHONY: tools test-tools

run: tools
	@echo '== building in release mode (some minutes the first time)'
	$(CARGO) build --locked --release -p tetralith
	target/release/tetralith demo

test: test-tools lint
	@echo '== every test'
	$(CARGO) test --locked --workspace
	@CARGO='$(CARGO)' sh .ci/cross

# The kernels for other instruction sets: aarch64 in qemu, WebAssembly in node.
cross: test-tools ; @CARGO='$(CARGO)' sh .ci/cross
.PHONY: cross

lint: tools
	@echo '== formatting, lints and documentation'
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --workspace --no-deps --quiet

test-slow: test-tools
	@echo '== every test with the long cases'
	TETRALITH_SLOW=1 $(CARGO) test --locked --release --workspace

# The wheel, below target/wheels, and the README's examples with it in a fresh environment.
.PHONY: python
python: test-tools
	sh bindings/python/wheel

# The Go module below target/go, tested with each backend and tried in a fresh environment.
.PHONY: go
go: test-tools
	sh bindings/go/module

# The Go module beside what Go programs use without it, in one run, with the libraries that `make go` left.
.PHONY: bench-go
bench-go: go
	cd bindings/go/bench && $$(sh ../../../.ci/go) test -bench . | sed '/BENCH/d'

# The jar and its pom, below target/java, tried in a fresh environment on Java 17 and 25.
.PHONY: java java-memory java-speed
java: test-tools
	sh bindings/java/package

# Memory over 10^6 calls by each route, and what a call costs, both with the jar of `make java`.
java-memory: ; CALLS=1000000 sh bindings/java/test target/java
java-speed: ; sh bindings/java/speed target/java

# The Python examples on Ray, Spark, DuckDB, Polars and pandas, ROWS rows each, and the notebook.
ROWS ?= 1000000
.PHONY: engines
engines: python
	$(CARGO) build --locked --release -p tetralith
	ROWS=$(ROWS) sh bindings/python/examples/run

# The npm package, below target/npm, and its tests with it in a fresh folder, beside npm's qrllib.
.PHONY: js
js: test-tools
	CARGO='$(CARGO)' sh bindings/js/pack

# The page to try it, with the modules of `make js` inside: one file, which needs no server.
.PHONY: try
try: js
	@mkdir -p target/try
	node docs/try/bundle.mjs target/npm/package target/try/index.html
	@echo '== open target/try/index.html in a browser'

# The C library below PREFIX, or below DESTDIR for a package.
.PHONY: install-c
install-c: tools
	$(CARGO) build --locked --release -p tetralith-c
	sh bindings/c/install

# Files that people install, below target/dist: a Debian package, an archive with one static program, a
# container's image, a list of what is inside (CycloneDX).
.PHONY: deb archive image sbom
deb archive image sbom: tools
	@CARGO='$(CARGO)' sh packaging/release $@

# The pages of docs as a book, below target/book.
.PHONY: book
book: tools
	mdbook --version >/dev/null 2>&1 || $(CARGO) install --locked mdbook@0.5.4
	mdbook build docs

bench: tools
	$(CARGO) build --locked --release -p tetralith
	target/release/tetralith bench all

# Ours beside the peers, in one run: ratios on the terminal, figures and a plot below bench/results.
BENCH_SECONDS ?= 1
HEIGHTS ?= 10,16
.PHONY: bench-xmss bench-vdf bench-vrf
bench-xmss bench-vdf bench-vrf: tools
	$(CARGO) build --locked --release -p tetralith
	CARGO='$(CARGO)' sh bench/peers/build $(@:bench-%=%)
	bench/peers/target/release/tetralith-peers compare $(@:bench-%=%) --results bench/results \
	  --date $$(date -u +%Y-%m-%d) --seconds $(BENCH_SECONDS) --heights $(HEIGHTS)

# Each fuzz target for FUZZ_SECONDS, or those of FUZZ_TARGETS: executions, edges and crashes of each. Needs
# the nightly toolchain, which is installed if missing. FUZZ_KEEP=1 adds to the corpora of fuzz/corpus.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?=
fuzz: tools
	@sh .ci/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

miri: tools
	rustup toolchain install nightly --profile minimal --component miri,rust-src
	$(CARGO) +nightly miri test -p tetralith-kernels

deny: tools
	$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-deny
	$(CARGO) deny --all-features check licenses bans sources

clean:
	$(CARGO) clean
