package sqlite

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"herald/core/store"
)

// migration takes a store from the format before it to its own.
type migration struct {
	format int
	sql    string
}

// migrations lead from nothing to the present format, one after the other. One that was released is never changed.
func migrations() []migration { return []migration{{1, schema1}} }

// appID stands in the file's header and says whose it is ("HRLD").
const appID = 0x48524c44

// In schema1 every table is its own primary key's tree, so that what is read together stands together. "part" is partitions.id.
const schema1 = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE partitions (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, bucket INTEGER NOT NULL, at INTEGER NOT NULL, revision INTEGER NOT NULL);
CREATE INDEX partitions_written ON partitions (bucket, at, name);

CREATE TABLE docs (part INTEGER, collection TEXT, name TEXT, version INTEGER NOT NULL, born INTEGER NOT NULL, value BLOB NOT NULL,
	PRIMARY KEY (part, collection, name)) WITHOUT ROWID;

CREATE TABLE entries (part INTEGER, log TEXT, seq INTEGER, id TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, data BLOB,
	PRIMARY KEY (part, log, seq)) WITHOUT ROWID;
-- floors has the last sequence of each log that was trimmed to nothing.
CREATE TABLE floors (part INTEGER, log TEXT, seq INTEGER NOT NULL, PRIMARY KEY (part, log)) WITHOUT ROWID;

CREATE TABLE scores (part INTEGER, name TEXT, member TEXT, score REAL NOT NULL, PRIMARY KEY (part, name, member)) WITHOUT ROWID;
CREATE INDEX scores_order ON scores (part, name, score, member);

-- due is NULL for a held member that nobody woke; attempts counts claims in a row without a release, the present one included.
CREATE TABLE agenda (agenda TEXT, member TEXT, bucket INTEGER NOT NULL, held INTEGER NOT NULL, due INTEGER, attempts INTEGER NOT NULL,
	PRIMARY KEY (agenda, member)) WITHOUT ROWID;
CREATE INDEX agenda_due ON agenda (held, agenda, due, member, bucket, attempts);

CREATE TABLE letters (part INTEGER, id TEXT, at INTEGER NOT NULL, note BLOB NOT NULL, PRIMARY KEY (part, id)) WITHOUT ROWID;
CREATE INDEX letters_age ON letters (at);

-- The answers of commits, for repeats. The two tables take turns, ten minutes each; the older one is emptied as a whole.
CREATE TABLE repeats0 (part INTEGER, id TEXT, at INTEGER NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (part, id)) WITHOUT ROWID;
CREATE TABLE repeats1 (part INTEGER, id TEXT, at INTEGER NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (part, id)) WITHOUT ROWID;
`

// Keys of meta.
const (
	metaFormat  = "format"
	metaID      = "id"
	metaBuckets = "buckets"
	metaTokens  = "tokens"
	metaRepeats = "repeats"
	metaProbe   = "probe"
)

const (
	getMeta = `SELECT value FROM meta WHERE key = ?`
	setMeta = `INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`
)

// readMeta gives the value of key, "" when it is absent.
func (c *conn) readMeta(key string) (string, error) {
	value := ""
	err := c.query(getMeta, func(r row) error { value = r.text(0); return nil }, key)
	return value, err
}

// touch makes the folder and an empty file when there is none and o asks for it.
func touch(o Options) error {
	if _, err := os.Stat(o.Path); err == nil {
		return nil
	} else if !os.IsNotExist(err) {
		return troubleAt(o.Path, "looking for the file", err)
	}
	if !o.Create {
		return missing(o.Path)
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return troubleAt(o.Path, "making the folder", err)
	}
	// SQLite gives its side files the rights of this one.
	f, err := os.OpenFile(o.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return troubleAt(o.Path, "making the file", err)
	}
	return f.Close()
}

func missing(path string) error {
	return fmt.Errorf("open the SQLite store %s: there is none; make it with “herald store create” or correct store.url: %w", path, store.ErrMissing)
}

// prepareFormat makes the schema in an empty file, or brings an older format to the present one, in one transaction. It gives the store's id and format.
func prepareFormat(c *conn, o Options, steps []migration) (id string, format int, err error) {
	tables, known := int64(0), false
	err = c.query(`SELECT count(*), max(name = 'meta') FROM sqlite_master`, func(r row) error {
		tables, known = r.int(0), r.int(1) == 1
		return nil
	})
	if err != nil {
		return "", 0, err
	}
	latest := steps[len(steps)-1].format
	switch {
	case tables == 0 && !o.Create:
		return "", 0, missing(o.Path)
	case tables > 0 && !known:
		return "", 0, fmt.Errorf("open the SQLite store %s: it is the database of another program; correct store.url: %w", o.Path, store.ErrCorrupt)
	case tables > 0:
		var text string
		if text, err = c.readMeta(metaFormat); err != nil {
			return "", 0, err
		}
		if id, err = c.readMeta(metaID); err != nil {
			return "", 0, err
		}
		if format, err = strconv.Atoi(text); err != nil || id == "" || format < 1 {
			return "", 0, fmt.Errorf("open the SQLite store %s: its format is %q and its id %q; restore a backup: %w", o.Path, text, id, store.ErrCorrupt)
		}
		if text, err = c.readMeta(metaBuckets); err != nil {
			return "", 0, err
		}
		if text != strconv.Itoa(store.Buckets) && format <= latest {
			return "", 0, fmt.Errorf("open the SQLite store %s: it has %q buckets, not %d; restore a backup: %w", o.Path, text, store.Buckets, store.ErrCorrupt)
		}
	}
	if format > latest {
		return "", 0, fmt.Errorf("open the SQLite store %s: it has format %d, and this Herald knows up to %d; run the newer Herald again, or restore a backup from before: %w",
			o.Path, format, latest, store.ErrNewer)
	}
	if format == latest {
		return id, format, nil
	}
	if err := c.once("BEGIN IMMEDIATE"); err != nil {
		return "", 0, err
	}
	if id, err = migrate(c, id, format, steps); err != nil {
		_ = c.once("ROLLBACK")
		return "", 0, err
	}
	return id, latest, c.once("COMMIT")
}

func migrate(c *conn, id string, format int, steps []migration) (string, error) {
	for _, m := range steps {
		if m.format <= format {
			continue
		}
		if err := c.once(m.sql); err != nil {
			return "", fmt.Errorf("migration to format %d: %w", m.format, err)
		}
		if err := c.exec(setMeta, metaFormat, strconv.Itoa(m.format)); err != nil {
			return "", err
		}
	}
	if id != "" {
		return id, nil
	}
	id = rand.Text()
	for k, v := range map[string]string{metaID: id, metaBuckets: strconv.Itoa(store.Buckets), metaTokens: "0", metaRepeats: "0"} {
		if err := c.exec(setMeta, k, v); err != nil {
			return "", err
		}
	}
	return id, c.once(fmt.Sprintf("PRAGMA application_id = %d", appID))
}
