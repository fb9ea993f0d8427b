// Package alarm tells the admins: of trouble, once when it begins, when it changes at most once an hour, and once when it is over; and once what
// to do next after Herald was installed.
//
// Every process of an installation looks for its own trouble. What is known of each kind stands in one document, and the commit that changes it
// owes the words to the admins' direct messages: however many processes see the same trouble, and whenever one dies, each word is said once.
//
// It must not know what can be in trouble, nor platforms: both are passed in.
package alarm
