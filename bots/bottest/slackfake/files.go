package slackfake

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// Upload is a file that a person puts to a message.
type Upload struct {
	Name string
	// Mime is found from the name when empty, for the commonest kinds.
	Mime string
	Data []byte
	// Access is Slack's file_access; empty means visible. "check_file_info" is what events hold of files of Slack Connect.
	Access string
	// Service, when set, keeps the file elsewhere, and Slack only links to it. At replaces the address of its bytes. Redirect is where that address
	// sends on to.
	Service, At, Redirect string
}

type file struct {
	id, name, mime, user, access string
	service, at, redirect        string
	team                         string
	size                         int
	data                         []byte
	uploaded, complete, deleted  bool
	created                      time.Time
	channels                     []string
	shares                       map[string]string // channel → ts
	in                           *install
}

var mimes = map[string]string{
	".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".json": "application/json", ".pdf": "application/pdf", ".png": "image/png",
	".jpg": "image/jpeg", ".gif": "image/gif", ".go": "text/plain", ".py": "text/x-python-script", ".zip": "application/zip",
}

func mimeOf(name string) string {
	return cmp.Or(mimes[strings.ToLower(path.Ext(name))], "application/octet-stream")
}

// upload makes a file of a person's. s.mu is held.
func (s *Server) upload(u Upload, user string) *file {
	f := &file{
		id: s.nextID("F"), name: u.Name, mime: cmp.Or(u.Mime, mimeOf(u.Name)), user: user, access: u.Access, service: u.Service, at: u.At, redirect: u.Redirect, size: len(u.Data), data: u.Data, uploaded: true,
		complete: true, created: s.now(), shares: map[string]string{},
	}
	if o := s.users[user]; o != nil {
		f.team = o.Team
	}
	s.files[f.id] = f
	return f
}

func (f *file) shared(channel string) { f.channels = append(f.channels, channel) }

func (s *Server) wireFile(f *file) object {
	if f.access == "check_file_info" {
		return object{"id": f.id, "mode": "file_access", "file_access": "check_file_info", "created": 0, "timestamp": 0}
	}
	if f.deleted {
		return object{"id": f.id, "mode": "tombstone"}
	}
	return s.fullFile(f)
}

func (s *Server) fullFile(f *file) object {
	at := cmp.Or(f.at, s.url+"/files/"+f.id+"/"+url.PathEscape(f.name))
	mode, external, access := "hosted", false, cmp.Or(f.access, "visible")
	if f.service != "" {
		mode, external = "external", true
	}
	if access == "check_file_info" {
		access = "visible" // who asks is told
	}
	public, private := object{}, object{}
	for id, ts := range f.shares {
		share := []any{object{"ts": ts, "channel_name": s.channels[id].Name, "team_id": s.channels[id].Team}}
		if s.channels[id].kind() == "channel" {
			public[id] = share
		} else {
			private[id] = share
		}
	}
	return object{
		"id": f.id, "name": f.name, "title": f.name, "mimetype": f.mime, "filetype": strings.TrimPrefix(path.Ext(f.name), "."), "user": f.user,
		"user_team": f.team, "size": f.size, "mode": mode, "created": f.created.Unix(), "timestamp": f.created.Unix(), "is_external": external,
		"external_type": f.service, "file_access": access, "url_private": at, "url_private_download": at + "?download=1", "channels": append([]string{}, f.channels...),
		"shares": object{"public": public, "private": private},
	}
}

func (s *Server) uploadURL(c *call) (reply, *refusal) {
	size := c.number("length", -1)
	switch {
	case c.args["filename"] == "":
		return nil, refuse("invalid_arguments", "[ERROR] missing required field: filename")
	case size <= 0:
		return nil, refuse("invalid_arguments", "[ERROR] length must be greater than 0")
	}
	f := &file{
		id: s.nextID("F"), name: path.Base(c.args["filename"]), mime: mimeOf(c.args["filename"]), user: c.in.BotUser, team: c.in.Team, size: size,
		created: s.now(), shares: map[string]string{}, in: c.in,
	}
	s.files[f.id] = f
	return reply{"upload_url": s.url + "/upload/" + f.id, "file_id": f.id}, nil
}

func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	data, err := readUpload(w, r)
	s.mu.Lock()
	f := s.files[r.PathValue("id")]
	s.note(Record{Kind: Called, Method: UploadMethod, Event: r.PathValue("id")})
	fault := s.takeFault(UploadMethod, "")
	if fault != nil {
		s.counts.Faulted++
		s.note(Record{Kind: Faulted, Method: UploadMethod, Code: string(fault.Kind)})
	}
	status, word := http.StatusOK, ""
	switch {
	case fault != nil && !fault.Kind.applies():
	case f == nil || f.uploaded:
		status, word = http.StatusNotFound, "no such upload"
	case err != nil:
		status, word = http.StatusBadRequest, err.Error()
	case len(data) != f.size:
		status, word = http.StatusBadRequest, fmt.Sprintf("the upload has %d bytes where %d were announced", len(data), f.size)
	default:
		f.data, f.uploaded = data, true
		word = "OK - " + strconv.Itoa(len(data))
	}
	s.mu.Unlock()
	if fault != nil {
		s.fail(w, r, fault)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(word))
}

