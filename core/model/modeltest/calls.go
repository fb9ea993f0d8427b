package modeltest

import (
	"fmt"
	"strings"

	"herald/core/model"
)

// tc is an event with deltas of tool calls.
func tc(deltas ...string) string {
	return `{"choices":[{"index":0,"delta":{"tool_calls":[` + strings.Join(deltas, ",") + `]}}]}`
}

// d is a delta of a call; an empty id or name is left out, a negative index too.
func d(index int, id, name, args string) string {
	var m []string
	if index >= 0 {
		m = append(m, fmt.Sprintf(`"index":%d`, index))
	}
	if id != "" {
		m = append(m, `"id":`+quote(id))
	}
	f := `"arguments":` + quote(args)
	if name != "" {
		f += `,"name":` + quote(name)
	}
	return "{" + strings.Join(append(m, `"function":{`+f+`}`), ",") + "}"
}

// CallStreams are tool calls as servers cut, number and name them.
func CallStreams() []Case {
	a1, b2 := Call{Name: "look", Arguments: `{"at":1}`}, Call{Name: "send", Arguments: `{"to":2}`}
	calls := func(list ...Call) Case { return Case{Calls: list, Finish: model.FinishCalls} }
	bad := Call{Name: "look", Arguments: Unreadable}
	length := `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`
	return []Case{
		raw("one call in pieces", ev(tc(d(0, "a", "look", "")), tc(d(0, "", "", `{"at"`)), tc(d(0, "", "", `:1}`)), acall)+done, calls(a1)),
		raw("two calls side by side", ev(tc(d(0, "a", "look", "")), tc(d(1, "b", "send", "")), tc(d(0, "", "", `{"at":1}`), d(1, "", "", `{"to":2}`)), acall)+done, calls(a1, b2)),
		raw("two calls with their pieces mixed", ev(tc(d(0, "a", "look", `{"a`)), tc(d(1, "b", "send", `{"t`)), tc(d(0, "", "", `t":1}`)), tc(d(1, "", "", `o":2}`)), acall)+done, calls(a1, b2)),
		raw("no index, one call", ev(tc(d(-1, "a", "look", `{"at"`)), tc(d(-1, "", "", `:1}`)), acall)+done, calls(a1)),
		raw("no index, two ids", ev(tc(d(-1, "a", "look", `{"at":1}`)), tc(d(-1, "b", "send", `{"to":2}`)), acall)+done, calls(a1, b2)),
		raw("no index and no id, told apart by name", ev(tc(d(-1, "", "look", `{"at"`)), tc(d(-1, "", "", `:1}`)), tc(d(-1, "", "send", `{"to":2}`)), acall)+done, calls(a1, b2)),
		raw("no index, the id with each piece", ev(tc(d(-1, "a", "look", `{"at"`)), tc(d(-1, "a", "", `:1}`)), tc(d(-1, "b", "send", `{"to"`)), tc(d(-1, "b", "", `:2}`)), acall)+done, calls(a1, b2)),
		raw("all at index 0, told apart by id", ev(tc(d(0, "a", "look", `{"at":1}`)), tc(d(0, "b", "send", `{"to":2}`)), acall)+done, calls(a1, b2)),
		raw("all at index 0 in pieces", ev(tc(d(0, "a", "look", `{"at"`)), tc(d(0, "", "", `:1}`)), tc(d(0, "b", "send", `{"to"`)), tc(d(0, "", "", `:2}`)), acall)+done, calls(a1, b2)),
		raw("all at index 0, told apart by name", ev(tc(d(0, "", "look", `{"at":1}`)), tc(d(0, "", "send", `{"to":2}`)), acall)+done, calls(a1, b2)),
		raw("all at index 0, told apart by their ends", ev(tc(d(0, "a", "look", `{"at":1}`)), tc(d(0, "", "", `{"at":2}`)), acall)+done, calls(a1, Call{Name: "look", Arguments: `{"at":2}`})),
		raw("arguments glued together in one piece", ev(tc(d(0, "a", "look", `{"at":1}{"at":2} {"at":3}`)), acall)+done,
			calls(a1, Call{Name: "look", Arguments: `{"at":2}`}, Call{Name: "look", Arguments: `{"at":3}`})),
		raw("the name with each piece", ev(tc(d(0, "a", "look", "")), tc(d(0, "a", "look", `{"at"`)), tc(d(0, "a", "look", `:1}`)), acall)+done, calls(a1)),
		raw("all of it with each event", ev(tc(d(0, "a", "look", `{"at":1}`)), tc(d(0, "a", "look", `{"at":1}`)), tc(d(0, "a", "look", `{"at":1}`)), acall)+done, calls(a1)),
		raw("the same call twice with ids of its own", ev(tc(d(0, "a", "look", `{"at":1}`)), tc(d(1, "b", "look", `{"at":1}`)), acall)+done, calls(a1, a1)),
		raw("arguments before the name", ev(tc(d(-1, "", "", `{"at"`)), tc(d(-1, "", "", `:1}`)), tc(d(-1, "", "look", "")), acall)+done, calls(a1)),
		raw("no ids at all", ev(tc(d(0, "", "look", `{"at":1}`)), tc(d(1, "", "send", `{"to":2}`)), acall)+done, calls(a1, b2)),
		raw("the index appears later", ev(tc(d(-1, "a", "look", `{"at"`)), tc(d(0, "", "", `:1}`)), acall)+done, calls(a1)),
		raw("ids that look like a count", ev(tc(d(0, "look:0", "look", `{"at":1}`)), tc(d(1, "look:0", "send", `{"to":2}`)), acall)+done, calls(a1, b2)),
		raw("empty arguments", ev(tc(d(0, "a", "look", "")), acall)+done, calls(Call{Name: "look", Arguments: "{}"})),
		raw("arguments of null", ev(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":null}}]}}]}`, acall)+done, calls(Call{Name: "look", Arguments: "{}"})),
		raw("braces in strings", ev(tc(d(0, "a", "look", `{"at":"}{\"`)), tc(d(0, "", "", `{"}`)), acall)+done, calls(Call{Name: "look", Arguments: `{"at":"}{\"{"}`})),

		raw("finish stop with calls", ev(tc(d(0, "a", "look", `{"at":1}`)), stop)+done, calls(a1)),
		raw("finish tool_calls without a call", ev(one, two, acall)+done, Case{Text: "one two", Finish: model.FinishStop}),
		raw("a second finish event", ev(tc(d(0, "a", "look", `{"at":1}`)), acall, stop)+done, calls(a1)),
		raw("text and a call", ev(one, tc(d(0, "a", "look", `{"at":1}`)), acall)+done, Case{Text: "one ", Calls: []Call{a1}, Finish: model.FinishCalls}),
		raw("a call cut at the length", ev(tc(d(0, "a", "look", `{"at":`)), length)+done, Case{Calls: []Call{bad}, Finish: model.FinishLength}),
		raw("a complete call at the length", ev(tc(d(0, "a", "look", `{"at":1}`)), length)+done, Case{Calls: []Call{bad}, Finish: model.FinishLength}),
		raw("a call cut and said to be complete", ev(tc(d(0, "a", "look", `{"at":`)), acall)+done, calls(bad)),
		raw("the closing brace is lost", ev(tc(d(0, "a", "look", `{"at":{"x":1}`)), acall)+done, calls(bad)),
		raw("arguments that are a list", ev(tc(d(0, "a", "look", `[1]`)), acall)+done, calls(bad)),
		raw("arguments that are text", ev(tc(d(0, "a", "look", `at one`)), acall)+done, calls(bad)),
		raw("arguments that are a string with an object", ev(tc(d(0, "a", "look", `"{\"at\":1}"`)), acall)+done, calls(bad)),
		raw("something behind the arguments", ev(tc(d(0, "a", "look", `{"at":1}]`)), acall)+done, calls(bad)),
		raw("no name at all", ev(tc(d(0, "a", "", `{"at":1}`)), acall)+done, calls(Call{Name: "unnamed_tool", Arguments: Unreadable})),

		raw("a call written as text", ev(text("Let me see.\n<tool_"), text("call>\n{\"name\":\"look\",\"arg"), text("uments\":{\"at\":1}}\n</tool"), text("_call>"), stop)+done,
			Case{Text: "Let me see.\n", Calls: []Call{a1}, Finish: model.FinishCalls}),
		raw("two calls written as text", ev(text(`<tool_call>{"name":"look","arguments":{"at":1}}</tool_call>`+"\n"+`<tool_call>{"name":"send","arguments":"{\"to\":2}"}</tool_call>`), stop)+done,
			Case{Text: "\n", Calls: []Call{a1, b2}, Finish: model.FinishCalls}),
		raw("a call in Mistral's text", ev(text(`[TOOL_CALLS] [{"name":"look","arguments":{"at":1}},`), text(`{"name":"send","arguments":{"to":2}}]`), stop)+done, calls(a1, b2)),
		raw("a call in Mistral's newer text", ev(text(`[TOOL_CALLS]look[ARGS]{"at":1}`), stop)+done, calls(a1)),
		raw("a call in Llama's text", ev(text(`<|python_tag|>{"name":"look","parameters":{"at":1}}`), stop)+done, calls(a1)),
		raw("a call in another of Llama's texts", ev(text(`<function=look>{"at":1}</function>`), stop)+done, calls(a1)),
		raw("a call written as text that cannot be read", ev(text(`<tool_call>{"name":"look",</tool_call>`), stop)+done, calls(Call{Name: "unnamed_tool", Arguments: Unreadable})),
		raw("a call written as text of a tool that is none", ev(text(`<tool_call>{"name":"rm","arguments":{}}</tool_call>`), stop)+done, calls(Call{Name: "unnamed_tool", Arguments: Unreadable})),
		raw("a call written as text and cut", ev(text(`<tool_call>{"name":"look","arguments":{"at":1}}`), length)+done, Case{Calls: []Call{bad}, Finish: model.FinishLength}),
		raw("prose about the markup", ev(text("Write <tool_call> and then\n<tool_call> again."), stop)+done, Case{Text: "Write <tool_call> and then\n<tool_call> again.", Finish: model.FinishStop}),
		raw("the markup in the middle of a line", ev(text("Say <tool_call>{\"name\":\"look\"}</tool_call> then."), stop)+done, Case{Text: "Say <tool_call>{\"name\":\"look\"}</tool_call> then.", Finish: model.FinishStop}),
		raw("the markup in a fence", ev(text("```\n<tool_call>{\"name\":\"look\"}</tool_call>\n```"), stop)+done, Case{Text: "```\n<tool_call>{\"name\":\"look\"}</tool_call>\n```", Finish: model.FinishStop}),
		raw("a beginning that is none", ev(text("a\n<tool"), text("box> b [TOOL"), text("] <"), stop)+done, Case{Text: "a\n<toolbox> b [TOOL] <", Finish: model.FinishStop}),
		raw("thoughts before the answer", ev(text("<thi"), text("nk>hm, hm</th"), text("ink>one two"), stop)+done, Case{Text: "one two", Finish: model.FinishStop}),
	}
}

func text(s string) string { return `{"choices":[{"index":0,"delta":{"content":` + quote(s) + `}}]}` }
