// Package markup turns Markdown into what a platform shows, and what a platform sends back into Markdown.
//
// A text is parsed once into a small tree ([Document]). From the tree come a dialect's text ([Document.Text], a [Dialect] being
// data), Slack's blocks ([Document.Blocks]) and plain text. [Document.Pieces] cuts a tree so that each piece fits its message after it
// was rendered: at the bounds of blocks where it can, inside of a block where it must, never inside of a token, an entity, a
// character as people see it, and never without closing a fence. Nothing is lost: [Join] gives the tree back.
//
// Whatever the text says, a mention or a disguised link becomes live only where a [Policy] lets it: everything that a platform would read as
// a token of its own leaves here as text. Known secrets, sending, and the unfurling of bare links are not this package's business.
//
// It must not know any SDK, network, clock or session: all functions are pure.
package markup