// readUpload takes the bytes of an upload: the body, or the first file of a form.
func readUpload(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return io.ReadAll(r.Body)
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, err
	}
	for {
		p, err := parts.NextPart()
		if err != nil {
			return nil, err
		}
		if p.FileName() != "" {
			return io.ReadAll(p)
		}
	}
}

func (s *Server) completeUpload(c *call) (reply, *refusal) {
	var wanted []struct{ ID, Title string }
	if given, ok := c.json("files", &wanted); !given || !ok || len(wanted) == 0 {
		return nil, refuse("invalid_arguments", "[ERROR] missing required field: files")
	}
	var ch *channel
	if id := cmp.Or(c.args["channel_id"], c.args["channels"]); id != "" {
		var no *refusal
		if ch, no = s.target(c, id, true); no != nil {
			return nil, no
		}
		if no := ch.threadOf(c.args["thread_ts"]); no != nil {
			return nil, no
		}
	}
	var files []*file
	for _, w := range wanted {
		f := s.files[w.ID]
		if f == nil || f.in != c.in || f.complete || !f.uploaded {
			return nil, refuse("file_not_found")
		}
		files = append(files, f)
	}
	out, ids := []any{}, []string{}
	for _, f := range files {
		f.complete = true
		ids = append(ids, f.id)
		out = append(out, s.wireFile(f))
	}
	if ch != nil && !s.loseShares {
		m := &Message{Thread: c.args["thread_ts"], Text: c.args["initial_comment"], Subtype: "file_share", Files: ids}
		late := *c
		s.after(s.opt.ShareDelay, func() { s.share(&late, ch, m, files) })
	}
	return reply{"files": out}, nil
}

// share is the message of an upload, which comes some time after the call. s.mu is held.
func (s *Server) share(c *call, ch *channel, m *Message, files []*file) {
	s.sent(c, ch, m)
	for _, f := range files {
		f.shared(ch.ID)
		f.shares[ch.ID] = m.TS
		s.note(Record{Kind: Shared, App: c.app.ID, Team: c.in.Team, Channel: ch.ID, Thread: m.Thread, TS: m.TS, Event: f.id, Text: f.name})
	}
}

// LoseShares makes uploads that were completed never appear, until it is called with false.
func (s *Server) LoseShares(lose bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loseShares = lose
}

// DeleteFile is a person's deletion of a file: its message stays with a tombstone.
func (s *Server) DeleteFile(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[id]; f != nil {
		f.deleted = true
	}
}

// File are the bytes of a file, nil when there is none.
func (v View) File(id string) []byte {
	if f := v.s.files[id]; f != nil {
		return f.data
	}
	return nil
}

func (s *Server) fileInfo(c *call) (reply, *refusal) {
	f := s.files[c.args["file"]]
	switch {
	case f == nil || !f.complete:
		return nil, refuse("file_not_found")
	case f.deleted:
		return nil, refuse("file_deleted")
	}
	return reply{"file": s.fullFile(f)}, nil
}

func (s *Server) fileDelete(c *call) (reply, *refusal) {
	f := s.files[c.args["file"]]
	if f == nil || f.in != c.in {
		return nil, refuse("file_not_found")
	}
	f.deleted = true
	return nil, nil
}

// serveFile gives a file's bytes to who has a token that may read them; others get the login page, status 200, as Slack does it.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	in, f := s.tokens[token], s.files[r.PathValue("id")]
	ok := in != nil && in.dead == "" && in.has("files:read")
	gone := f == nil || f.deleted || !f.uploaded
	s.note(Record{Kind: Called, Method: DownloadMethod, Event: r.PathValue("id")})
	fault := s.takeFault(DownloadMethod, "")
	if fault != nil {
		s.counts.Faulted++
		s.note(Record{Kind: Faulted, Method: DownloadMethod, Code: string(fault.Kind)})
	}
	s.mu.Unlock()
	switch {
	case fault != nil:
		s.fail(w, r, fault)
	case ok && !gone && f.redirect != "":
		http.Redirect(w, r, f.redirect, http.StatusFound)
	case !ok:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!DOCTYPE html><html><head><title>Sign in | Slack</title></head></html>"))
	case gone:
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", f.mime)
		_, _ = w.Write(f.data)
	}
}
