package markup_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/bots/markup"
)

func names() markup.Names {
	table := map[string]string{"U1": "Ann", "C1": "general", "S1": "ops"}
	find := func(id string) string { return table[id] }
	return markup.Names{User: find, Channel: find, Group: find}
}

func TestFromSlackText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"entities once":            {"&lt; &amp;lt; a&lt;b&amp;&amp;c &amp;amp;", "< &lt; a<b&&c &amp;"},
		"other entities stay":      {"&copy; &#60; &quot;", "&copy; &#60; &quot;"},
		"people and places":        {"<@U1> in <#C1> and <#C9|lost>, <@U9|bob> <@U8>", "@Ann in #general and #lost, @bob @U8"},
		"everybody":                {"<!here> <!channel|channel> <!everyone>", "@here @channel @everyone"},
		"group and date":           {"<!subteam^S1> <!subteam^S2|@dev> <!date^139^{date}^https://x.y|May 1>", "@ops @dev May 1"},
		"links":                    {"<https://x.y/?a=1&amp;b=2> <https://x.y|a label> <https://x.y|https://x.y>", "https://x.y/?a=1&b=2 [a label](https://x.y) https://x.y"},
		"brackets in a label":      {"<https://x.y|a [b] *c*>", `[a \[b\] \*c\*](https://x.y)`},
		"mail":                     {"<mailto:a@b.c|a@b.c> <tel:+123|+123>", "a@b.c +123"},
		"marks":                    {"*bold* _it_ ~gone~ 2*3*4 *a b*, (*x*)", "**bold** _it_ ~~gone~~ 2*3*4 **a b**, (**x**)"},
		"a mark without end":       {"*open\n*next", "*open\n*next"},
		"marks around tokens":      {"*<@U1> & co*", "**@Ann & co**"},
		"marks in an address stay": {"<https://x.y/*a*/~b~>", "https://x.y/*a*/~b~"},
		"code is left alone":       {"`*a* &lt;b&gt; <https://x.y|x.y>` *b*", "`*a* <b> x.y` **b**"},
		"fence gets its lines":     {"see ```x &amp;lt; *y*``` then", "see \n```\nx &lt; *y*\n```\n then"},
		"fence with lines":         {"```\na\n\nb\n```\nend", "```\na\n\nb\n```\nend"},
		"quotes and bullets":       {"&gt; said\n• one\n    ◦ two", "> said\n- one\n    - two"},
		"no token":                 {"a < b > c <> <x>", "a < b > c <> <x>"},
		"private runes":            {"a\ue000b \ue001`x`", "a\ufffdb \ufffd`x`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, markup.FromSlackText(c.in, names())); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.in, diff)
			}
		})
	}
}

func TestSlackEntitiesComeBack(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"<", "&lt;", "&amp;lt;", "a<b&&c", "<@U1>", "&", "&amp;amp;lt;"} {
		if got := markup.DecodeSlack(markup.EncodeSlack(s)); got != s {
			t.Errorf("%q comes back as %q", s, got)
		}
	}
}

const richMessage = `[{"type":"rich_text","elements":[
 {"type":"rich_text_section","elements":[
  {"type":"text","text":"Hi "},{"type":"user","user_id":"U1"},{"type":"text","text":", see "},{"type":"link","url":"https://x.y/a_b","text":"this","style":{"bold":true}},
  {"type":"text","text":" in "},{"type":"channel","channel_id":"C1"},{"type":"text","text":" &lt; 2*3*4\n\nSecond "},{"type":"text","text":"a` + "`" + `b","style":{"code":true}},
  {"type":"emoji","name":"tada","unicode":"1f389"},{"type":"emoji","name":"party"},{"type":"broadcast","range":"here"},{"type":"usergroup","usergroup_id":"S1"}]},
 {"type":"rich_text_list","style":"ordered","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"one"}]}]},
 {"type":"rich_text_list","style":"bullet","indent":1,"elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"deep"}]}]},
 {"type":"rich_text_list","style":"ordered","offset":1,"elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"two"}]}]},
 {"type":"rich_text_quote","elements":[{"type":"text","text":"said"}]},
 {"type":"rich_text_preformatted","elements":[{"type":"text","text":"if a < b {\n}"}]}]},
 {"type":"table","rows":[[{"type":"raw_text","text":"k"},{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"v|w"}]}]}],
  [{"type":"raw_text","text":"1"},{"type":"raw_text","text":"2"}]],"column_settings":[null,{"align":"right"}]}]`

