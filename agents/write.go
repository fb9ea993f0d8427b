package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// New writes an agent that can be filled in, as a folder of its own, and returns the path of its file. It refuses an id that another agent
// has in any layout, also once sanitised, and also when that one is broken or built-in.
func (r *Registry) New(id string, t Type, description string) (string, error) {
	if err := CheckID(id); err != nil {
		return "", err
	}
	if r.opts.Dir == "" {
		return "", errors.New("there is no folder for agents of your own; set agents.dir")
	}
	s := r.Now()
	taken := func(other, where string) error {
		if other != "" && Sanitize(other) == Sanitize(id) {
			return fmt.Errorf("the id %q is taken by %s (%s); choose another one", id, other, where)
		}
		return nil
	}
	for _, a := range s.sorted {
		if err := taken(a.ID, a.Source); err != nil {
			return "", err
		}
	}
	for _, p := range s.problems {
		if err := taken(p.Agent, p.Path); err != nil {
			return "", err
		}
	}
	line := strings.Join(strings.Fields(description), " ")
	if line == "" {
		line = "Says in a line what it does and what it returns"
	}
	quoted, err := json.Marshal(line)
	if err != nil {
		return "", err
	}
	src := fmt.Appendf(nil, "---\nname: %q\ndescription: %s\ntype: %s\nstrength: average\n---\nYou are %s. Say here what you do, how you go about it, and how your answer looks.\n", id, quoted, t, id)
	if _, _, err := parse(written{id: id, prompt: src, layout: Folder}); err != nil {
		return "", err
	}
	dir := filepath.Join(r.opts.Dir, id)
	if err := os.MkdirAll(r.opts.Dir, 0o755); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	file := filepath.Join(dir, fileName)
	return file, os.WriteFile(file, src, 0o644)
}

// Set changes one setting in the operator's file of an agent, and leaves every other byte as it is. It returns the path of the file. The value
// is written as the file's form has it, a text without quotes too. The change is refused when the agent would not be good with it.
func (r *Registry) Set(id, key, value string) (string, error) {
	if err := CheckID(id); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(r.opts.Dir)
	if err != nil {
		return "", errors.New(folderText(err))
	}
	defer root.Close()
	s := source{fsys: root.FS()}
	w := written{id: id, layout: Folder}
	promptPath, metaPath := path.Join(id, fileName), path.Join(id, metaName)
	if _, err := root.Stat(id); errors.Is(err, fs.ErrNotExist) {
		w.layout, promptPath = Flat, id+".md"
	}
	const limit = maxHeader + maxPrompt + 64
	if w.prompt, err = s.file(promptPath, limit); err != nil {
		if _, ok := r.builtIn[id]; ok && errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%q is built-in and has no file; herald agents show %s --raw prints it: write it to %s, and change it there", id, id, filepath.Join(r.opts.Dir, id, fileName))
		}
		if w.layout == Flat && errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("agent %q: %w: neither %s nor %s is there", id, ErrNotFound, filepath.Join(r.opts.Dir, id, fileName), filepath.Join(r.opts.Dir, promptPath))
		}
		return "", fmt.Errorf("%s: %s", filepath.Join(r.opts.Dir, promptPath), cause(err))
	}
	target, src := promptPath, w.prompt
	if w.layout == Folder {
		meta, err := s.file(metaPath, maxHeader+1)
		if err == nil {
			w.layout, w.meta, target, src = Meta, meta, metaPath, meta
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s: %s", filepath.Join(r.opts.Dir, metaPath), cause(err))
		}
	}
	full := filepath.Join(r.opts.Dir, filepath.FromSlash(target))
	next, err := rewrite(w.layout, src, key, value)
	if err != nil {
		return "", fmt.Errorf("%s: %w", full, err)
	}
	if w.layout == Meta {
		w.meta = next
	} else {
		w.prompt = next
	}
	if _, _, err := parse(w); err != nil {
		return "", fmt.Errorf("%s stays as it is: %w", full, err)
	}
	return full, replace(root, target, next)
}

// replace puts a file in the place of another at once: a reader sees the old or the new one.
func replace(root *os.Root, name string, src []byte) error {
	info, err := root.Stat(name)
	if err != nil {
		return err
	}
	tmp := path.Join(path.Dir(name), "."+path.Base(name)+".new")
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(src)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(tmp))
	}
	return nil
}

// rewrite changes one setting in a file and nothing else.
func rewrite(layout Layout, src []byte, key, value string) ([]byte, error) {
	s, ok := lookup(key)
	switch {
	case !ok:
		return nil, errors.New(unknown(key))
	case s.refused != "":
		return nil, fmt.Errorf("%s: %s", key, s.refused)
	case s.key == "extra":
		return nil, errors.New("what lies below extra belongs to other programs; change it in the file")
	}
	edit := rewriteYAML
	if layout == Meta {
		edit = rewriteJSON
	}
	next, err := edit(src, s, value)
	if err != nil {
		return nil, err
	}
	// Nothing but this setting may have changed, whatever the file looked like.
	before, text, err := values(layout, src)
	if err != nil {
		return nil, err
	}
	after, textAfter, err := values(layout, next)
	if err != nil {
		return nil, fmt.Errorf("the value %q cannot be written there: %w", short(value), err)
	}
	delete(before, s.key)
	if _, ok := after[s.key]; !ok {
		return nil, fmt.Errorf("the value %q cannot be written there", short(value))
	}
	delete(after, s.key)
	if !reflect.DeepEqual(before, after) || text != textAfter {
		return nil, errors.New("the settings are written in a way that only a person should change; change the value in the file")
	}
	return next, nil
}

