import { describe, expect } from 'vitest';
import { z } from 'zod';
import { MachineFrame, ResumableFrame, ServerFrame } from '../../../src/wire/frames.ts';
import { AsyncApi, type DocumentedMessage, messagesOf } from '../../support/documents/async-api-messages.ts';
import { differences } from '../../support/documents/example-difference.ts';
import { payloadCheck } from '../../support/documents/json-schema-check.ts';
import { documentedAgent } from '../../support/service/documented-service.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { RecordingSocket } from '../../support/sockets/recording-socket.ts';
import { withAskingTools } from '../../support/tools/asking-tools.ts';
import { verifies } from '../requirements.ts';

const yaml = JSON.stringify({
  ...documentedAgent,
  mcpServers: {
    everything: documentedAgent.mcpServers.everything,
    asking: documentedAgent.mcpServers.asking,
  },
  approval: { rules: [{ tool: 'get-sum', policy: 'ask' }] },
  limits: { connectionsPerAddress: false },
});

const StreamFrame = z.union([ResumableFrame, MachineFrame]);

/** Where a frame stands depends on what was said before, as does how much it cost. */
const LOOSE = [
  'seq',
  'step',
  'offset',
  'after',
  'head',
  'from',
  'at',
  'inputTokens',
  'outputTokens',
  'expiresAt',
];

/** A socket that resumes nothing, and one that resumes from the beginning. */
class Reader implements Disposable {
  readonly plain: RecordingSocket;
  readonly resuming: RecordingSocket;

  constructor(service: RunningService, session: string) {
    const url = `ws://127.0.0.1:${service.port}/?session=${session}`;
    this.plain = new RecordingSocket(url);
    this.resuming = new RecordingSocket(`${url}&after=0`);
  }

  async ready(): Promise<void> {
    await Promise.all([this.plain.opened, this.resuming.until('resumed')]);
  }

  [Symbol.dispose](): void {
    this.plain[Symbol.dispose]();
    this.resuming[Symbol.dispose]();
  }
}

async function documentOf(service: RunningService): Promise<AsyncApi> {
  return AsyncApi.parse(await (await service.fetch('/asyncapi.json')).json());
}

function exampleOf(messages: readonly DocumentedMessage[], type: string, index = 0): object {
  const example = messages.find(({ id }) => id === `client.${type}`)?.examples[index];
  if (!example) throw new Error(`there is no example ${index} of ${type}`);
  return example;
}

/** All that a client may send, as the document shows it: each has the effect that is waited for. */
async function sendEverything(
  service: RunningService,
  {
    reader,
    denied,
    lent,
    asked,
    sampled,
  }: Record<'reader' | 'denied' | 'lent' | 'asked' | 'sampled', Reader>,
): Promise<void> {
  const client = messagesOf(await documentOf(service), 'client');
  const { plain, resuming } = reader;
  plain.send(exampleOf(client, 'message'));
  await plain.until('toolApproval');
  plain.send(exampleOf(client, 'approve'));
  await plain.until('response');
  resuming.send(exampleOf(client, 'message', 1));
  await plain.until('response', 2);
  resuming.send(exampleOf(client, 'message', 1));
  await resuming.until('accepted');
  plain.send({ type: 'message', content: 'take your time' });
  await plain.until('thinking', 3);
  plain.send(exampleOf(client, 'cancel'));
  await plain.until('error');
  plain.send(exampleOf(client, 'reset'));
  await resuming.until('reset');
  await rename(service, 'read', 'Sums');
  await resuming.until('renamed');
  await service.post('/v1/conversations/read', { metadata: { topic: 'sums' } });
  await resuming.until('described');
  resuming.send(exampleOf(client, 'cancel', 1));
  await resuming.until('done');
  plain.send({ type: 'hello' });
  resuming.send({ type: 'hello' });
  await plain.until('error', 2);
  denied.plain.send(exampleOf(client, 'message'));
  await denied.plain.until('toolApproval');
  denied.plain.send({ type: 'message', content: 'hello' });
  await denied.plain.until('queued');
  denied.resuming.send({ type: 'message', content: 'hello' });
  await denied.resuming.until('queued');
  denied.plain.send(exampleOf(client, 'deny'));
  await denied.plain.until('toolResult');
  await Promise.all([denied.plain.until('response'), denied.resuming.until('response')]);
  lent.resuming.send(exampleOf(client, 'message', 2));
  await Promise.all([lent.plain.until('clientToolCall'), lent.resuming.until('clientToolCall')]);
  lent.resuming.send(exampleOf(client, 'toolResult'));
  await Promise.all([lent.resuming.until('done'), lent.plain.until('response')]);
  asked.plain.send({ type: 'message', content: 'use order_tea {}' });
  await Promise.all([asked.plain.until('inputRequired'), asked.resuming.until('inputRequired')]);
  asked.resuming.send(exampleOf(client, 'inputAnswer'));
  await Promise.all([asked.resuming.until('inputAnswered'), asked.plain.until('response')]);
  sampled.plain.send({ type: 'message', content: 'use name_tea {}' });
  await Promise.all([sampled.resuming.until('sampled'), sampled.plain.until('response')]);
  lent.resuming.send({ type: 'message', content: 'hello', outputSchema: { type: 'object' } });
  await lent.resuming.until('outputRejected');
  await lent.plain.until('error');
  await service.post('/v1/conversations/lent/items', {
    items: [{ role: 'user', content: 'My name is Ann.' }],
  });
  await lent.resuming.until('extended');
}

