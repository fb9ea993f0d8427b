package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herald/core/model"
)

// The reader for plain entries must agree with encoding/json wherever it gives an answer at all.
func FuzzDecodePlain(f *testing.F) {
	for _, s := range append(plainEntries(), oddEntries()...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var fast, slow Event
		if !decodePlain(data, &fast) {
			return
		}
		if err := json.Unmarshal(data, &slow); err != nil {
			t.Fatalf("%q was read, and encoding/json refuses it: %v", data, err)
		}
		if d := cmp.Diff(slow, fast); d != "" {
			t.Errorf("%q (-encoding/json +plain)\n%s", data, d)
		}
	})
}

func plainEntries() []string {
	return []string{
		`{"v":1,"kind":"user","id":"u","user":{"turn":"t","message_id":"m","order":"0","person":"p","name":"ann","text":"hi"}}`,
		`{"v":1,"kind":"user","id":"u","user":{"turn":"t","message_id":"m","order":"0","person":"p","text":"a\nb \u003cnote\u003e \"q\" \\ é 漢 😀"}}`,
		`{"v":1,"kind":"model","id":"m","frame":"root","model":{"text":"yes","finish":"stop","usage":{"input":12,"cached":3,"output":4},"model":"big"}}`,
		`{"v":1,"kind":"answered","id":"a","answered":{"turn":"t","delivery":"d","covers":[{"message_id":"m","order":"0","person":"p"},{"message_id":"n","order":"1"}]}}`,
		`{"v":1,"kind":"opened","id":"o","open":{"session":"s","agent":"main","person":"p"}}`,
		`{"v":1,"kind":"model","id":"m","model":{"calls":[{"id":"c","name":"look","arguments":{"a":["}",{"b":1.5e3}]},"read_only":true},{"id":"d","name":"x","arguments":{},"repeatable":true,"delegates":false}],"finish":"calls","usage":{"input":1},"model":"big"}}`,
		`{"v":1,"kind":"call_started","id":"b","frame":"root","call":{"ids":["c","d"],"again":true}}`,
		`{"v":1,"kind":"call_finished","id":"r","frame":"root","result":{"call":"c","status":"done","text":"it \"is\" so"}}`,
		`{"v":1,"kind":"frame_pushed","id":"f","frame":"root","push":{"frame":"f1","agent":"helper","call":"c","prompt":"do it"}}`,
		`{"v":1,"kind":"frame_popped","id":"g","frame":"f1","pop":{"status":"done","text":"done"}}`,
		`{"v":1,"kind":"wait_ended","id":"w","outcome":{"wait":"w1","result":"approved","by":"p","text":"ok","message_id":"m","order":"7"}}`,
		`{"v":1,"kind":"gated","id":"h","gate":{"call":"c","tool":"look","answer":"allow","rule":"seed"}}`,
	}
}

// oddEntries are left to encoding/json, whether it takes them or not.
func oddEntries() []string {
	return []string{
		``, `{`, `null`, `{}`, `[]`, `{"v":01}`, `{"v":-1}`, `{"v":1.5}`, `{"v":1e2}`, `{"v":9999999999999999}`, `{"v":"1"}`, `{"v":1} `, `{ "v":1}`, `{"v":1,}`,
		`{"V":1}`, `{"\u0076":1}`, `{"v":1,"extra":true}`, `{"v":1,"user":null}`, `{"v":1,"user":{"images":[]}}`, "{\"id\":\"a\nb\"}", "{\"id\":\"\xff\"}", `{"id":"\x"}`, `{"id":"a`,
		`{"user":{"text":"a"},"user":{"name":"b"}}`, `{"model":{"calls":[]}}`, `{"model":{"calls":[{"arguments":null}]}}`, `{"model":{"calls":[{"arguments":[]}]}}`, `{"model":{"calls":[{"arguments":{"a":1]}}]}}`,
		`{"model":{"calls":[{"arguments":{"a" 1}}]}}`, `{"model":{"calls":[{"arguments":`, `{"model":{"calls":[{"extra":{}}]}}`, `{"call":{"ids":[]}}`, `{"call":{"ids":["a"],"ids":["b"]}}`, `{"call":{"again":tru}}`,
		`{"result":{"groups":["a"]}}`, `{"gate":{},"gate":{}}`, `{"pop":null}`, `{"model":{"calls":[{"arguments":` + strings.Repeat(`{"a":`, 70) + `1` + strings.Repeat("}", 70) + `}]}}`, `{"model":{"cost":1}}`, `{"answered":{"covers":[]}}`, `{"answered":{"covers":[{"order":"1"}],"covers":[{}]}}`,
	}
}

func TestDecodePlain(t *testing.T) {
	t.Parallel()
	for _, s := range plainEntries() {
		if !decodePlain([]byte(s), new(Event)) {
			t.Errorf("%s was left to encoding/json", s)
		}
	}
	for _, s := range oddEntries() {
		if decodePlain([]byte(s), new(Event)) {
			t.Errorf("%q was taken for a plain entry", s)
		}
	}
}

// What a plain turn writes is read without encoding/json, whatever people say, and comes back as it was.
func TestDecodePlainTakesWhatEncodeWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		e := Event{V: EventVersion, ID: text.Draw(t, "id"), Frame: rapid.SampledFrom([]string{"", "root"}).Draw(t, "frame")}
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			e.Kind, e.User = UserSaid, &Said{Turn: "t", MessageID: text.Draw(t, "message"), Order: "1", Person: "p", Name: text.Draw(t, "name"), Text: text.Draw(t, "text")}
		case 1:
			e.Kind, e.Model = ModelAnswered, &Answer{Text: text.Draw(t, "text"), Finish: model.FinishStop, Model: "m", Usage: model.Usage{Input: rapid.IntRange(0, 1<<40).Draw(t, "input")}}
		default:
			e.Kind, e.Answered = TurnAnswered, &Answered{Turn: "t", Delivery: "d", Covers: []Cover{{MessageID: text.Draw(t, "message"), Order: "1", Person: "p"}}}
		}
		data, err := Encode(e, EventVersion)
		if err != nil {
			t.Fatal(err)
		}
		var got, want Event
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if !decodePlain(data, &got) {
			t.Fatalf("%s was left to encoding/json", data)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-encoding/json +plain)\n%s", d)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	data := []byte(strings.Replace(plainEntries()[0], `"hi"`, `"`+strings.Repeat("Could you look at this? ", 10)+`"`, 1))
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !decodePlain(data, new(Event)) {
				b.Fatal("it is not plain")
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := json.Unmarshal(data, new(Event)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
