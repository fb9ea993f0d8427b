package sqlite

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// conn is one connection with its prepared statements. It is used by one goroutine at a time, so it is opened without SQLite's own
// lock. It speaks to the library itself, past database/sql and its driver: they take a lock, ask for the columns' names and make half a
// dozen allocations at every statement, which was a sixth of the processor time of a message. And no pool can close and reopen a
// connection behind our back.
type conn struct {
	tls   *libc.TLS
	db    uintptr
	stmts map[string]*stmt
}

// stmt is a prepared statement.
type stmt struct {
	c      *conn
	p      uintptr
	params int
	// room is memory of the library's, where the texts and values lie that the statement is given.
	room uintptr
	size int
}

// keepRoom is how much room a statement keeps for its next run.
const keepRoom = 64 << 10

// failure is an error that SQLite reported.
type failure struct {
	code int32 // extended
	text string
}

func (f *failure) Error() string { return fmt.Sprintf("%s (%d)", f.text, f.code) }

// row is one row of an answer. It is good until f of [conn.query] returns.
type row struct{ s *stmt }

func (r row) int(i int) int64     { return lib.Xsqlite3_column_int64(r.s.c.tls, r.s.p, int32(i)) }
func (r row) float(i int) float64 { return lib.Xsqlite3_column_double(r.s.c.tls, r.s.p, int32(i)) }

func (r row) null(i int) bool {
	return lib.Xsqlite3_column_type(r.s.c.tls, r.s.p, int32(i)) == lib.SQLITE_NULL
}

func (r row) text(i int) string {
	p := lib.Xsqlite3_column_text(r.s.c.tls, r.s.p, int32(i))
	return string(memory(p, r.size(i)))
}

// blob is never nil for a value that is not NULL.
func (r row) blob(i int) []byte {
	p := lib.Xsqlite3_column_blob(r.s.c.tls, r.s.p, int32(i))
	return append([]byte{}, memory(p, r.size(i))...)
}

func (r row) size(i int) int { return int(lib.Xsqlite3_column_bytes(r.s.c.tls, r.s.p, int32(i))) }

// columns is how many there are.
func (r row) columns() int { return int(lib.Xsqlite3_column_count(r.s.c.tls, r.s.p)) }

// errStop ends a query early; it does not leave query.
var errStop = errors.New("enough rows")

// dial opens a connection to a file that exists, with its pragmas.
func dial(path string, pragmas ...string) (*conn, error) {
	c := &conn{tls: libc.NewTLS(), stmts: map[string]*stmt{}}
	name, err := libc.CString(path)
	if err != nil {
		c.tls.Close()
		return nil, err
	}
	defer libc.Xfree(c.tls, name)
	out := c.tls.Alloc(8)
	defer c.tls.Free(8)
	clear(memory(out, 8))
	rc := lib.Xsqlite3_open_v2(c.tls, name, out, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_NOMUTEX, 0)
	c.db = pointer(out)
	if rc == lib.SQLITE_OK {
		rc = lib.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	}
	if rc == lib.SQLITE_OK {
		rc = c.stablePlans()
	}
	if rc != lib.SQLITE_OK {
		return nil, errors.Join(c.fail(rc), c.close())
	}
	for _, p := range pragmas {
		if err := c.once("PRAGMA " + p); err != nil {
			return nil, errors.Join(fmt.Errorf("PRAGMA %s: %w", p, err), c.close())
		}
	}
	return c, nil
}

// stablePlans makes plans independent of the values of parameters. Without it SQLite prepares a statement with "LIMIT ?" anew each
// time that the limit is bound.
func (c *conn) stablePlans() int32 {
	args := c.tls.Alloc(16)
	defer c.tls.Free(16)
	return lib.Xsqlite3_db_config(c.tls, c.db, lib.SQLITE_DBCONFIG_ENABLE_QPSG, libc.VaList(args, int32(1), uintptr(0)))
}

// fail is the error of the last call, which returned rc.
func (c *conn) fail(rc int32) error {
	text := libc.GoString(lib.Xsqlite3_errstr(c.tls, rc))
	if c.db == 0 {
		return &failure{rc, text}
	}
	if more := libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db)); more != text {
		text += ": " + more
	}
	return &failure{rc, text}
}

// once runs SQL that is not worth keeping prepared; it may be several statements.
func (c *conn) once(query string) error {
	sql, err := libc.CString(query)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, sql)
	if rc := lib.Xsqlite3_exec(c.tls, c.db, sql, 0, 0, 0); rc != lib.SQLITE_OK {
		return c.fail(rc)
	}
	return nil
}

func (c *conn) prepare(query string) (*stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	sql, err := libc.CString(query)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(c.tls, sql)
	out := c.tls.Alloc(8)
	defer c.tls.Free(8)
	if rc := lib.Xsqlite3_prepare_v3(c.tls, c.db, sql, -1, lib.SQLITE_PREPARE_PERSISTENT, out, 0); rc != lib.SQLITE_OK {
		return nil, c.fail(rc)
	}
	s := &stmt{c: c, p: pointer(out)}
	s.params = int(lib.Xsqlite3_bind_parameter_count(c.tls, s.p))
	c.stmts[query] = s
	return s, nil
}