/** A client that watches the machines while a tool server is disconnected. */
async function watchMachines(service: RunningService): Promise<RecordingSocket> {
  using watcher = new RecordingSocket(
    `ws://127.0.0.1:${service.port}/?session=watched&after=0&statecharts=1`,
  );
  await watcher.until('machines');
  await service.fetch('/api/mcp/servers/everything', { method: 'DELETE' });
  await watcher.until('machine');
  return watcher;
}

function rename(service: RunningService, session: string, title: string): Promise<Response> {
  return service.fetch(`/api/sessions/${session}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ title }),
  });
}

/** What only a fork, a deletion and a restart bring about. */
async function liveThroughTheRest(dataDir: string): Promise<RecordingSocket[]> {
  const url = (service: RunningService, session: string) =>
    `ws://127.0.0.1:${service.port}/?session=${session}&after=0`;
  await using before = await RunningService.start({ yaml, dataDir, wraps: withAskingTools });
  await before.post('/api/message-sync', { message: 'hello', sessionId: 'parent' });
  await before.post('/api/sessions/parent/fork', { sessionId: 'child' });
  using child = new RecordingSocket(url(before, 'child'));
  await child.until('forked');
  await before.fetch('/api/sessions/child', { method: 'DELETE' });
  await child.until('deleted');
  await before.post('/api/message', { message: 'take your time', sessionId: 'resumed' });
  await before.close();
  await using after = await RunningService.start({ yaml, dataDir, wraps: withAskingTools });
  using resumed = new RecordingSocket(url(after, 'resumed'));
  await resumed.until('turnResumed');
  return [child, resumed];
}

/** Each example must have come, and each frame must be as its message says. */
function faultsOf(messages: readonly DocumentedMessage[], frames: readonly unknown[]): string[] {
  const checks = new Map(messages.map(({ id, payload }) => [id.split('.')[1], payloadCheck(payload)]));
  const unlike = frames.flatMap((frame) => {
    const { event } = StreamFrame.parse(frame);
    return checks.get(event)?.(frame) ?? [`${event} is not documented`];
  });
  const missing = messages.flatMap(({ id, examples }) =>
    examples.flatMap((example) => {
      const closest = frames
        .map((frame) => differences(example, frame, LOOSE))
        .sort((a, b) => a.length - b.length)[0];
      return closest?.length === 0 ? [] : [`${id}: ${closest?.join(', ') ?? 'nothing came'}`];
    }),
  );
  return [...unlike, ...missing];
}

describe('the frames in the documents', () => {
  verifies('documents.frame-examples', async () => {
    await using folder = await tempDirectory();
    const rest = await liveThroughTheRest(folder.path);
    await using service = await RunningService.start({ yaml, wraps: withAskingTools });
    using reader = new Reader(service, 'read');
    using denied = new Reader(service, 'denied');
    using lent = new Reader(service, 'lent');
    using asked = new Reader(service, 'asked');
    using sampled = new Reader(service, 'sampled');
    const readers = { reader, denied, lent, asked, sampled };
    await Promise.all(Object.values(readers).map((one) => one.ready()));
    await sendEverything(service, readers);

    const document = await documentOf(service);
    const plain = Object.values(readers).flatMap(({ plain: one }) => one.frames);
    expect(plain.map((frame) => ServerFrame.parse(frame))).toEqual(plain);
    expect(faultsOf(messagesOf(document, 'server'), plain)).toEqual([]);

    const watcher = await watchMachines(service);
    const resumable = [...Object.values(readers).map(({ resuming }) => resuming), watcher, ...rest].flatMap(
      ({ frames }) => frames,
    );
    expect(resumable.map((frame) => StreamFrame.parse(frame))).toEqual(resumable);
    expect(faultsOf(messagesOf(document, 'resumable'), resumable)).toEqual([]);
  });

  verifies(
    'documents.frame-examples',
    'and one that never comes, or is not documented, would be noticed',
    async () => {
      await using service = await RunningService.start();
      const messages = messagesOf(await documentOf(service), 'server');
      const examples = messages.flatMap((message) => message.examples);
      expect(examples.length).toBeGreaterThan(8);
      expect(faultsOf(messages, examples)).toEqual([]);
      expect(faultsOf(messages, examples.slice(1))).toHaveLength(1);
      expect(faultsOf(messages, [...examples, { event: 'reset', data: {} }])).toHaveLength(1);
    },
  );
});
