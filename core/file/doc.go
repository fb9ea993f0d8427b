// Package file reads what people attach to their messages: it decides by kind, size and content what a model may be shown, as text or as
// a picture, and says of everything else why it was not read.
//
// The bytes come from a [chat.Fetcher], the text of PDF files from a function: this package must not know platforms or what a turn does with
// a file. It trusts neither a name nor a type that was declared, and bounds what each file can cost.
package file
