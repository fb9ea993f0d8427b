// An app on Slack's own SDK, for the tests of the fake Slack: it does the things that a bot does, over the socket or over HTTP.
// It says READY and its port (0 for a socket) on a line of its own when it runs, and takes all else from its environment.
'use strict';

const { App, Assistant, LogLevel, SocketModeReceiver } = require('@slack/bolt');

const { SLACK_API_URL, BOT_TOKEN, APP_TOKEN, SIGNING_SECRET, MODE, PATIENCE_MS } = process.env;
const socket = MODE === 'socket';
const clientOptions = { slackApiUrl: SLACK_API_URL };

// The SDK waits as long as for a pong before it opens a new socket: 5 s, unless it is told otherwise.
const receiver = () => new SocketModeReceiver({
  appToken: APP_TOKEN,
  logLevel: LogLevel.WARN,
  clientPingTimeout: Number(PATIENCE_MS),
  installerOptions: { clientOptions },
});

const app = new App({
  token: BOT_TOKEN,
  logLevel: LogLevel.WARN,
  clientOptions,
  ...(socket ? { receiver: receiver() } : { signingSecret: SIGNING_SECRET }),
});

// The echo, in the thread where there is one.
app.message(/^echo (.*)$/, async ({ context, message, say }) => {
  await say({ text: context.matches[1], thread_ts: message.thread_ts });
});

// A mention is answered in its thread, with a button.
app.event('app_mention', async ({ event, say }) => {
  await say({
    thread_ts: event.thread_ts ?? event.ts,
    text: `<@${event.user}> asked`,
    metadata: { event_type: 'answer', event_payload: { to: event.ts } },
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: `<@${event.user}> asked` } },
      { type: 'actions', block_id: 'row', elements: [
        { type: 'button', action_id: 'more', value: 'v1', text: { type: 'plain_text', text: 'More' } },
      ] },
    ],
  });
});

app.command('/herald', async ({ command, ack, respond }) => {
  await ack(`on it: ${command.text}`);
  await respond({ text: `done: ${command.text}`, response_type: 'in_channel' });
});

// The button opens a form; the form's first answer is refused, the second is told in the thread.
app.action('more', async ({ ack, body, action, client }) => {
  await ack();
  await client.views.open({
    trigger_id: body.trigger_id,
    view: {
      type: 'modal',
      callback_id: 'form',
      private_metadata: JSON.stringify({ channel: body.channel.id, thread: body.message.thread_ts, value: action.value }),
      title: { type: 'plain_text', text: 'Form' },
      submit: { type: 'plain_text', text: 'Send' },
      blocks: [{ type: 'input', block_id: 'name', label: { type: 'plain_text', text: 'Name' },
        element: { type: 'plain_text_input', action_id: 'text' } }],
    },
  });
});

app.view('form', async ({ ack, view, client }) => {
  const name = view.state.values.name.text.value;
  if (name === 'nobody') {
    await ack({ response_action: 'errors', errors: { name: 'somebody, please' } });
    return;
  }
  await ack();
  const { channel, thread, value } = JSON.parse(view.private_metadata);
  await client.chat.postMessage({ channel, thread_ts: thread, text: `${name} sent ${value}` });
});

// An answer in pieces by the stream methods.
app.message(/^stream$/, async ({ message, client, context }) => {
  const stream = client.chatStream({
    channel: message.channel,
    thread_ts: message.thread_ts ?? message.ts,
    recipient_team_id: context.teamId,
    recipient_user_id: message.user,
    buffer_size: 8,
  });
  for (let i = 0; i < 10; i++) {
    await stream.append({ markdown_text: `**part ${i}** ` });
  }
  await stream.stop({ markdown_text: 'the end' });
});

app.message(/^file$/, async ({ message, client }) => {
  await client.filesUploadV2({
    channel_id: message.channel,
    thread_ts: message.ts,
    initial_comment: 'as asked',
    filename: 'answer.csv',
    content: 'a,b\n1,2\n',
  });
});

app.message(/^edit$/, async ({ message, client }) => {
  const { ts } = await client.chat.postMessage({ channel: message.channel, text: 'draft', thread_ts: message.ts });
  await client.chat.update({ channel: message.channel, ts, text: 'final' });
  await client.reactions.add({ channel: message.channel, timestamp: message.ts, name: 'white_check_mark' });
});

app.message(/^look back$/, async ({ message, client, say }) => {
  const found = await client.conversations.replies({ channel: message.channel, ts: message.thread_ts, include_all_metadata: true });
  const who = await client.users.info({ user: message.user });
  const types = found.messages.map((m) => m.metadata?.event_type ?? '-');
  await say({ text: `${who.user.name}: ${types.join(' ')}`, thread_ts: message.thread_ts });
});

app.shortcut('wave', async ({ ack, shortcut, client }) => {
  await ack();
  const { channel } = await client.conversations.open({ users: shortcut.user.id });
  await client.chat.postMessage({ channel: channel.id, text: 'hello there' });
});

app.event('app_home_opened', async ({ event, client }) => {
  if (event.tab !== 'home') return;
  await client.views.publish({
    user_id: event.user,
    view: { type: 'home', blocks: [{ type: 'section', text: { type: 'mrkdwn', text: `home of <@${event.user}>` } }] },
  });
});

if (process.env.ASSISTANT) {
  app.assistant(new Assistant({
    threadStarted: async ({ say, setSuggestedPrompts, saveThreadContext }) => {
      await say('how can I help?');
      await setSuggestedPrompts({ title: 'Try', prompts: [{ title: 'One', message: 'do one' }] });
      await saveThreadContext();
    },
    userMessage: async ({ message, say, setStatus, setTitle }) => {
      await setTitle(message.text);
      await setStatus('is thinking');
      await say(`you said ${message.text}`);
    },
  }));
}

(async () => {
  const server = await app.start(0);
  console.log(`READY ${socket ? 0 : server.address().port}`);
})();
