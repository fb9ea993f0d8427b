package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A site is named in the source by a literal that is it, or that begins with it and '/'.
var siteLiteral = regexp.MustCompile(`^([a-z]+\.[a-z]+)(?:/.*)?$`)

// sources are the folders whose commits are the service's own.
var sources = []string{"core", "agents", "bots", "cmd/internal/service"}

// sourceSites finds the sites that the source below root names, with where, and the commits whose id names none.
func sourceSites(root string) (sites map[string]string, unnamed []string, err error) {
	sites = map[string]string{}
	fset := token.NewFileSet()
	for _, dir := range sources {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test"+string(filepath.Separator)) {
				return nil
			}
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				at := func(n ast.Node) string { return fset.Position(n.Pos()).String() }
				switch n := n.(type) {
				case *ast.BasicLit:
					// What only looks like a site ("text.plain") does not begin with the name of its package.
					if site := literalSite(n); strings.HasPrefix(site, file.Name.Name+".") {
						sites[site] = at(n)
					}
				case *ast.CompositeLit:
					if isCommit(n) && !namesSite(n) {
						unnamed = append(unnamed, at(n))
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			return nil, nil, fmt.Errorf("read the source of %s: %w", dir, err)
		}
	}
	return sites, unnamed, nil
}

func literalSite(n *ast.BasicLit) string {
	if n.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(n.Value)
	if err != nil {
		return ""
	}
	if m := siteLiteral.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// isCommit reports whether n makes a commit with something in it.
func isCommit(n *ast.CompositeLit) bool {
	sel, ok := n.Type.(*ast.SelectorExpr)
	if !ok || len(n.Elts) == 0 {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "store" && sel.Sel.Name == "Commit"
}

// namesSite reports whether the id of a commit holds a site, or a variable that does by its name. A commit without an id is made for a
// caller that gives it one.
func namesSite(n *ast.CompositeLit) bool {
	for _, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "ID" {
			continue
		}
		named := false
		ast.Inspect(kv.Value, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				named = named || literalSite(n) != ""
			case *ast.Ident:
				named = named || n.Name == "site" || n.Name == "what"
			}
			return true
		})
		return named
	}
	return true
}
