package markup

// Pieces cuts the document so that each piece, rendered in the dialect, fits one message with the dialect's margin. The cuts lie between
// blocks, then between lines, sentences, words and characters, whichever is the first that works. Code goes on in a fence of its own, a
// numbered list with its next number. There is at least one piece; [Join] makes one document of them again.
func (doc Document) Pieces(d Dialect, p Policy) []Document {
	w := writer{d: &d, p: p}
	c := cutter{writer: w, budget: d.budget()}
	return c.cut(w.fit(doc.Blocks))
}

// Cut parses Markdown and renders it as the texts of as many messages as it needs, at least one.
func Cut(markdown string, d Dialect, p Policy) []string {
	pieces := Parse(markdown).Pieces(d, p)
	out := make([]string, len(pieces))
	for i, piece := range pieces {
		out[i] = piece.Text(d, p)
	}
	return out
}

// cutter packs blocks into messages of at most budget code points.
type cutter struct {
	writer
	budget int
	done   []Document
	now    []Block
	used   int
	// hard: cuts within words, links and lines of code are allowed, as nothing else helps.
	hard bool
}

func (c *cutter) cut(blocks []Block) []Document {
	if c.budget <= 0 {
		return []Document{{Blocks: blocks}}
	}
	for _, b := range blocks {
		c.add(b)
	}
	if len(c.now) > 0 || len(c.done) == 0 {
		c.flush()
	}
	return c.done
}

func (c *cutter) flush() {
	c.done = append(c.done, Document{Blocks: c.now})
	c.now, c.used = nil, 0
}

// close ends the message at hand. A heading at its end goes on to the next, where what it heads will stand.
func (c *cutter) close() {
	n := len(c.now)
	if n < 2 || c.now[n-1].Kind != Heading {
		c.flush()
		return
	}
	head := c.now[n-1]
	size := length(c.block(head, 0, false))
	if size > c.budget/4 {
		c.flush()
		return
	}
	c.now = c.now[: n-1 : n-1]
	c.flush()
	c.now, c.used = []Block{head}, size
}

// add puts a block into the message at hand, or into as many new ones as it needs.
func (c *cutter) add(b Block) {
	for {
		room := c.budget - c.used
		if len(c.now) > 0 {
			room -= 2
		}
		size := length(c.block(b, 0, false))
		if size <= room {
			c.now = append(c.now, b)
			c.used = c.budget - room + size
			return
		}
		// What fits into a message of its own is not cut, unless that would leave most of this one empty.
		if len(c.now) > 0 && (room < c.budget/4 || size <= c.budget && room < c.budget/2) {
			c.close()
			continue
		}
		fits := func(b Block) bool { return length(c.block(b, 0, false)) <= room }
		head, rest, ok := c.split(b, fits)
		if !ok && len(c.now) == 0 {
			c.hard = true
			head, rest, ok = c.split(b, fits)
			c.hard = false
		}
		switch {
		case ok:
			c.now = append(c.now, head)
			c.flush()
			b = rest
		case len(c.now) > 0:
			c.close()
		default: // nesting or a table leaves no room: the content goes on without it
			for _, inner := range c.unwrap(b) {
				c.add(inner)
			}
			return
		}
	}
}

// unwrap gives the blocks within b, or b as text that can be cut anywhere.
func (c *cutter) unwrap(b Block) []Block {
	switch b.Kind {
	case Quote:
		return b.Blocks
	case List:
		var out []Block
		for _, it := range b.Items {
			out = append(out, it.Blocks...)
		}
		return out
	case Table:
		return []Block{{Kind: CodeBlock, Code: c.mono(b)}}
	case CodeBlock:
		return []Block{{Kind: Paragraph, Spans: tidy([]Span{{Text: b.Code}}), Continued: b.Continued, Joint: b.Joint}}
	}
	text := ""
	for _, s := range b.Spans {
		text += s.Text
		if s.URL != "" && !c.bare(s.Text, s.URL) {
			text += " (" + s.URL + ")"
		}
	}
	if len(b.Spans) == 1 && b.Spans[0].Text == text && b.Spans[0].Style == 0 && b.Spans[0].URL == "" { // not even one character fits
		cells := characters(text)
		out := make([]Block, len(cells))
		for i, s := range cells {
			out[i] = Block{Kind: CodeBlock, Code: s, Continued: i > 0}
		}
		c.budget = max(c.budget, 2*len(c.d.Fence)+16)
		return out
	}
	return []Block{{Kind: Paragraph, Spans: tidy([]Span{{Text: text}}), Continued: b.Continued, Joint: b.Joint}}
}

// Join makes one document of pieces that [Document.Pieces] cut.
func Join(pieces []Document) Document {
	var out Document
	for _, p := range pieces {
		out.Blocks = joinBlocks(out.Blocks, p.Blocks)
	}
	return out
}

func joinBlocks(a, b []Block) []Block {
	if len(a) == 0 || len(b) == 0 || !b[0].Continued || a[len(a)-1].Kind != b[0].Kind {
		return append(a[:len(a):len(a)], b...)
	}
	out := append(a[:len(a)-1:len(a)-1], joinBlock(a[len(a)-1], b[0]))
	return append(out, b[1:]...)
}

func joinBlock(a, b Block) Block {
	switch a.Kind {
	case CodeBlock:
		a.Code += textOf(b.Joint) + b.Code
	case Quote:
		a.Blocks = joinBlocks(a.Blocks, b.Blocks)
	case List:
		items := b.Items
		if n := len(a.Items); n > 0 && len(items) > 0 && items[0].Continued {
			last := a.Items[n-1]
			last.Blocks = joinBlocks(last.Blocks, items[0].Blocks)
			a.Items = append(a.Items[:n-1:n-1], last)
			items = items[1:]
		}
		a.Items = append(a.Items[:len(a.Items):len(a.Items)], items...)
	case Paragraph, Heading:
		spans := append(a.Spans[:len(a.Spans):len(a.Spans)], b.Joint...)
		a.Spans = tidy(append(spans, b.Spans...))
	}
	return a
}
