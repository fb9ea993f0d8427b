// Package hostile holds the tests that treat a whole Herald badly, from outside and at every boundary: events, requests, files and answers
// of models that are malformed, huge, endless or cut off; platforms that fail in the middle of a call; secrets that somebody tries to get
// out; stores that an earlier version wrote. The service must say clearly what is wrong, stay up and lose nothing.
//
// It has no code of its own to import. Its tests know the service as its neighbours do: by its sockets, its files and what it says.
package hostile
