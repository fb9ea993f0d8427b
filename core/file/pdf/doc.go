// Package pdf takes the text out of PDF files.
//
// It is the one folder that knows PDFium. The library runs as WebAssembly inside of this process, without files, network or clock, with a
// bounded memory and a bounded time: a hostile file ends in an error and can do nothing else. It must not know where a file comes from.
package pdf
