// Package vectors reads the repository's known answers for tests.
package vectors

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Path returns the path of a file of vectors/. It looks for the folder beside this module's ancestors.
func Path(t testing.TB, name string) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		path := filepath.Join(folder, "vectors", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if parent := filepath.Dir(folder); parent != folder {
			folder = parent
			continue
		}
		t.Fatalf("vectors/%s is not in any folder above this one", name)
	}
}

// Text reads a file.
func Text(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// JSON reads a file of JSON.
func JSON(t testing.TB, name string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(Text(t, name)), to); err != nil {
		t.Fatal(err)
	}
}

// Fields reads a file of names and hexadecimal values, separated by separator.
func Fields(t testing.TB, name, separator string) map[string]string {
	t.Helper()
	fields := map[string]string{}
	for line := range strings.Lines(Text(t, name)) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), separator); found {
			fields[name] = strings.TrimSpace(value)
		}
	}
	return fields
}

// Hex decodes hexadecimal digits; "empty" is none.
func Hex(t testing.TB, text string) []byte {
	t.Helper()
	bytes, err := hex.DecodeString(strings.TrimSpace(strings.Replace(text, "empty", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}
