package abi_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "tetralith.example/tetralith"
	"tetralith.example/tetralith/internal/abi"
	_ "tetralith.example/tetralith/tss"
	_ "tetralith.example/tetralith/vdf"
	_ "tetralith.example/tetralith/vrf"
	_ "tetralith.example/tetralith/xmss"
)

// header returns the C interface's functions with their arguments.
func header(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "c", "include", "tetralith.h"))
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string][]string{}
	declaration := regexp.MustCompile(`(?s)\n[a-z][a-z0-9_ ]*[ *](tetralith_[a-z0-9_]+)\(([^)]*)\);`)
	for _, found := range declaration.FindAllStringSubmatch(string(text), -1) {
		arguments := strings.Split(strings.Join(strings.Fields(found[2]), " "), ", ")
		if arguments[0] == "void" {
			arguments = nil
		}
		functions[found[1]] = arguments
	}
	return functions
}

// The module for wazero has neither files nor threshold sessions.
var nativeOnly = regexp.MustCompile(`^tetralith_(tss_|xmss_(key|sign|signer)(_|$)|vdf_(open|seal|sealed|forget|\w+_resumable)(_|$))`)

// What the packages call is in the header, and can be called with words.
func TestFunctionsAreInTheHeader(t *testing.T) {
	declared := header(t)
	if len(declared) < 20 {
		t.Fatalf("%d functions found in the header", len(declared))
	}
	for _, f := range abi.Functions() {
		if _, ok := declared[f.Name()]; !ok {
			t.Errorf("%s is not in the header", f.Name())
		}
	}
	for _, f := range abi.Functions() {
		err := f.Find()
		if missing := abi.Carrier == "wasm" && nativeOnly.MatchString(f.Name()); missing != (err != nil) {
			t.Errorf("%s: %v", f.Name(), err)
		}
	}
	for name, arguments := range declared {
		for i, argument := range arguments {
			if i >= 8 && strings.HasPrefix(argument, "int32_t ") || strings.HasPrefix(argument, "uint32_t ") && i >= 8 {
				t.Errorf("%s: argument %d shares a stack slot on macOS: %s", name, i, argument)
			}
		}
		if len(arguments) > 15 {
			t.Errorf("%s has %d arguments", name, len(arguments))
		}
	}
}

// Each call in the sources passes as many words as the function has arguments.
func TestCallsHaveTheHeadersArguments(t *testing.T) {
	declared := header(t)
	variables := regexp.MustCompile(`(\w+) += abi\.Function\("(\w+)"\)`)
	files, err := filepath.Glob(filepath.Join("..", "..", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	compat, _ := filepath.Glob(filepath.Join("..", "..", "compat", "*", "*.go"))
	sources := map[string]string{}
	for _, file := range append(files, compat...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[filepath.Dir(file)] += string(text)
	}
	calls := 0
	for folder, source := range sources {
		for _, variable := range variables.FindAllStringSubmatch(source, -1) {
			name := "tetralith_" + variable[2]
			use := regexp.MustCompile(`\b` + variable[1] + `(\.Call\(|\.Get\(|, )(abi\.)`)
			for _, at := range use.FindAllStringSubmatchIndex(source, -1) {
				calls++
				if words := count(source[at[4]:]); words != len(declared[name]) {
					t.Errorf("%s: %s is called with %d words, expected %d: %s", folder, name, words, len(declared[name]), declared[name])
				}
			}
		}
	}
	if calls < 15 {
		t.Errorf("%d calls found", calls)
	}
}

// count returns the number of arguments up to the closing parenthesis.
func count(source string) int {
	depth, words := 0, 1
	for _, c := range source {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth < 0 {
				return words
			}
		case ',':
			if depth == 0 {
				words++
			}
		}
	}
	return words
}
