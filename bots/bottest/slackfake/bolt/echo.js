// The echo bot on Slack's own SDK, as plain as its tutorial has it: the peer of measurements. It repeats each message where it was said, after
// DELAY_MS milliseconds when that is set. It says READY on a line of its own when it runs.
'use strict';

const { App, LogLevel } = require('@slack/bolt');

const { SLACK_API_URL, BOT_TOKEN, APP_TOKEN, DELAY_MS } = process.env;

const app = new App({
  token: BOT_TOKEN,
  appToken: APP_TOKEN,
  socketMode: true,
  logLevel: LogLevel.ERROR,
  clientOptions: { slackApiUrl: SLACK_API_URL },
});

app.message(async ({ message, say }) => {
  if (DELAY_MS) await new Promise((resolve) => setTimeout(resolve, Number(DELAY_MS)));
  await say({ text: message.text, thread_ts: message.thread_ts });
});

(async () => {
  await app.start();
  console.log('READY 0');
})();
