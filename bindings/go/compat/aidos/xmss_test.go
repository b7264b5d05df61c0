package xmss_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack"
	"tetralith.example/tetralith"
	xmss "tetralith.example/tetralith/compat/aidos"
	"tetralith.example/tetralith/internal/vectors"
)

// TestMain gives the tests a folder of their own. As a child it signs and tells what happened.
func TestMain(m *testing.M) {
	if message := os.Getenv("XMSS_TEST_SIGN"); message != "" {
		_, err := xmss.NewMerkle(4, seed()).TrySign([]byte(message))
		fmt.Print(err)
		os.Exit(0)
	}
	folder, err := os.MkdirTemp("", "xmss")
	if err != nil {
		panic(err)
	}
	os.Setenv("TETRALITH_AIDOS_STATE", filepath.Join(folder, "new", "folder"))
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// fresh gives a test a state of its own.
func fresh(t *testing.T) string {
	folder := t.TempDir()
	t.Setenv("TETRALITH_AIDOS_STATE", folder)
	return folder
}

func seed() []byte {
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = byte(i)
	}
	return seed
}

// The vectors were made with AidosKuneen/xmss.
func TestSameKeysSignaturesAndJSON(t *testing.T) {
	fresh(t)
	key := xmss.NewMerkle(10, seed())
	if public := hex.EncodeToString(key.PublicKey()); public != strings.TrimSpace(vectors.Text(t, "xmss/aidos/public.hex")) {
		t.Errorf("public key %s", public)
	}
	for _, leaf := range []uint64{0, 5, 100, 700, 1023, 1024} {
		if err := key.SetLeafNo(leaf); err != nil {
			t.Fatal(err)
		}
		theirs := vectors.Text(t, fmt.Sprintf("xmss/aidos/key-%d.json", leaf))
		ours, err := json.Marshal(key)
		if err != nil || string(ours) != theirs {
			t.Errorf("leaf %d: %v\n%s\nexpected\n%s", leaf, err, ours, theirs)
		}
		var read xmss.Merkle
		if err := json.Unmarshal([]byte(theirs), &read); err != nil {
			t.Fatal(err)
		}
		if read.LeafNo() != leaf || !bytes.Equal(read.PublicKey(), key.PublicKey()) {
			t.Error(leaf, read.LeafNo())
		}
		if again, err := json.Marshal(&read); err != nil || string(again) != theirs {
			t.Errorf("leaf %d: the JSON read is written differently: %v", leaf, err)
		}
		if leaf == 0 || leaf == 700 {
			for _, key := range []*xmss.Merkle{&read, key} {
				signature := key.Sign([]byte("tetralith"))
				if !bytes.Equal(signature, vectors.Hex(t, vectors.Text(t, fmt.Sprintf("xmss/aidos/sig-%d.hex", leaf)))) {
					t.Errorf("leaf %d: another signature", leaf)
				}
				if index, err := xmss.IndexFromSig(signature); err != nil || uint64(index) != leaf || key.LeafNo() != leaf+1 {
					t.Error(index, err)
				}
			}
		}
	}
}

func refused(t *testing.T, err error, code string) {
	t.Helper()
	var failure *tetralith.Error
	if !errors.As(err, &failure) || failure.Kind != tetralith.ErrState || failure.Code != code || failure.Hint == "" {
		t.Errorf("%v, expected state refused with the code %s", err, code)
	}
}

