package service

import (
	"herald/bots/console"
	"herald/core/chat"
)

// Operator is the identity of the account that runs this process, as the terminal knows it.
func Operator() chat.IdentityID { return console.IdentityOf(userName()) }
