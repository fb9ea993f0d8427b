package web

// What tests of this package look at.
var (
	Control = control
	Extract = extract
)