func TestNoIndexSignsTwoMessages(t *testing.T) {
	fresh(t)
	key := xmss.NewMerkle(4, seed())
	saved, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	first := key.Sign([]byte("one"))
	// The program starts again from its seed, or from an old copy.
	var copied xmss.Merkle
	if err := json.Unmarshal(saved, &copied); err != nil {
		t.Fatal(err)
	}
	for name, again := range map[string]*xmss.Merkle{"seed": xmss.NewMerkle(4, seed()), "copy": &copied} {
		_, err := again.TrySign([]byte("two"))
		refused(t, err, "state.used")
		if again.LeafNo() != 0 {
			t.Error(name, "a refusal used an index")
		}
		if signature, err := again.TrySign([]byte("one")); err != nil || !bytes.Equal(signature, first) {
			t.Error(name, "the same message:", err)
		}
	}
	func() {
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, tetralith.ErrState) {
				t.Error("Sign did not panic with the refusal:", err)
			}
		}()
		xmss.NewMerkle(4, seed()).Sign([]byte("two"))
	}()
	// Another process, which has read nothing yet.
	for message, expected := range map[string]string{"one": "<nil>", "two": "signed another message"} {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "XMSS_TEST_SIGN="+message)
		output, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(output), expected) {
			t.Errorf("a child that signs %q says %s %v", message, output, err)
		}
	}
	// A seed of other signatures: only SK_PRF differs, and with it the digest that would be signed.
	var parts map[string]any
	if err := json.Unmarshal(saved, &parts); err != nil {
		t.Fatal(err)
	}
	parts["Priv"].(map[string]any)["MsgSeed"] = make([]byte, 32)
	spoiled, _ := json.Marshal(parts)
	var other xmss.Merkle
	if err := json.Unmarshal(spoiled, &other); err != nil {
		t.Fatal(err)
	}
	_, err = other.TrySign([]byte("one"))
	refused(t, err, "state.used")
}

func TestAKeyFromElsewhereRefusesWhatItMayHaveUsed(t *testing.T) {
	fresh(t)
	key := xmss.NewMerkle(4, seed())
	if err := key.SetLeafNo(9); err != nil {
		t.Fatal(err)
	}
	key.Sign([]byte("m"))
	_, err := xmss.NewMerkle(4, seed()).TrySign([]byte("m"))
	refused(t, err, "state.used")
}

func TestTheRecordIsNotLost(t *testing.T) {
	folder := fresh(t)
	key := xmss.NewMerkle(4, seed())
	for i := range 3 {
		key.Sign([]byte{byte(i)})
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.used"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	const header, entry = 64, 48
	if len(whole) != header+4*entry {
		t.Fatalf("%d bytes", len(whole))
	}
	for name, c := range map[string]struct {
		bytes []byte
		code  string
	}{
		"an entry cut off by a crash": {append(whole[:len(whole):len(whole)], make([]byte, 17)...), ""},
		"a last entry of zeros":       {append(whole[:len(whole):len(whole)], make([]byte, entry)...), ""},
		"a damaged entry":             {flip(whole, header+entry+3), "state.corrupt"},
		"a damaged digest":            {flip(whole, header+2*entry+20), "state.corrupt"},
		"a damaged floor":             {flip(whole, header+3), "state.corrupt"},
		"another key's":               {flip(whole, 40), "state.corrupt"},
		"another format":              {flip(whole, 0), "state.corrupt"},
	} {
		folder := fresh(t)
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(files[0])), c.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		key := xmss.NewMerkle(4, seed())
		_, err := key.TrySign([]byte("other"))
		if c.code != "" {
			refused(t, err, c.code)
			continue
		}
		refused(t, err, "state.used")
		if err := key.SetLeafNo(3); err != nil {
			t.Fatal(err)
		}
		if _, err := key.TrySign([]byte("three")); err != nil {
			t.Error(name, err)
		}
		again := xmss.NewMerkle(4, seed())
		if err := again.SetLeafNo(3); err != nil {
			t.Fatal(err)
		}
		_, err = again.TrySign([]byte("another three"))
		refused(t, err, "state.used")
	}
	// While a process has it open.
	t.Setenv("TETRALITH_AIDOS_STATE", folder)
	if err := os.Truncate(files[0], header+2*entry); err != nil {
		t.Fatal(err)
	}
	_, err = key.TrySign([]byte("m"))
	refused(t, err, "state.replaced")
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	_, err = key.TrySign([]byte("m"))
	refused(t, err, "state.replaced")
}

func flip(bytes []byte, at int) []byte {
	bytes = append([]byte(nil), bytes...)
	bytes[at] ^= 1
	return bytes
}

func TestNoSignatureWithoutARecord(t *testing.T) {
	t.Setenv("TETRALITH_AIDOS_STATE", "/proc/no such folder")
	key := xmss.NewMerkle(4, seed())
	var failure *tetralith.Error
	if _, err := key.TrySign([]byte("m")); !errors.As(err, &failure) || failure.Kind != tetralith.ErrEnvironment || failure.Hint == "" {
		t.Error(err)
	}
	if key.LeafNo() != 0 {
		t.Error("an index is used")
	}
}

