package proto_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"herald/bots/console/proto"

	"github.com/google/go-cmp/cmp"
)

// TestPathsNameTheirPlace: whatever a place is called, a server reads the same name from the path.
func TestPathsNameTheirPlace(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"terminal", "with blank", "a/b", "../up", "ä?x=1#y", "100%"} {
		for part, path := range map[string]string{
			"lines": proto.LinesPath(place), "clicks": proto.ClicksPath(place), "stream": proto.StreamPath(place, 7, false),
			"history": proto.HistoryPath(place, 5), "facts": proto.FactsPath(place, "m&1"),
		} {
			var got, query string
			mux := http.NewServeMux()
			mux.HandleFunc(proto.Prefix+"{place}/"+part, func(_ http.ResponseWriter, r *http.Request) {
				got, query = r.PathValue("place"), r.FormValue("after")+r.FormValue("limit")+r.FormValue("message")
			})
			mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://x"+path, nil))
			if want := map[string]string{"stream": "7", "history": "5", "facts": "m&1"}[part]; got != place || query != want {
				t.Errorf("%s of %q is read as %q with %q, want %q", part, place, got, query, want)
			}
		}
	}
}

// TestRecordIsOneLine: a stream is cut at line ends, so no text may bring its own.
func TestRecordIsOneLine(t *testing.T) {
	t.Parallel()
	want := proto.Record{Seq: 3, Kind: proto.Post, ID: "1", At: time.Unix(5, 0).UTC(), Text: "two\nlines\r\u2028", Card: &proto.Card{Title: "a\nb"}}
	line, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range line {
		if (b == '\n') != (i == len(line)-1) {
			t.Fatalf("byte %d of %q", i, line)
		}
	}
	var got proto.Record
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}
