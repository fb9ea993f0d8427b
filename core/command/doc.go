// Package command is the table of bot commands: names, arguments, the least role, help, and how the answer of those that
// only read is made.
//
// [Table.Parse] decides, purely, whether a text is a command. Commands that change what a conversation does (stop, new) have
// no handler here: whoever received them writes their entry, and the holder of the conversation's turn carries it out and confirms.
//
// This package must not know platforms, nor how an answer reaches a person; it reads the store and writes nothing.
package command