// bind gives the statement its arguments. Those that it has no place for are not looked at.
func (s *stmt) bind(args []any) error {
	if len(args) < s.params {
		return fmt.Errorf("the statement takes %d arguments and was given %d", s.params, len(args))
	}
	args = args[:s.params]
	need := 0
	for _, a := range args {
		switch v := a.(type) {
		case string:
			need += len(v)
		case []byte:
			need += len(v)
		}
	}
	if err := s.grow(need); err != nil {
		return err
	}
	free, at := memory(s.room, s.size), s.room
	tls := s.c.tls
	for i, a := range args {
		n, rc := int32(i+1), int32(lib.SQLITE_OK)
		switch v := a.(type) {
		case nil:
			rc = lib.Xsqlite3_bind_null(tls, s.p, n)
		case int:
			rc = lib.Xsqlite3_bind_int64(tls, s.p, n, int64(v))
		case int64:
			rc = lib.Xsqlite3_bind_int64(tls, s.p, n, v)
		case float64:
			rc = lib.Xsqlite3_bind_double(tls, s.p, n, v)
		case string:
			rc = lib.Xsqlite3_bind_text(tls, s.p, n, at, int32(len(v)), lib.SQLITE_STATIC)
			free, at = free[copy(free, v):], at+uintptr(len(v))
		case []byte:
			// An empty value is not NULL, which a null pointer would be: there always is some room.
			rc = lib.Xsqlite3_bind_blob(tls, s.p, n, at, int32(len(v)), lib.SQLITE_STATIC)
			free, at = free[copy(free, v):], at+uintptr(len(v))
		default:
			return fmt.Errorf("argument %d is a %T, which no column holds", n, a)
		}
		if rc != lib.SQLITE_OK {
			return s.c.fail(rc)
		}
	}
	return nil
}

// grow makes room for n bytes. The library must not be in the middle of the statement.
func (s *stmt) grow(n int) error {
	if n > math.MaxInt32 {
		return &failure{lib.SQLITE_TOOBIG, fmt.Sprintf("%d bytes are too many for one statement", n)}
	}
	if s.room != 0 && n <= s.size {
		return nil
	}
	s.shrink()
	size := (n + 256) &^ 255
	p := libc.Xmalloc(s.c.tls, libc.Tsize_t(size))
	if p == 0 {
		return &failure{lib.SQLITE_NOMEM, fmt.Sprintf("no memory for %d bytes", size)}
	}
	s.room, s.size = p, size
	return nil
}

func (s *stmt) shrink() {
	if s.room != 0 {
		libc.Xfree(s.c.tls, s.room)
	}
	s.room, s.size = 0, 0
}

// reset ends a run of the statement: it holds no lock and no value of its caller's any more.
func (s *stmt) reset() {
	// It returns the error of the run, which is known already.
	_ = lib.Xsqlite3_reset(s.c.tls, s.p)
	if s.size > keepRoom {
		_ = lib.Xsqlite3_clear_bindings(s.c.tls, s.p)
		s.shrink()
	}
}

// exec runs a statement to its end. Nothing interrupts it: that would fail its neighbours in the group.
func (c *conn) exec(query string, args ...any) error {
	return c.query(query, func(row) error { return nil }, args...)
}

// query calls f for each row. f must not run the same statement.
func (c *conn) query(query string, f func(row) error, args ...any) error {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	if err := s.bind(args); err != nil {
		return err
	}
	defer s.reset()
	for {
		switch rc := lib.Xsqlite3_step(c.tls, s.p); rc {
		case lib.SQLITE_DONE:
			return nil
		case lib.SQLITE_ROW:
		default:
			return c.fail(rc)
		}
		switch err := f(row{s}); {
		case errors.Is(err, errStop):
			return nil
		case err != nil:
			return err
		}
	}
}

// lastID is the number of the row that was inserted last.
func (c *conn) lastID() int64 { return lib.Xsqlite3_last_insert_rowid(c.tls, c.db) }

func (c *conn) close() error {
	for _, s := range c.stmts {
		_ = lib.Xsqlite3_finalize(c.tls, s.p) // it returns the error of the last run
		s.shrink()
	}
	clear(c.stmts)
	var err error
	if rc := lib.Xsqlite3_close_v2(c.tls, c.db); rc != lib.SQLITE_OK {
		err = &failure{rc, "close"}
	}
	c.tls.Close()
	return err
}

// memory is the n bytes of the library's memory at p. They lie outside of Go's heap, so nothing moves or frees them but the library.
func memory(p uintptr, n int) []byte {
	if p == 0 || n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n)
}

// pointer is the pointer that stands at p.
func pointer(p uintptr) uintptr { return **(**uintptr)(unsafe.Pointer(&p)) }
