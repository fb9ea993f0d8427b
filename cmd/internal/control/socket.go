package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrNotRunning: no service listens on the socket.
var ErrNotRunning = errors.New("no service runs here")

// ErrInUse: another service listens on the socket.
var ErrInUse = errors.New("another service runs here")

// dialWait bounds the connection to a socket of this machine.
const dialWait = 2 * time.Second

// maxPath is the longest path of a socket that all systems take.
const maxPath = 103

// maxAnswer bounds an answer that is read whole.
const maxAnswer = 4 << 20

// Listen makes the socket at path, with its folder when that is missing. What a service that died left there is replaced. A
// service that answers is left alone: [ErrInUse]. The caller closes the listener, which removes the socket.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("control socket %s: the path is too long for a socket (%d bytes, at most %d); set socket to a shorter one", path, len(path), maxPath)
	}
	if c, err := dial(ctx, path); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("control socket %s: %w; stop it, or set socket (or data_dir) to another path for this one", path, ErrInUse)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("control socket %s: its folder cannot be made: %w", path, err)
	}
	// It is made in a folder of its own, which nobody else can enter, and moved when its rights are set: at no instant can
	// another account connect.
	private, err := privateFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("control socket %s: this account cannot write in its folder; give it the right, or set socket to another path: %w", path, err)
	}
	defer os.RemoveAll(private)
	born := filepath.Join(private, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: born, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(born, 0o600), os.Rename(born, path)); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	return &listener{l, path, info}, nil
}

// privateFolder makes a folder for this account alone, with a name so short that a socket in it fits where the one in dir fits.
func privateFolder(dir string) (string, error) {
	for i := 0; ; i++ {
		path := filepath.Join(dir, fmt.Sprintf(".h%04x", rand.N(1<<16)))
		err := os.Mkdir(path, 0o700)
		if err == nil || i == 20 || !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}

// listener removes its socket at the end, and no other one that took its place.
type listener struct {
	*net.UnixListener
	path string
	made fs.FileInfo
}

func (l *listener) Close() error {
	if now, err := os.Stat(l.path); err == nil && os.SameFile(now, l.made) {
		_ = os.Remove(l.path)
	}
	return l.UnixListener.Close()
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialWait}
	return d.DialContext(ctx, "unix", path)
}

// Client talks to the service that listens on a socket.
type Client struct {
	path string
	http *http.Client
}

// NewClient makes a client for the socket at path. It does no I/O.
func NewClient(path string) *Client {
	t := &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, path) },
		MaxIdleConns:    2,
		IdleConnTimeout: time.Minute,
	}
	return &Client{path: path, http: &http.Client{Transport: t}}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Dial connects to the socket: for clients that speak HTTP on their own. Errors as for Get.
func (c *Client) Dial(ctx context.Context) (net.Conn, error) {
	conn, err := dial(ctx, c.path)
	if err != nil {
		return nil, c.trouble(err)
	}
	return conn, nil
}

// Get asks for route and reads the JSON answer into answer. Errors: [ErrNotRunning]; what the service answered, as text.
func (c *Client) Get(ctx context.Context, route string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://herald"+route, nil)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return c.trouble(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("the service at %s broke off its answer to %s: %w", c.path, route, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the service at %s answered to %s: %s %s", c.path, route, res.Status, strings.TrimSpace(string(body[:min(len(body), 500)])))
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("the service at %s answered to %s with something else than expected (another version of Herald?): %w", c.path, route, err)
	}
	return nil
}

// trouble says what a failed connection means.
func (c *Client) trouble(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTSOCK), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("control socket %s: %w", c.path, ErrNotRunning)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("control socket %s: it belongs to another account; run the command as the account that runs the service: %w", c.path, err)
	default:
		return fmt.Errorf("control socket %s: %w", c.path, err)
	}
}
