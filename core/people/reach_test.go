package people_test

import (
	"slices"
	"testing"

	"herald/core/chat"
	"herald/core/people"
	"herald/core/store/memory"
)

func TestReach(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	p := people.New(st)
	seen := func(id chat.IdentityID) string {
		who, err := p.Resolve(t.Context(), people.Lookup{Sender: chat.Sender{Identity: id}, Where: "conversation/x/y/"}, "seen "+string(id))
		if err != nil {
			t.Fatal(err)
		}
		return who.ID
	}
	ann, bob := seen("slack:T1/UANN"), seen("discord:7")
	if err := p.SyncAdmins(t.Context(), "1", []chat.IdentityID{"slack:T1/UEVE", "discord:9"}); err != nil {
		t.Fatal(err)
	}
	eve, never := people.PersonOf("slack:T1/UEVE"), people.PersonOf("slack:T1/UNEW")
	for _, tc := range []struct {
		name         string
		who, without []string
		want         []chat.IdentityID
	}{
		{"a person", []string{ann}, nil, []chat.IdentityID{"slack:T1/UANN"}},
		{"one of another platform", []string{bob}, nil, []chat.IdentityID{"discord:7"}},
		{"the admins, who were never seen", []string{"admin"}, nil, []chat.IdentityID{"slack:T1/UEVE", "discord:9"}},
		{"without somebody", []string{"admin", ann}, []string{eve}, []chat.IdentityID{"slack:T1/UANN", "discord:9"}},
		{"twice", []string{ann, ann, "admin", eve}, nil, []chat.IdentityID{"slack:T1/UANN", "slack:T1/UEVE", "discord:9"}},
		{"named and never seen", []string{never}, nil, []chat.IdentityID{"slack:T1/UNEW"}},
		{"unknown", []string{"p0"}, nil, nil},
		{"nobody", nil, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := p.Reach(t.Context(), "slack:T1", tc.who, tc.without, map[string]string{never: "slack:T1/UNEW"})
			slices.Sort(got)
			slices.Sort(tc.want)
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %q %v, want %q", got, err, tc.want)
			}
		})
	}
}
