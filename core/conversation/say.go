package conversation

import "herald/core/store"

// SayKind is the kind of an entry whose data is a [Delivery] that another conversation is to say.
const SayKind = "say"

// OweSaying is the entry with which a partition owes conversation "to" a delivery. The id of d must be the same for the same thing to say.
func OweSaying(to store.Partition, d *Delivery) *Owed {
	d.V = Version
	return &Owed{ID: d.ID, Kind: SayKind, To: to, Data: Encode(d)}
}
