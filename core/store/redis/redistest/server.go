package redistest

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// Options of a server. The zero value keeps an append-only file that is synced every second, as a production server should.
type Options struct {
	// AOF is "everysec" (the default), "always", or "none" for no append-only file.
	AOF string
	// MaxMemory bounds the server's memory, as "8mb"; "" does not.
	MaxMemory string
	// Password that clients must give; "" for none.
	Password string
	// TLS makes the server speak TLS alone, with a certificate that Server.CA trusts.
	TLS bool
	// Dir is where the server keeps its files; "" makes a temporary folder that Close removes.
	Dir string
	// Args are further settings, as "--maxmemory-policy", "allkeys-lru".
	Args []string
}

// Server is a redis-server process. Its methods are not for concurrent use, except Addr and URL.
type Server struct {
	opt     Options
	path    string
	dir     string
	ownDir  bool
	port    int
	busPort int // 0: not part of a cluster
	ca      *x509.CertPool
	proc    *process
}

// Find is the path of the redis-server program, or an error that says what to install.
func Find() (string, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", errors.New("redis-server is not installed: run 'make test', which installs it, or 'apt-get install redis-server' on Debian and Ubuntu, " +
			"'brew install redis' on macOS")
	}
	return path, nil
}

// Run starts a server for a test and stops it at its end.
func Run(t testing.TB, opt Options) *Server {
	t.Helper()
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	s, err := Start(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Start starts a server and waits until it takes commands. Close must follow.
func Start(ctx context.Context, opt Options) (*Server, error) {
	s, err := prepare(opt, false)
	if err != nil {
		return nil, err
	}
	if err := s.first(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func prepare(opt Options, cluster bool) (*Server, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	s := &Server{opt: opt, path: path, dir: opt.Dir}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "redistest"); err != nil {
			return nil, err
		}
		s.ownDir = true
	}
	if cluster {
		s.busPort = 1
	}
	if opt.TLS {
		if s.ca, err = certify(s.dir); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// first starts the server on ports that are free. Another process may take one in between; then it tries others.
func (s *Server) first(ctx context.Context) error {
	var err error
	for range 5 {
		if s.port, err = freePort(); err != nil {
			return err
		}
		if s.busPort != 0 {
			if s.busPort, err = freePort(); err != nil {
				return err
			}
		}
		if err = s.Restart(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// freePort picks a port below those that the kernel gives to outgoing connections: a server that is killed must find its port free when it is
// started again.
func freePort() (int, error) {
	var last error
	for range 100 {
		port := 15000 + rand.IntN(17000)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, l.Close()
		}
		last = err
	}
	return 0, last
}

// Addr is host:port of the server; it stays the same over restarts.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL is that of a store on the server, without the password.
func (s *Server) URL() string {
	if s.opt.TLS {
		return "rediss://" + s.Addr()
	}
	return "redis://" + s.Addr()
}

// CA is what trusts the server's certificate, nil without TLS.
func (s *Server) CA() *x509.CertPool { return s.ca }

// Client gives a client for looking into the server and for changing its settings. The caller closes it.
func (s *Server) Client() *goredis.Client {
	opt := &goredis.Options{Addr: s.Addr(), Password: s.opt.Password, Protocol: 2, MaxRetries: -1}
	if s.opt.TLS {
		opt.TLSConfig = &tls.Config{RootCAs: s.ca, MinVersion: tls.VersionTLS12}
	}
	return goredis.NewClient(opt)
}

// Do runs one command on the server.
func (s *Server) Do(ctx context.Context, args ...any) (any, error) {
	c := s.Client()
	defer c.Close()
	return c.Do(ctx, args...).Result()
}

// Restart starts the server when it is not running, with what its files hold, and waits until it takes commands.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Launch(); err != nil {
		return err
	}
	return s.Ready(ctx)
}

// Launch starts the server without waiting: it may still be loading.
func (s *Server) Launch() error {
	p, err := start(s.path, s.args(), "Ready to accept connections")
	if err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	s.proc = p
	return nil
}

// Ready waits until the server has loaded its files and takes commands.
func (s *Server) Ready(ctx context.Context) error {
	select {
	case <-s.proc.ready:
		return nil
	case <-s.proc.ended:
		return fmt.Errorf("redis-server on %s ended: %s", s.Addr(), s.proc.tail())
	case <-ctx.Done():
		return fmt.Errorf("redis-server on %s is not ready: %w: %s", s.Addr(), ctx.Err(), s.proc.tail())
	}
}

func (s *Server) args() []string {
	port := "--port"
	if s.opt.TLS {
		port = "--tls-port"
	}
	args := []string{
		"--port", "0", port, strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--daemonize", "no", "--logfile", "",
		"--enable-debug-command", "local", "--appendonly", "no",
		"--repl-diskless-sync-delay", "0",
	}
	if s.opt.AOF != "none" {
		sync := s.opt.AOF
		if sync == "" {
			sync = "everysec"
		}
		args = append(args, "--appendonly", "yes", "--appendfsync", sync)
	}
	if s.opt.MaxMemory != "" {
		args = append(args, "--maxmemory", s.opt.MaxMemory, "--maxmemory-policy", "noeviction")
	}
	if s.opt.Password != "" {
		args = append(args, "--requirepass", s.opt.Password, "--masterauth", s.opt.Password)
	}
	if s.busPort != 0 {
		args = append(args, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(s.busPort), "--cluster-node-timeout", "2000",
			"--cluster-config-file", "nodes.conf")
	}
	if s.opt.TLS {
		args = append(args, "--tls-auth-clients", "no", "--tls-ca-cert-file", filepath.Join(s.dir, "cert.pem"),
			"--tls-cert-file", filepath.Join(s.dir, "cert.pem"), "--tls-key-file", filepath.Join(s.dir, "key.pem"))
	}
	return append(args, s.opt.Args...)
}

// Written waits until all that the server has acknowledged stands in its append-only file. With everysec Redis puts the writing off while an
// earlier sync is under way, for up to two seconds, and what was put off dies with the process.
func (s *Server) Written(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		info, err := s.Do(ctx, "info", "persistence")
		if err != nil {
			return err
		}
		if strings.Contains(info.(string), "aof_buffer_length:0\r") {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the append-only file lags: %w", ctx.Err())
		}
	}
}

// Kill ends the server as a crash does, and waits until it is gone. Its files stay; see Written for what they hold.
func (s *Server) Kill() { s.signal(syscall.SIGKILL); s.wait() }

// Quit ends the server in its own way, and waits until it is gone.
func (s *Server) Quit() { s.signal(syscall.SIGTERM); s.wait() }

// Stop freezes the server: connections stay open and nothing is answered. Cont lets it go on.
func (s *Server) Stop() { s.signal(syscall.SIGSTOP) }

// Cont lets a frozen server go on.
func (s *Server) Cont() { s.signal(syscall.SIGCONT) }

// Wipe kills the server and starts it again without any of its data.
func (s *Server) Wipe(ctx context.Context) error {
	s.Kill()
	names, err := filepath.Glob(filepath.Join(s.dir, "*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if base := filepath.Base(name); base == "nodes.conf" || strings.HasSuffix(base, ".pem") {
			continue // who it is
		}
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	return s.Restart(ctx)
}

// Dir is the folder with the server's files.
func (s *Server) Dir() string { return s.dir }

// PID is the process id of the server, 0 when it is not running.
func (s *Server) PID() int {
	if s.proc == nil {
		return 0
	}
	return s.proc.cmd.Process.Pid
}

// Close kills the server and removes the folder that Start made.
func (s *Server) Close() error {
	s.Kill()
	if s.ownDir {
		return os.RemoveAll(s.dir)
	}
	return nil
}

func (s *Server) signal(sig syscall.Signal) {
	if s.proc != nil {
		_ = s.proc.cmd.Process.Signal(sig) // one that has ended needs none
	}
}

func (s *Server) wait() {
	if s.proc != nil {
		<-s.proc.ended
		s.proc = nil
	}
}

// process is one life of a server.
type process struct {
	cmd          *exec.Cmd
	says         string // what its log says when it is ready
	ready, ended chan struct{}

	mu    sync.Mutex
	lines []string
}

// start runs the program. One goroutine owns it: it starts it, reads what it says and waits for its end, on one thread, because the kernel ends
// the server when the thread that started it does.
func start(path string, args []string, says string) (*process, error) {
	p := &process{cmd: exec.Command(path, args...), says: says, ready: make(chan struct{}), ended: make(chan struct{})}
	dieWithParent(p.cmd)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.cmd.Stdout
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.listen(out)
		_ = p.cmd.Wait() // a killed server is what tests want
		close(p.ended)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// listen reads the server's log until it ends.
func (p *process) listen(out io.Reader) {
	said := false
	for sc := bufio.NewScanner(out); sc.Scan(); {
		line := sc.Text()
		p.mu.Lock()
		if p.lines = append(p.lines, line); len(p.lines) > 20 {
			p.lines = p.lines[1:]
		}
		p.mu.Unlock()
		if !said && strings.Contains(line, p.says) {
			said = true
			close(p.ready)
		}
	}
}

// tail is the end of the server's log.
func (p *process) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines[max(0, len(p.lines)-5):], " | ")
}
