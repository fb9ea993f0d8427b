package archtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rowOf is the row with the longest pattern that covers name.
func rowOf(rows []row, name string) (row, bool) {
	var best row
	found := false
	for _, r := range rows {
		if covers(r.pkg, name) && (!found || len(r.pkg) > len(best.pkg)) {
			best, found = r, true
		}
	}
	return best, found
}

// allows reports whether the row lets its package import name.
func (r row) allows(rows []row, name string) bool {
	for _, m := range r.may {
		if l, ok := layerNames[m]; ok {
			if to, ok := rowOf(rows, name); ok && to.layer == l && l < r.layer {
				return true
			}
		} else if covers(m, name) {
			return true
		}
	}
	return false
}

// faults lists what the imports of one package break.
func faults(rows []row, p *pkg) []string {
	r, ok := rowOf(rows, p.Name)
	if !ok {
		return []string{"has no row in the table: say there in which layer it stands and what it may import"}
	}
	var out []string
	for _, path := range p.Imports {
		switch name := below(path); {
		case std(path):
			if slices.Contains(r.not, path) {
				out = append(out, fmt.Sprintf("imports %s, which its row forbids", path))
			}
		case name == "":
			if !slices.ContainsFunc(r.modules, func(m string) bool { return within(m, path) }) {
				out = append(out, fmt.Sprintf("imports %s, which its row does not allow", path))
			}
		default:
			to, ok := rowOf(rows, name)
			if ok && to.layer > r.layer {
				out = append(out, fmt.Sprintf("imports %s from a layer above its own", name))
			} else if !r.allows(rows, name) {
				out = append(out, fmt.Sprintf("imports %s, which its row does not allow", name))
			}
		}
	}
	return append(out, testFaults(rows, r, p)...)
}

// testFaults lists what the imports of a package's tests break: they may use what the package may, everything of lower layers but
// drivers, the helpers, and what the row names for tests.
func testFaults(rows []row, r row, p *pkg) []string {
	var out []string
	for _, path := range p.testImports() {
		name := below(path)
		switch {
		case std(path), name == p.Name, name != "" && within(p.Name, name):
		case name == "":
			ok := func(m string) bool { return within(m, path) }
			if !slices.ContainsFunc(slices.Concat(r.modules, r.testModules, testModules), ok) {
				out = append(out, fmt.Sprintf("its tests import %s, which is neither in its row nor for all tests", path))
			}
		default:
			ok := func(m string) bool { return covers(m, name) }
			extra := row{layer: r.layer, may: r.tests}
			to, known := rowOf(rows, name)
			below := known && to.layer < min(r.layer, drivers)
			if !below && !r.allows(rows, name) && !slices.ContainsFunc(testHelpers, ok) && !extra.allows(rows, name) {
				out = append(out, fmt.Sprintf("its tests import %s, which its row does not allow to tests", name))
			}
		}
	}
	return out
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		if p.Error != nil {
			t.Errorf("%s: %s", p.Name, p.Error.Err)
		}
		for _, f := range faults(table, p) {
			t.Errorf("%s %s", p.Name, f)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	pkgs := list(t)
	seen := map[string]bool{}
	for _, r := range table {
		if seen[r.pkg] {
			t.Errorf("%s has two rows", r.pkg)
		}
		seen[r.pkg] = true
		if !slices.ContainsFunc(pkgs, func(p *pkg) bool { return covers(r.pkg, p.Name) }) {
			t.Errorf("the row %s matches no package: it was renamed or removed, and its rule holds for nobody", r.pkg)
		}
		for _, m := range append(slices.Clone(r.may), r.tests...) {
			if _, ok := layerNames[m]; strings.HasPrefix(m, "@") {
				if !ok {
					t.Errorf("the row %s names the layer %s, which does not exist", r.pkg, m)
				}
				continue
			}
			if !slices.ContainsFunc(pkgs, func(p *pkg) bool { return covers(m, p.Name) }) {
				t.Errorf("the row %s allows %s, which matches no package", r.pkg, m)
			}
		}
		for _, m := range r.may {
			if to, ok := rowOf(table, m); ok && to.layer > r.layer {
				t.Errorf("the row %s allows %s, which stands in a layer above it", r.pkg, m)
			}
		}
	}
	for _, h := range testHelpers {
		if !slices.ContainsFunc(pkgs, func(p *pkg) bool { return covers(h, p.Name) }) {
			t.Errorf("the test helper %s matches no package", h)
		}
	}
}

// TestSDKs follows the dependencies all the way down: an SDK that is known in one folder must not come in through another.
func TestSDKs(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		for sdk, home := range sdks {
			if within(home, p.Name) || within("cmd", p.Name) {
				continue
			}
			for _, path := range append(slices.Clone(p.Imports), p.testImports()...) {
				if within(sdk, path) || strings.HasPrefix(path, sdk+"/") {
					t.Errorf("%s imports %s; only %s may know it", p.Name, path, home)
				}
			}
			if !within("core", p.Name) {
				continue
			}
			for _, path := range p.Deps {
				if within(sdk, path) {
					t.Errorf("%s depends on %s; only %s may know it", p.Name, path, home)
				}
			}
		}
	}
}

