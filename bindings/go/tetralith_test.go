package tetralith_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tetralith.example/tetralith"
	"tetralith.example/tetralith/vrf"
)

func TestBackend(t *testing.T) {
	backend := regexp.MustCompile(`^(native|cgo|wasm) \((avx512|avx2|shani|armsha|armsha512|simd128|portable)\)$`)
	if found := tetralith.Backend(); !backend.MatchString(found) {
		t.Errorf("backend %q", found)
	} else {
		t.Log(found)
	}
}

func TestErrors(t *testing.T) {
	_, err := vrf.Verify(vrf.Draft03Cardano, nil, nil, nil)
	var failure *tetralith.Error
	if !errors.As(err, &failure) || failure.Code == "" || !strings.HasPrefix(err.Error(), "tetralith: ") {
		t.Fatal(err)
	}
	for _, kind := range []error{tetralith.ErrNotValid, tetralith.ErrEnvironment, tetralith.ErrState, tetralith.ErrPeer, tetralith.ErrInternal} {
		if errors.Is(err, kind) {
			t.Errorf("%v is also %v", err, kind)
		}
	}
}

// The README's programs are complete and print what their last comments say.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?s)```go\n(package main.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(programs) == 0 {
		t.Fatal("no program in the README")
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	requirements := strings.Replace(string(mod), "module tetralith.example/tetralith\n",
		"module example\n\nrequire tetralith.example/tetralith v0.0.0\n\nreplace tetralith.example/tetralith => "+here+"\n", 1)
	for i, program := range programs {
		if strings.HasPrefix(tetralith.Backend(), "wasm") && strings.Contains(program[1], "CreateKey") {
			continue // this backend does not sign
		}
		folder := t.TempDir()
		for name, content := range map[string][]byte{"main.go": []byte(program[1]), "go.mod": []byte(requirements), "go.sum": sum} {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		command := exec.Command("go", "run", "-mod=mod", ".")
		command.Dir = folder
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("program %d: %v\n%s", i, err, output)
		}
		expected := ""
		for line := range strings.Lines(program[1]) {
			if comment, found := strings.CutPrefix(strings.TrimSpace(line), "// Output: "); found {
				expected += comment + "\n"
			}
		}
		if expected == "" || string(output) != expected {
			t.Errorf("program %d prints\n%s\nexpected\n%s", i, output, expected)
		}
	}
}
