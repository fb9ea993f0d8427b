package skills

// Parse is parse for tests, with the lines of what is odd.
func Parse(src []byte) (Skill, []int, error) {
	p, err := parse(src)
	var lines []int
	for _, o := range p.odd {
		lines = append(lines, o.line)
	}
	return p.skill, lines, err
}

// WithRows is an index with rows for these skills.
func WithRows(src string, ids ...string) string {
	var here []*Skill
	for _, id := range ids {
		here = append(here, &Skill{ID: id, Description: "d"})
	}
	return parseIndex(src).with(here)
}