func TestEveryIndexOnce(t *testing.T) {
	fresh(t)
	key := xmss.NewMerkle(3, []byte("a seed of any length"))
	for i := range 8 {
		message := []byte{byte(i)}
		if signature := key.Sign(message); !xmss.Verify(signature, message, key.PublicKey()) {
			t.Error(i)
		}
	}
	_, err := key.TrySign(nil)
	refused(t, err, "state.exhausted")
	if signature := key.Sign(nil); signature != nil || key.LeafNo() != 8 {
		t.Error("an exhausted key signs")
	}
	if err := key.SetLeafNo(2); !errors.Is(err, tetralith.ErrState) {
		t.Error("an index is set back:", err)
	}
	key.Traverse()
	if key.LeafNo() != 8 {
		t.Error(key.LeafNo())
	}
}

func TestVerification(t *testing.T) {
	fresh(t)
	message := []byte("message")
	for height := byte(1); height <= 6; height++ {
		key := xmss.NewMerkle(height, seed())
		public, signature := key.PublicKey(), key.Sign(message)
		if !xmss.Verify(signature, message, public) {
			t.Error("height", height)
		}
		for name, valid := range map[string]bool{
			"another message": xmss.Verify(signature, []byte("Message"), public),
			"no message":      xmss.Verify(signature, nil, public),
			"no signature":    xmss.Verify(nil, message, public),
			"no key":          xmss.Verify(signature, message, nil),
			"cut":             xmss.Verify(signature[:len(signature)-1], message, public),
			"longer":          xmss.Verify(append(signature[:len(signature):len(signature)], 0), message, public),
			"a longer key":    xmss.Verify(signature, message, append(public[:65:65], 0)),
			"another height":  xmss.Verify(signature, message, append([]byte{height + 1}, public[1:]...)),
			"height 0":        xmss.Verify(signature, message, append([]byte{0}, public[1:]...)),
			"height 255":      xmss.Verify(signature, message, append([]byte{255}, public[1:]...)),
			"another bit":     xmss.Verify(flip(signature, 40), message, public),
		} {
			if valid {
				t.Errorf("height %d: %s is valid", height, name)
			}
		}
		pk, err := xmss.DeserializePK(public)
		if err != nil || pk.Height != height || !bytes.Equal(pk.Serialize(), public) {
			t.Error(pk, err)
		}
	}
}

func TestHypertrees(t *testing.T) {
	fresh(t)
	message := []byte("message")
	for _, shape := range [][2]uint32{{20, 4}, {60, 12}} {
		key, err := xmss.NewPrivKeyMT(seed(), shape[0], shape[1])
		if err != nil {
			t.Fatal(err)
		}
		public := key.PublicKey()
		for range 2 {
			saved, err := json.Marshal(key)
			if err != nil {
				t.Fatal(err)
			}
			packed, err := msgpack.Marshal(key)
			if err != nil {
				t.Fatal(err)
			}
			var read, unpacked xmss.PrivKeyMT
			if err := json.Unmarshal(saved, &read); err != nil {
				t.Fatal(err)
			}
			if err := msgpack.Unmarshal(packed, &unpacked); err != nil {
				t.Fatal(err)
			}
			signature := key.Sign(message)
			if !xmss.VerifyMT(signature, message, public) || xmss.VerifyMT(signature, nil, public) ||
				xmss.VerifyMT(signature[:len(signature)-1], message, public) || xmss.VerifyMT(signature, message, public[:64]) ||
				xmss.VerifyMT(flip(signature, 0), message, public) {
				t.Error(shape)
			}
			for _, copied := range []*xmss.PrivKeyMT{&read, &unpacked} {
				if _, err := copied.TrySign([]byte("another")); !errors.Is(err, tetralith.ErrState) {
					t.Error(err)
				}
				if again := copied.Sign(message); !bytes.Equal(again, signature) {
					t.Error(shape, "another signature from a copy")
				}
			}
		}
		if err := key.SetLeafNo(3); err == nil {
			t.Error("an index above the next")
		}
		if err := key.SetLeafNo(1); err != nil || key.LeafNo() != 1 {
			t.Error(err)
		}
		if _, err := key.TrySign([]byte("another")); !errors.Is(err, tetralith.ErrState) {
			t.Error(err)
		}
	}
	for _, shape := range [][2]uint32{{0, 1}, {20, 0}, {20, 3}, {30, 3}, {40, 1}, {80, 8}, {60, 20}} {
		if _, err := xmss.NewPrivKeyMT(seed(), shape[0], shape[1]); !errors.Is(err, tetralith.ErrMalformed) {
			t.Error(shape, err)
		}
	}
	for b := range 256 {
		xmss.VerifyMT(make([]byte, 9000), nil, append([]byte{byte(b)}, make([]byte, 64)...))
	}
}

