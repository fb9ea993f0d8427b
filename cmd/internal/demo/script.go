package demo

import (
	"slices"
	"strings"
	"time"

	"herald/core/model"
	"herald/core/model/modeltest"
)

// label stands in every answer of the model, so that nobody takes it for a real one.
const label = "*(scripted model)* "

// The words by which the script knows what is asked.
const (
	asksTime  = "what day is it"
	asksStory = "tell me a story"
)

const story = "Once there was a messenger who wrote down every letter before the rider left. One night the inn burned down " +
	"while a letter was being read aloud. In the morning another messenger opened the book, found the place, and read on. " +
	"The people in the square heard the letter once, and to its end."

// storyPace makes the story long enough to be interrupted by a person who watches.
const (
	storyPieces = 24
	storyPause  = 90 * time.Millisecond
)

// rules are the script.
func rules() []modeltest.Rule {
	return []modeltest.Rule{
		afterTools(),
		modeltest.Whenever(asksTime, modeltest.Use("current_time", "{}")),
		modeltest.Whenever(asksStory, modeltest.Reply{Text: label + story, Chunks: storyPieces, Delay: storyPause}),
		func(*model.Request) (modeltest.Reply, bool) {
			return modeltest.Say(label + "I am a script that plays a language model. Everything else here is real: the service, its store, the tools, the crash."), true
		},
	}
}

// afterTools repeats what a tool said. The service's own note may stand behind the result.
func afterTools() modeltest.Rule {
	return func(r *model.Request) (modeltest.Reply, bool) {
		for _, m := range slices.Backward(r.Messages) {
			if m.Role == model.Tool {
				return modeltest.Say(label + "I asked the clock. It says: " + strings.TrimSpace(m.Text)), true
			}
			if m.Role != model.User {
				break
			}
		}
		return modeltest.Reply{}, false
	}
}
