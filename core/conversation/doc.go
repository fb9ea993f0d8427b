// Package conversation is the layout of a conversation's partition: what intake, the engine and the outbox write into it,
// each as a typed document, and the reads and operations for them. It is written once, above the storage port.
//
//	collection  name                 what                                         written by
//	inbox       <order>~<message>    a message that no turn has taken yet         intake; removed by the turn's holder
//	control     <order>~<id>         stop, new, edit, delete: not yet applied     intake; removed by the turn's holder
//	session     current              the open session: state, start of its log    the turn's holder
//	session     head                 the newest stop; guards answers and tools    intake
//	session     suspect              how often the turn under way crashed alone   the turn's holder
//	session     bypass               what a person let through for a while        clicks; ended by the turn's holder
//	session     threads              which messages of threads are for Herald     the command of that name
//	session     context              the run context: rights, folder, prompt      whoever binds it
//	outbox      <delivery>           a delivery that is not settled yet           turn's holder, intake; outbox
//	sent        <delivery>           a settled delivery                           outbox
//	wait        <wait>               an approval, question or timer, its outcome  the turn's holder; clicks
//	waited      <wait>               a wait that is over                          the turn's holder
//	session     task                 what a task is begun with, in its own place  handover takers
//	task        <task>               a task that was begun here, and its state    the turn's holder; handover takers
//	handover    <id>                 what this partition owes another             whoever causes it; handover worker
//	turn        <turn>               the record of a finished turn, for why       the turn's holder
//	again       <turn>               a failed turn that was started over          clicks
//	copy        <wait>               where the wait stands whose card has a copy here   handover takers
//	pace        place                a place in the pace that the outbox waits for    outbox
//	suspect     delivery             how often a delivery crashed alone           outbox
//	buried      <delivery>           a delivery that was given up                 outbox
//	taken       <id>                 a handover that this partition has taken     handover takers
//	handover-tries <id>              attempts at a handover                       handover worker
//	log "log"                        the events of all sessions, one after another
//	log "audit"                      commands that changed something
//	index "dedupe"                   keys of the events that were taken in, by time
//
// It decides nothing: it must not know when a turn runs or a delivery is sent.
package conversation