func TestMalformedKeys(t *testing.T) {
	good := vectors.Text(t, "xmss/aidos/key-5.json")
	for _, change := range [][2]string{
		{"{", ""}, {"\"Leaf\":5", "\"Leaf\":-5"}, {"\"Leaf\":5", "\"Leaf\":1025"}, {"\"Height\":10,\"Auth\"", "\"Height\":0,\"Auth\""},
		{"\"Height\":10,\"Auth\"", "\"Height\":16,\"Auth\""}, {"\"Height\":10,\"Auth\"", "\"Height\":4000000000,\"Auth\""},
		{"\"Priv\"", "\"Pri\""}, {"\"Root\":\"/", "\"Root\":\""}, {"\"Root\":\"/WDA", "\"Root\":\"/WDA/WDA"},
		{"\"Auth\":[", "\"Auth\":[null,"}, {"\"Stacks\"", "\"Stax\""},
	} {
		var key xmss.Merkle
		err := json.Unmarshal([]byte(strings.Replace(good, change[0], change[1], 1)), &key)
		if err == nil {
			t.Errorf("%v is accepted", change)
		} else if strings.Contains(err.Error(), "WDA") {
			t.Error("the error quotes the key:", err)
		}
	}
	// The seeds are those of another root.
	var key xmss.Merkle
	if err := json.Unmarshal([]byte(strings.Replace(good, "\"Root\":\"/W", "\"Root\":\"/X", 1)), &key); err != nil {
		t.Fatal(err)
	}
	if _, err := key.TrySign(nil); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error(err)
	}
	var empty xmss.Merkle
	if _, err := empty.TrySign(nil); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error(err)
	}
	if _, err := empty.MarshalJSON(); !errors.Is(err, tetralith.ErrMalformed) {
		t.Error(err)
	}
	for _, packed := range [][]byte{nil, {0x81}, {0xdf, 0xff, 0xff, 0xff, 0xff}, []byte("text"), {0x80}} {
		if err := msgpack.Unmarshal(packed, &xmss.Merkle{}); err == nil {
			t.Errorf("msgpack %x is accepted", packed)
		}
		if err := msgpack.Unmarshal(packed, &xmss.PrivKeyMT{}); err == nil {
			t.Errorf("msgpack %x is accepted", packed)
		}
	}
	for _, height := range []byte{0, 21, 255} {
		if _, err := xmss.OpenMerkle(height, seed()); !errors.Is(err, tetralith.ErrMalformed) {
			t.Error(height, err)
		}
	}
}

func Example() {
	seed := []byte("keep it secret, and use it once!")
	key := xmss.NewMerkle(5, seed)
	message := []byte("This is a test for XMSS.")
	signature := key.Sign(message)
	fmt.Println(xmss.Verify(signature, message, key.PublicKey()))

	saved, err := json.Marshal(key)
	if err != nil {
		panic(err)
	}
	var loaded xmss.Merkle
	if err := json.Unmarshal(saved, &loaded); err != nil {
		panic(err)
	}
	fmt.Println(loaded.LeafNo())

	// Starting again from the seed would use index 0 for two messages.
	_, err = xmss.NewMerkle(5, seed).TrySign([]byte("another message"))
	fmt.Println(errors.Is(err, tetralith.ErrState))
	// Output:
	// true
	// 1
	// true
}
