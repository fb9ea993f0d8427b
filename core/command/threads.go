package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
)

// unset is the word that takes a choice back.
const unset = "default"

// ThreadsIn gives what the configuration says about threads of a conversation's channel; false where every message is for Herald anyway, as
// in a direct message.
type ThreadsIn func(chat.Conversation) (string, bool)

// Threads is the command that says when a message of a thread is for Herald: in a thread for that thread, which its opener or an admin chooses, elsewhere
// for the channel, which an admin chooses.
func Threads(st store.Store, configured ThreadsIn) Spec {
	return Spec{
		Name: "threads", Args: "[" + conversation.ThreadsAlways + "|" + conversation.ThreadsMention + "|" + unset + "]", MaxArgs: 1, Least: people.Restricted, Help: helpThreads,
		Run: func(ctx context.Context, c Call) (string, error) {
			where, ok := conversation.Of(c.Where)
			if !ok {
				return threadsNone, nil
			}
			fallback, ok := configured(where)
			if !ok {
				return threadsNone, nil
			}
			if len(c.Args) == 0 {
				return showThreads(ctx, c, where, fallback)
			}
			return setThreads(ctx, st, c, where, fallback)
		},
	}
}

// channel is the partition of the channel of a conversation.
func channel(c chat.Conversation) store.Partition {
	c.Thread = ""
	return conversation.Partition(c)
}

// ThreadQueries ask for what was set in a conversation and in its channel; [ThreadPolicy] understands the answers.
func ThreadQueries(c chat.Conversation) []store.Query {
	return []store.Query{
		store.Get{Partition: conversation.Partition(c), Key: conversation.ThreadsKey},
		store.Get{Partition: channel(c), Key: conversation.ThreadsKey},
	}
}

// ThreadPolicy is what was set about the threads of a conversation, the nearest first; "" where nothing is.
func ThreadPolicy(answers []store.Answer) (string, error) {
	for _, a := range answers {
		doc, ok := a.Doc()
		if !ok {
			continue
		}
		var t conversation.Threads
		if err := conversation.Decode(doc, &t); err != nil {
			return "", err
		}
		if t.Policy != "" {
			return t.Policy, nil
		}
	}
	return "", nil
}

func showThreads(ctx context.Context, c Call, where chat.Conversation, fallback string) (string, error) {
	answers, err := c.Read.Read(ctx, ThreadQueries(where)...)
	if err != nil {
		return "", fmt.Errorf("read what is set about threads of %s: %w", c.Where, err)
	}
	for n, a := range answers {
		set, err := ThreadPolicy([]store.Answer{a})
		switch {
		case err != nil:
			return "", err
		case set != "" && n == 0 && where.Thread != "":
			return said(set) + threadsHere, nil
		case set != "":
			return said(set) + threadsChannel, nil
		}
	}
	return said(fallback) + threadsConfigured, nil
}

// said says a policy to a person.
func said(policy string) string {
	if policy == conversation.ThreadsMention {
		return threadsMention
	}
	return threadsAlways
}

func setThreads(ctx context.Context, st store.Store, c Call, where chat.Conversation, fallback string) (string, error) {
	policy := strings.ToLower(c.Args[0])
	switch policy {
	case conversation.ThreadsAlways, conversation.ThreadsMention:
	case unset:
		policy = ""
	default:
		return fmt.Sprintf(threadsWord, quote(c.Args[0]), conversation.ThreadsAlways, conversation.ThreadsMention, unset), nil
	}
	for try := range threadTries {
		answers, err := st.Read(ctx, store.Get{Partition: c.Where, Key: conversation.ThreadsKey}, store.Get{Partition: c.Where, Key: conversation.CurrentKey})
		if err != nil {
			return "", fmt.Errorf("set threads of %s: %w", c.Where, err)
		}
		var old conversation.Threads
		doc, stands := answers[0].Doc()
		if stands {
			if err := conversation.Decode(doc, &old); err != nil {
				return "", err
			}
		}
		if !c.Person.Role.Covers(people.Admin) {
			var cur conversation.Current
			if doc, ok := answers[1].Doc(); ok {
				if err := conversation.Decode(doc, &cur); err != nil {
					return "", err
				}
			}
			switch {
			case where.Thread == "":
				return threadsAdmins, nil
			case cur.State.Opener != c.Person.ID:
				return threadsNotYours, nil
			}
		}
		if old.Event == c.Event {
			break // a redelivery
		}
		row, err := json.Marshal(struct {
			V      int    `json:"v"`
			By     string `json:"by"`
			Result string `json:"result"`
		}{conversation.Version, c.Person.ID, cmp.Or(policy, unset)})
		if err != nil {
			return "", fmt.Errorf("set threads of %s: %w", c.Where, err)
		}
		_, err = st.Commit(ctx, store.Commit{
			ID: conversation.ID("command.threads/", c.Event, fmt.Sprint(try, doc.Version)), Partition: c.Where,
			Guards: []store.Guard{store.At{Key: conversation.ThreadsKey, Version: doc.Version}},
			Ops: []store.Op{
				store.Put{Key: conversation.ThreadsKey, Value: conversation.Encode(&conversation.Threads{
					V: conversation.Version, Policy: policy, By: c.Person.ID, At: answers[0].Now, Event: c.Event,
				})},
				store.Append{Log: conversation.Audit, ID: conversation.ID("threads/", c.Event), Kind: "threads", Data: row},
			},
		})
		switch {
		case errors.Is(err, store.ErrConflict) && try < threadTries-1:
			continue
		case err != nil:
			return "", fmt.Errorf("set threads of %s: %w", c.Where, err)
		}
		break
	}
	if policy == "" {
		return showThreads(ctx, c, where, fallback)
	}
	if where.Thread != "" {
		return said(policy) + threadsHere, nil
	}
	return said(policy) + threadsChannel, nil
}

// threadTries bounds how often a choice is made anew because others were faster.
const threadTries = 5
