// Package web holds the tools that read the web: web_fetch and web_search.
//
// A page is fetched without credentials, within limits of size and time, and from public addresses alone. The address is judged when the
// connection is made, after the name was resolved, so that neither a redirect nor a name that changes its address leads inside. What a page says
// is data, and is marked as such.
//
// The package must not know who may call what, nor where its settings come from.
package web
