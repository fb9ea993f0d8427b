// Command sabotage proves that the tests see what they are there for: it plants one defect after the other into a copy of the source and
// runs the test that must turn red.
//
//	sabotage [-run REGEXP] [-list]
//
// A defect that stays green is a hole in the tests, and the program ends with 1. So is a patch that does not compile or a test that is red
// without it.
//
// The package must not know what the defects mean to the tests; a patch is a piece of text in a file.
package main
