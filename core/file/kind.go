package file

import (
	"mime"
	"path"
	"strings"

	"herald/core/chat"
)

// kind is what a file is taken for before its bytes are known.
type kind int

const (
	other kind = iota
	text
	picture
	document // PDF
	unsure   // read as text when it is one
)

// The most bytes that are loaded of each kind. A picture and a PDF file become smaller before they are shown.
const (
	// MaxText is also the most text that is taken out of a PDF file.
	MaxText     = 1_000_000
	maxPicture  = 20_000_000
	maxDocument = 20_000_000
)

func (k kind) limit() int64 {
	switch k {
	case text, unsure:
		return MaxText
	case picture:
		return maxPicture
	case document:
		return maxDocument
	default:
		return 0
	}
}

// textTypes are types beside text/* whose content is text.
var textTypes = map[string]bool{
	"application/json": true, "application/ld+json": true, "application/x-ndjson": true, "application/xml": true, "application/yaml": true,
	"application/x-yaml": true, "application/toml": true, "application/javascript": true, "application/x-javascript": true, "application/ecmascript": true,
	"application/typescript": true, "application/x-sh": true, "application/x-shellscript": true, "application/x-python": true, "application/x-python-code": true,
	"application/x-ruby": true, "application/x-perl": true, "application/x-httpd-php": true, "application/sql": true, "application/graphql": true,
	"application/x-tex": true, "application/x-latex": true, "application/csv": true, "application/x-subrip": true, "application/rtf": false,
}

// textEndings are endings of names whose content is text, where the type says nothing.
var textEndings = words(`txt text md markdown rst adoc csv tsv json jsonl ndjson xml yaml yml toml ini cfg conf env properties log sql graphql proto
	go py rb rs c h cc cpp hpp cs java kt kts scala swift m mm js mjs cjs ts tsx jsx vue svelte php pl pm lua r jl hs elm clj ex exs erl ml fs fsx vb dart zig nim
	sh bash zsh fish ps1 bat cmd awk sed tf hcl nix cmake gradle mk diff patch html htm css scss sass less svg tex bib srt vtt ics vcf eml`)

func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// kindOf takes a file for what its type says, and by its name where that says nothing.
func kindOf(f chat.File) kind {
	declared, _, err := mime.ParseMediaType(f.MIME)
	if err != nil {
		declared = strings.ToLower(strings.TrimSpace(f.MIME))
	}
	ending := strings.TrimPrefix(strings.ToLower(path.Ext(f.Name)), ".")
	switch {
	case declared == "application/pdf" || declared == "application/x-pdf":
		return document
	case declared == "image/svg+xml":
		return text
	case strings.HasPrefix(declared, "image/"):
		return picture
	case strings.HasPrefix(declared, "text/") || textTypes[declared] || strings.HasSuffix(declared, "+json") || strings.HasSuffix(declared, "+xml"):
		return text
	case textEndings[ending]: // a platform calls many a source file a binary one
		return text
	case declared != "" && declared != "application/octet-stream" && declared != "binary/octet-stream":
		return other
	case ending == "pdf":
		return document
	case ending == "png" || ending == "jpg" || ending == "jpeg" || ending == "gif" || ending == "webp":
		return picture
	default:
		return unsure
	}
}