// values are the settings of a file by their keys, and the text behind them.
func values(layout Layout, src []byte) (map[string]string, string, error) {
	var m *yaml.Node
	var body string
	if layout == Meta {
		var err error
		if m, err = readMeta(src); err != nil {
			return nil, "", err
		}
	} else {
		text, err := plain(src)
		if err != nil {
			return nil, "", err
		}
		var head string
		if head, body, err = split(text); err != nil {
			return nil, "", err
		}
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
			return nil, "", err
		}
		if m = (&yaml.Node{Kind: yaml.MappingNode}); len(doc.Content) > 0 {
			m = doc.Content[0]
		}
	}
	out := map[string]string{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k := normal(m.Content[i].Value)
		if s, ok := lookup(k); ok {
			k = s.key
		}
		out[k] = meaning(m.Content[i+1])
	}
	return out, body, nil
}

// meaning is a value without the way in which it is written.
func meaning(n *yaml.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %q [", n.Kind, n.Tag, n.Value)
	for _, c := range n.Content {
		b.WriteString(meaning(c))
	}
	return b.String() + "]"
}

// rewriteYAML works on the bytes between the fences.
func rewriteYAML(src []byte, s setting, value string) ([]byte, error) {
	bom := len(src) - len(bytes.TrimPrefix(src, []byte("\ufeff")))
	first := bytes.IndexByte(src, '\n') + 1
	end := first
	for line := range bytes.Lines(src[first:]) {
		if string(bytes.TrimRight(line, "\r\n")) == "---" {
			break
		}
		end += len(line)
	}
	if first == 0 || end == len(src) || string(bytes.TrimRight(src[bom:first], "\r\n")) != "---" {
		return nil, errors.New("the file has no settings between two lines \"---\"")
	}
	head := src[first:end]
	newline := "\n"
	if bytes.HasSuffix(src[:first], []byte("\r\n")) {
		newline = "\r\n"
	}
	text := value
	var probe yaml.Node
	if err := yaml.Unmarshal([]byte("x: "+value+"\n"), &probe); err != nil || len(probe.Content) != 1 || len(probe.Content[0].Content) != 2 || strings.ContainsAny(value, "\r\n") ||
		probe.Content[0].Content[1].LineComment != "" || value == "" || value != strings.TrimSpace(value) {
		b, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(head, &doc); err != nil {
		return nil, fmt.Errorf("the settings are not valid YAML: %s", yamlText(err))
	}
	starts := []int{0}
	for i, c := range head {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	insert := func() ([]byte, error) {
		return join(src, end, end, s.key+": "+text+newline), nil
	}
	if len(doc.Content) == 0 {
		return insert()
	}
	m := doc.Content[0]
	if m.Kind != yaml.MappingNode || m.Style&yaml.FlowStyle != 0 {
		return nil, errors.New("the settings are not lines of the form \"key: value\"; change the value in the file")
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		if got, ok := lookup(k.Value); !ok || got.key != s.key {
			continue
		}
		from := starts[k.Line-1]
		colon := bytes.IndexByte(head[from:], ':')
		if colon < 0 || !strings.Contains(string(head[from:from+colon]), k.Value) {
			return nil, errors.New("the setting is written in a way that only a person should change; change the value in the file")
		}
		from += colon + 1
		to := len(head)
		if i+2 < len(m.Content) {
			to = starts[m.Content[i+2].Line-1]
		}
		to = from + valueEnd(head[from:to], cmp.Or(v.LineComment, k.LineComment))
		lead := " "
		if trimmed := bytes.TrimLeft(head[from:to], " "); len(trimmed) > 0 && trimmed[0] != '\r' && trimmed[0] != '\n' {
			lead = string(head[from : to-len(trimmed)])
			if lead == "" {
				lead = " "
			}
		}
		return join(src, first+from, first+to, lead+text), nil
	}
	return insert()
}

// valueEnd is where a value ends in the text from behind its colon to the next setting: before the comment of its line, and before the comments
// and empty lines that stand in front of the next setting.
func valueEnd(region []byte, comment string) int {
	end := len(region)
	for end > 0 {
		start := bytes.LastIndexByte(region[:end-1], '\n') + 1
		line := bytes.TrimRight(region[start:end], "\r\n")
		if start == 0 || len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			end = start + len(line)
			break
		}
		end = start
	}
	if first := bytes.IndexByte(region[:end], '\n'); first < 0 && comment != "" {
		if at := bytes.LastIndex(region[:end], []byte(comment)); at > 0 {
			end = at
		}
	}
	return len(bytes.TrimRight(region[:end], " \t"))
}

// rewriteJSON works on the bytes of a meta.json.
func rewriteJSON(src []byte, s setting, value string) ([]byte, error) {
	text := value
	if !json.Valid([]byte(value)) {
		b, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	if _, err := readMeta(src); err != nil {
		return nil, err
	}
	bom := len(src) - len(bytes.TrimPrefix(src, []byte("\ufeff")))
	dec := json.NewDecoder(bytes.NewReader(src[bom:]))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	last := bom + int(dec.InputOffset())
	comma, indent := "", "\n  "
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, err
		}
		last, comma = bom+int(dec.InputOffset()), ","
		key, _ := tok.(string)
		if got, ok := lookup(key); ok && got.key == s.key {
			return join(src, last-len(raw), last, text), nil
		}
	}
	if comma != "" && !bytes.ContainsRune(src[:last], '\n') {
		indent = " "
	}
	return join(src, last, last, comma+indent+`"`+s.key+`": `+text), nil
}

func join(src []byte, from, to int, text string) []byte {
	return append(append(bytes.Clone(src[:from]), text...), src[to:]...)
}
