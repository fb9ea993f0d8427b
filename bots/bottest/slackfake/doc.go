// Package slackfake is a Slack for tests: workspaces with members, channels, direct messages and threads behind real HTTP and real
// WebSockets on loopback. It answers the Web API methods that a bot calls, delivers events over Socket Mode or as signed HTTP
// requests, sends again what was not acknowledged, keeps Slack's limits with Slack's error names, fails on demand, and remembers in
// order all that it was told.
//
// It runs in the test's own process, survives the death of the app and says afterwards what a person would have seen. People act
// through its methods ([Server.Say], [Server.Click], [Server.Command] and their like). It must know nothing of the app: neither adapters nor
// core, and no Slack library; what it holds of Slack is checked by the official JavaScript SDK in the folder bolt.
package slackfake
