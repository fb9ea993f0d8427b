package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"

	"modernc.org/sqlite"
)

// conn is one connection with its prepared statements. It is used by one goroutine at a time. Going straight to the driver, past
// database/sql, saves locks and conversions at every statement, and no pool can close and reopen it behind our back.
type conn struct {
	dc    driver.Conn
	stmts map[string]*stmt
	args  []driver.NamedValue
}

type stmt struct {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
	row []driver.Value
}

// row is one row of an answer. It is good until the next one.
type row []driver.Value

func (r row) int(i int) int64     { v, _ := r[i].(int64); return v }
func (r row) text(i int) string   { v, _ := r[i].(string); return v }
func (r row) float(i int) float64 { v, _ := r[i].(float64); return v }
func (r row) null(i int) bool     { return r[i] == nil }

// blob is never nil for a value that is not NULL.
func (r row) blob(i int) []byte {
	v, _ := r[i].([]byte)
	if v == nil {
		v = []byte{}
	}
	return v
}

// errStop ends a query early; it does not leave query.
var errStop = errors.New("enough rows")

// dial opens a connection to a file that exists, with its pragmas.
func dial(path string, pragmas ...string) (*conn, error) {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw"}
	dc, err := new(sqlite.Driver).Open(u.String())
	if err != nil {
		return nil, err
	}
	c := &conn{dc: dc, stmts: map[string]*stmt{}}
	for _, p := range pragmas {
		if err := c.once("PRAGMA " + p); err != nil {
			return nil, errors.Join(fmt.Errorf("PRAGMA %s: %w", p, err), c.close())
		}
	}
	return c, nil
}

// once runs SQL that is not worth keeping prepared; it may be several statements.
func (c *conn) once(query string) error {
	_, err := c.dc.(driver.ExecerContext).ExecContext(context.Background(), query, nil)
	return err
}

func (c *conn) prepare(query string) (*stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	ds, err := c.dc.Prepare(query)
	if err != nil {
		return nil, err
	}
	s := &stmt{Stmt: ds, StmtExecContext: ds.(driver.StmtExecContext), StmtQueryContext: ds.(driver.StmtQueryContext)}
	c.stmts[query] = s
	return s, nil
}

func (c *conn) bind(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		switch v := a.(type) {
		case int:
			a = int64(v)
		case []byte:
			// An empty value is not NULL.
			if v == nil {
				a = []byte{}
			}
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// exec runs a statement that gives no rows. The context is the background's on purpose: an interrupt in the middle of a
// group would fail its neighbours.
func (c *conn) exec(query string, args ...any) (driver.Result, error) {
	s, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(context.Background(), c.bind(args))
}

// query calls f for each row.
func (c *conn) query(query string, f func(row) error, args ...any) (err error) {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), c.bind(args))
	if err != nil {
		return err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	if s.row == nil {
		s.row = make([]driver.Value, len(rows.Columns()))
	}
	for {
		switch err := rows.Next(s.row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		switch err := f(row(s.row)); {
		case errors.Is(err, errStop):
			return nil
		case err != nil:
			return err
		}
	}
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.dc.Close())...)
}