func TestFromSlackBlocks(t *testing.T) {
	t.Parallel()
	doc, whole := markup.FromSlackBlocks(json.RawMessage(richMessage), names())
	if !whole {
		t.Error("not everything was understood")
	}
	want := "Hi @Ann, see [**this**](https://x.y/a_b) in #general &amp;lt; 2\\*3\\*4\n\nSecond ``a`b``🎉:party:@here@ops\n\n" +
		"1. one\n   - deep\n2. two\n\n> said\n\n```\nif a < b {\n}\n```\n\n| k | v\\|w |\n| --- | --: |\n| 1 | 2 |"
	if diff := cmp.Diff(want, doc.Text(markup.Markdown(), markup.Policy{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFromSlackBlocksKeepsWhatItCan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in, want string
		whole    bool
	}{
		"nothing":               {"", "", true},
		"no array":              {`{"type":"x"}`, "", false},
		"unknown block":         {`[{"type":"novel","text":"kept"},{"type":"divider"}]`, "kept\n\n---", false},
		"malformed block":       {`[{"type":5},{"type":"header","text":{"type":"plain_text","text":"H"}}]`, "# H", false},
		"unknown element":       {`[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"novel","text":"x"},7,{"type":"text","text":"y"}]}]}]`, "xy", false},
		"section and fields":    {`[{"type":"section","text":{"type":"mrkdwn","text":"*a* &lt;"},"fields":[{"type":"plain_text","text":"b *c*"}]}]`, "**a** <\n\nb \\*c\\*", true},
		"context":               {`[{"type":"context","elements":[{"type":"image","alt_text":"pic"},{"type":"mrkdwn","text":"by <@U1>"}]}]`, "pic\n\nby @Ann", true},
		"image":                 {`[{"type":"image","image_url":"https://i.mg/a.png","alt_text":"pic"}]`, "[pic](https://i.mg/a.png)", true},
		"markdown":              {`[{"type":"markdown","text":"## h\n* x"}]`, "## h\n\n- x", true},
		"blocks of attachments": {`[{"id":1,"blocks":[{"type":"table","rows":[[{"type":"raw_text","text":"a"}]]}]}]`, "| a |\n| --- |", true},
		"emoji that is none":    {`[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"emoji","name":"n","unicode":"zz"}]}]}]`, ":n:", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, whole := markup.FromSlackBlocks(json.RawMessage(c.in), names())
			if diff := cmp.Diff(c.want, doc.Text(markup.Markdown(), markup.Policy{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if whole != c.whole {
				t.Errorf("whole = %t, want %t", whole, c.whole)
			}
		})
	}
}

func TestFromSlackMessageChoosesWhatLosesLeast(t *testing.T) {
	t.Parallel()
	section := `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"**typed**"}]}]}]`
	code := `[{"type":"rich_text","elements":[{"type":"rich_text_preformatted","elements":[{"type":"text","text":"x < 1"}]}]}]`
	table := `[{"blocks":[{"type":"table","rows":[[{"type":"raw_text","text":"a"}]]}]}]`
	broken := `[{"type":"rich_text","elements":[{"type":"rich_text_preformatted","elements":[{"type":"novel"}]}]}]`
	for name, c := range map[string]struct{ text, blocks, attachments, want string }{
		"plain words come from the text": {"**typed** &amp;", section, "", "**typed** &"},
		"code comes from the blocks":     {"x &lt; 1", code, "", "```\nx < 1\n```"},
		"a pasted table is added":        {"see", section, table, "see\n\n| a |\n| --- |"},
		"blocks not understood":          {"the text", broken, "", "the text"},
		"blocks alone":                   {"", section, "", `\*\*typed\*\*`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := markup.FromSlackMessage(c.text, json.RawMessage(c.blocks), json.RawMessage(c.attachments), names())
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
