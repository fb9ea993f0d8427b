// Package archtest holds the tests that read the module's own source and fail when its shape decays: a package that
// imports what its row of the table does not allow, an arrow that runs back up, a package without a package comment, a
// file that has grown too long, core code that names a platform.
//
// It has no code of its own to import. What each package may import stands in table_test.go; a new package needs a row.
package archtest
