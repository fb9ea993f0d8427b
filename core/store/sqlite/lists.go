package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"

	"herald/core/store"
)

const (
	listParts = `SELECT at, name FROM partitions WHERE bucket = ?1 AND (at, name) > (?2, ?3) ORDER BY at, name LIMIT ?4`
	// The age decides first, so the index gives the newest; only letters of one millisecond are sorted by name.
	listLetters = `SELECT p.name, l.id, l.at, l.note FROM letters l JOIN partitions p ON p.id = l.part ORDER BY l.at DESC, p.name, l.id LIMIT ?`
)

// Partitions lists the partitions of a bucket by last write.
func (s *Store) Partitions(ctx context.Context, bucket int, after store.Stamp, limit int) ([]store.Stamp, error) {
	if bucket < 0 || bucket >= store.Buckets {
		return nil, fmt.Errorf("list partitions: there is no bucket %d: %w", bucket, store.ErrInvalid)
	}
	at := int64(-1 << 62)
	if !after.At.IsZero() {
		at = after.At.UnixMilli()
	}
	var out []store.Stamp
	err := s.withReader(ctx, "list partitions", func(c *conn) error {
		return c.query(listParts, func(r row) error {
			out = append(out, store.Stamp{At: instant(r.int(0)), Partition: store.Partition(r.text(1))})
			return nil
		}, bucket, at, string(after.Partition), limitOf(limit))
	})
	s.stats.trips.Add(1)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// highestInstant is the greatest instant of any commit, found by one look at the end of each bucket's index.
func highestInstant(c *conn) (highest int64, err error) {
	for b := range store.Buckets {
		if err := c.query(maxPart, func(r row) error { highest = max(highest, r.int(0)); return nil }, b); err != nil {
			return 0, err
		}
	}
	return highest, nil
}

// DeadLetters lists the dead letters, newest first.
func (s *Store) DeadLetters(ctx context.Context, limit int) ([]store.Letter, error) {
	var out []store.Letter
	err := s.withReader(ctx, "list dead letters", func(c *conn) error {
		return c.query(listLetters, func(r row) error {
			out = append(out, store.Letter{Partition: store.Partition(r.text(0)), ID: r.text(1), At: instant(r.int(2)), Note: r.blob(3)})
			return nil
		}, limitOf(limit))
	})
	s.stats.trips.Add(1)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Dump writes every row of every table, one a line with values as they are. Tests search it for what must not be kept.
func (s *Store) Dump(ctx context.Context, w io.Writer) error {
	return s.withReader(ctx, "dump", func(c *conn) error {
		return snapshot(c, func() error {
			var tables []string
			err := c.query(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`, func(r row) error {
				tables = append(tables, r.text(0))
				return nil
			})
			if err != nil {
				return err
			}
			for _, table := range tables {
				err := c.query(`SELECT * FROM `+table, func(r row) error {
					line := table
					for i := range r.columns() {
						line += " " + r.text(i)
					}
					_, err := fmt.Fprintln(w, line)
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// Backup writes a copy of the store, as it stands at one instant, to a file that must not exist yet. Commits go on meanwhile.
func (s *Store) Backup(ctx context.Context, path string) error {
	return s.withReader(ctx, "backup to "+path, func(*conn) error {
		// The reading connections refuse all that writes, be it elsewhere.
		c, err := dial(s.o.Path, "busy_timeout = 5000", "temp_store = MEMORY")
		if err != nil {
			return err
		}
		err = c.exec(`VACUUM INTO ?`, path)
		return errors.Join(err, c.close())
	})
}
