package agents

import (
	"log/slog"
	"strings"
	"testing"
)

// Each built-in agent has scenarios that a script with the property passes and one without it does not.
func TestScenarios(t *testing.T) {
	t.Parallel()
	r := Open(Options{Log: slog.New(slog.DiscardHandler)})
	for _, a := range r.List() {
		list, err := r.Scenarios(a)
		if err != nil || len(list) == 0 {
			t.Errorf("%s: %d scenarios, %v", a.ID, len(list), err)
		}
		for _, s := range list {
			play := func(steps []Step) (answer string, calls []Called) {
				for _, st := range steps {
					if st.Call != "" {
						calls = append(calls, Called{st.Call, st.Arguments})
					} else {
						answer = st.Say
					}
				}
				return answer, calls
			}
			if got := s.Judge(play(s.Good)); len(s.Good) == 0 || len(got) != 0 {
				t.Errorf("%s/%s: the good script fails: %v", a.ID, s.Name, got)
			}
			if got := s.Judge(play(s.Bad)); len(s.Bad) == 0 || len(got) == 0 {
				t.Errorf("%s/%s: the bad script passes", a.ID, s.Name)
			}
		}
	}
}

func TestParseScenarioFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, src, want string }{
		{"empty", "", "EOF"},
		{"unknown key", "about: x\nprompt: y\nwants: z\n", "wants"},
		{"nothing to check", "about: x\nprompt: y\n", "below want"},
		{"no prompt", "about: x\nwant: {answer: y}\n", "needs about and prompt"},
		{"no expression", "about: x\nprompt: y\nwant: {answer: '('}\n", "no expression"},
		{"no tool", "about: x\nprompt: y\nwant: {never: [{arguments: z}]}\n", "needs a tool"},
	} {
		if _, err := ParseScenario("s", []byte(tt.src)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