// TestOnlyCommandKnowsConfig holds for everything that is built in, however indirectly.
func TestOnlyCommandKnowsConfig(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		if within("cmd", p.Name) || p.Name == "config" {
			continue
		}
		if slices.Contains(p.Deps, module+"/config") {
			t.Errorf("%s depends on config; it must be given plain options", p.Name)
		}
	}
}

// TestFaults proves that the rules can fail.
func TestFaults(t *testing.T) {
	t.Parallel()
	rows := []row{
		{pkg: "low", layer: vocabulary},
		{pkg: "mid", layer: heart, may: []string{"@vocabulary"}, not: []string{"os"}},
		{pkg: "peer", layer: heart, may: []string{"mid"}, modules: []string{"example.org/sdk"}, tests: []string{"fake"}},
		{pkg: "fake", layer: drivers},
		{pkg: "wide/...", layer: drivers, may: []string{"@vocabulary"}},
	}
	tests := []struct {
		name string
		pkg  pkg
		want string
	}{
		{"lower layer by name", pkg{Name: "mid", Imports: []string{"herald/low", "fmt"}}, ""},
		{"no row", pkg{Name: "new"}, "has no row"},
		{"row that covers what lies below", pkg{Name: "wide/deep", Imports: []string{"herald/low"}}, ""},
		{"up", pkg{Name: "low", Imports: []string{"herald/mid"}}, "from a layer above"},
		{"own layer, named", pkg{Name: "peer", Imports: []string{"herald/mid"}}, ""},
		{"own layer, not named", pkg{Name: "mid", Imports: []string{"herald/peer"}}, "does not allow"},
		{"lower layer, not named", pkg{Name: "peer", Imports: []string{"herald/low"}}, "does not allow"},
		{"forbidden standard package", pkg{Name: "mid", Imports: []string{"os"}}, "forbids"},
		{"allowed module", pkg{Name: "peer", Imports: []string{"example.org/sdk/sub"}}, ""},
		{"module with the same beginning", pkg{Name: "peer", Imports: []string{"example.org/sdkother"}}, "does not allow"},
		{"module of another row", pkg{Name: "mid", Imports: []string{"example.org/sdk"}}, "does not allow"},
		{"test import of the row", pkg{Name: "peer", XTestImports: []string{"herald/fake", "herald/peer"}}, ""},
		{"test import of a lower layer that the code may not use", pkg{Name: "peer", XTestImports: []string{"herald/low"}}, ""},
		{"test import of nobody's", pkg{Name: "mid", XTestImports: []string{"herald/fake"}}, "does not allow to tests"},
		{"test import in code", pkg{Name: "peer", Imports: []string{"herald/fake"}}, "from a layer above"},
		{"test module", pkg{Name: "mid", TestImports: []string{"github.com/google/go-cmp/cmp"}}, ""},
		{"unknown test module", pkg{Name: "mid", TestImports: []string{"example.org/other"}}, "neither"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(faults(rows, &tt.pkg), "; ")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
