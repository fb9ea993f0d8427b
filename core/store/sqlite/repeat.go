package sqlite

import (
	"encoding/json"
	"fmt"

	"herald/core/store"
)

const findRepeat = `SELECT at, answer FROM repeats0 WHERE part = ?1 AND id = ?2 UNION ALL SELECT at, answer FROM repeats1 WHERE part = ?1 AND id = ?2`

// addRepeat and emptyRepeats are by the parity of the slot. An id that is used again after its ten minutes replaces its old answer.
var (
	addRepeat = [2]string{
		`INSERT OR REPLACE INTO repeats0 (part, id, at, answer) VALUES (?, ?, ?, ?)`,
		`INSERT OR REPLACE INTO repeats1 (part, id, at, answer) VALUES (?, ?, ?, ?)`,
	}
	emptyRepeats = [2]string{`DELETE FROM repeats0`, `DELETE FROM repeats1`}
)

// answer is what a repeat needs of a result; the instant stands beside it.
type answer struct {
	Versions []int64        `json:"v,omitempty"`
	Seqs     []int64        `json:"s,omitempty"`
	Taken    []*store.Claim `json:"t,omitempty"`
}

// repeat gives the first answer to a commit that was applied within the last ten minutes.
func (t *tx) repeat(p *part, id string, now int64) (res store.Result, ok bool, err error) {
	at, text := int64(0), ""
	err = t.query(findRepeat, func(r row) error {
		if r.int(0) >= at {
			at, text, ok = r.int(0), r.text(1), true
		}
		return nil
	}, p.id, id)
	if err != nil || !ok || now-at >= repeatMillis {
		return store.Result{}, false, err
	}
	var a answer
	if text != "" {
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return store.Result{}, false, fmt.Errorf("the answer of commit %s cannot be read (%w): %w", id, err, store.ErrCorrupt)
		}
	}
	return store.Result{Now: instant(at), Versions: a.Versions, Seqs: a.Seqs, Taken: a.Taken, Repeated: true}, true, nil
}

// remember keeps the answer of a commit.
func (t *tx) remember(p *part, id string, res store.Result) error {
	text := ""
	if len(res.Versions)+len(res.Seqs)+len(res.Taken) > 0 {
		b, err := json.Marshal(answer{res.Versions, res.Seqs, res.Taken})
		if err != nil {
			t.broken = err
			return err
		}
		text = string(b)
	}
	err := t.exec(addRepeat[t.w.slot%2], p.id, id, res.Now.UnixMilli(), text)
	return err
}
