package alarm

// The fixed texts, in one place so that they can be translated together.
const (
	textTrouble = "**Trouble: %s.** %s\n\nYou are told because you are named as an admin. I say it once, again only if it changes, and when it is over."
	textOver    = "**Over: %s.** It lasted %s."
	textWelcome = `Hello, I am **Herald**, and you are named as an admin of this installation. It is connected; these are the next steps:

1. Run ` + "`herald doctor`" + ` on the machine: it checks the model, the store, the agents and the rights of this app, and says what to mend.
2. Write to me here, or ` + "`/invite`" + ` me to a channel and mention me there.
3. ` + "`/herald help`" + ` lists the commands; ` + "`/herald rules`" + ` shows what agents may do, and what asks a person first.
4. Write agents of your own as folders under ` + "`agents.dir`" + `; ` + "`herald config explain`" + ` shows every setting.

What people write to me and what I answer is kept in this installation's store; those who run it can see it. When something breaks I tell you here, once.`
)
