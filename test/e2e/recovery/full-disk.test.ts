import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { contentsOf } from '../../support/log/event-log-damage.ts';
import { pairingFaults } from '../../support/log/paired-history.ts';
import { SmallDisk, whyNoDisk } from '../../support/log/small-disk.ts';
import { OpenAiUpstream, type UpstreamReply } from '../../support/models/openai-upstream.ts';
import { eventually } from '../../support/project/eventually.ts';
import { skipAloud } from '../../support/project/skip-aloud.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { type ListeningService, ServiceProcess } from '../../support/service/service-process.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { readLog } from '../../support/sessions/session-log.ts';
import { verifies } from '../requirements.ts';

const MEGABYTE = 1024 * 1024;
/** The write-ahead log alone takes about four. */
const DISK_BYTES = 16 * MEGABYTE;
const MESSAGE = 'x'.repeat(20_000);
const OPEN = ['open-1', 'open-2', 'open-3'];
const TALKERS = ['talker-1', 'talker-2', 'talker-3'];
const UNLIMITED = { requestsPerMinute: false, messagesPerMinute: false, requestBytes: false };

const Sessions = z.looseObject({ sessions: z.array(z.looseObject({ status: z.string() })) });

/** A service of its own process on a small disk, and the model that it asks. */
async function onSmallDisk(test: Parameters<typeof SmallDisk.mount>[1]) {
  const disk = await SmallDisk.mount(DISK_BYTES, test);
  const upstream = await OpenAiUpstream.listen();
  const llm = { provider: 'openai', model: 'gpt-test', baseURL: upstream.baseURL, apiKey: 'none' };
  const folder = await agentFolder(JSON.stringify({ llm, limits: UNLIMITED }));
  const dataDir = join(disk.path, 'data');
  const args = ['--agent', 'agent.yml', '--data-dir', dataDir];
  const cwd = folder.path;
  const start = () => ServiceProcess.listening(args, { cwd });
  const dispose = async () => {
    await upstream[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  };
  return { disk, upstream, dataDir, args, cwd, start, [Symbol.asyncDispose]: dispose };
}

/**
 * Begins a turn in each session whose reply does not come before the gate opens.
 * @param asked how often the model was asked so far.
 */
async function openTurns(service: ListeningService, upstream: OpenAiUpstream, asked = 0) {
  const gate = Promise.withResolvers<void>();
  const reply: UpstreamReply = {
    stream: [{ text: 'At ' }, { gate: gate.promise }, { text: 'last.' }, { finish: 'stop' }, { done: true }],
  };
  const answers: Promise<Response>[] = [];
  for (const [index, sessionId] of OPEN.entries()) {
    upstream.replyWith(reply);
    answers.push(service.post('/api/message-sync', { message: 'wait for it', sessionId }));
    await upstream.request(asked + index);
    // The model is called while the message is being recorded, which a full disk would refuse.
    await eventually(
      () => requested(service, sessionId),
      (count) => count === 1,
    );
  }
  // A kill of the service cuts them off.
  return { answers: Promise.allSettled(answers), release: () => gate.resolve() };
}

/** Says one message after the other until one is refused. @returns how many were answered, and the refusal. */
async function talkUntilRefused(service: ListeningService, sessionId: string) {
  for (let answered = 0; ; answered += 1) {
    const response = await service.post('/api/message-sync', { message: MESSAGE, sessionId });
    if (response.status !== 200) return { answered, refusal: response };
  }
}

/** A new message cannot be recorded, not even a short one. */
async function expectFull(service: ListeningService): Promise<void> {
  for (const path of ['/api/message-sync', '/api/message']) {
    const refused = await service.post(path, { message: MESSAGE, sessionId: 'late' });
    expect(refused.headers.get('Retry-After')).toBe('10');
    expect(await errorOf(refused, 503)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { reason: 'the disk of the service is full', retryAfter: 10 },
    });
  }
  // Nobody has asked before, so the answer is not an old one.
  expect(await errorOf(await service.fetch('/readyz'), 503)).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    details: { reason: expect.stringContaining('the event log cannot be written') },
  });
  expect((await service.fetch('/healthz')).status).toBe(200);
}

function logsOf(service: ListeningService, sessions: readonly string[]) {
  return Promise.all(sessions.map((sessionId) => readLog(service, sessionId)));
}

/** Runs each session again from what is on the disk, without the service. */
async function expectReplays(dataDir: string, sessions: readonly string[]): Promise<void> {
  for (const sessionId of sessions) {
    await using replay = new ServiceProcess(['replay', sessionId, '--data-dir', dataDir]);
    expect(await replay.ended).toMatchObject({ code: 0, stderr: '' });
  }
}

/** How often the client said something that the service took, which may have been without an answer. */
const requested = async (service: ListeningService, sessionId: string): Promise<number> =>
  (await viewOf(service, sessionId)).turns.requested;

describe('a disk that is full', () => {
  verifies(
    'recovery.full',
    'while it is, and after a kill',
    async (test) => {
      skipAloud(test, whyNoDisk());
      await using setup = await onSmallDisk(test);
      const { disk, upstream, dataDir, start } = setup;
      await using service = await start();
      const { answers, release } = await openTurns(service, upstream);

      disk.fill(4 * MEGABYTE);
      const talks = await Promise.all(TALKERS.map((sessionId) => talkUntilRefused(service, sessionId)));
      expect(talks.every(({ answered }) => answered > 5)).toBe(true);
      disk.fill();
      await expectFull(service);
      const before = await logsOf(service, TALKERS);
      const responses = before.map((log) => log.filter(({ event }) => event === 'response').length);
      expect(responses).toEqual(talks.map(({ answered }) => answered));

      release();
      for (const answer of await answers) {
        if (answer.status === 'rejected') throw answer.reason;
        expect((await errorOf(answer.value, 500)).code).toBe('INTERNAL_ERROR');
      }

      disk.free();
      await allIdle(service);
      expect(
        (
          await eventually(
            () => service.fetch('/readyz'),
            ({ ok }) => ok,
          )
        ).status,
      ).toBe(200);
      await expectAnswered(service, 'late');

      const sessions = [...OPEN, ...TALKERS, 'late'];
      const logs = await logsOf(service, sessions);
      for (const [index, log] of before.entries()) {
        expect(logs[OPEN.length + index]?.slice(0, log.length)).toEqual(log);
      }
      await expectSound(service, sessions);
      // What was refused for the moment is not there; what was told to have taken effect is.
      expect(await requested(service, 'late')).toBe(1);
      for (const [index, { answered, refusal }] of talks.entries()) {
        const taken = refusal.status === 503 ? answered : answered + 1;
        expect(await requested(service, TALKERS[index] ?? '')).toBe(taken);
      }

      await kill(service);
      await expectReplays(dataDir, sessions);
      await using again = await start();
      expect(await logsOf(again, sessions)).toEqual(logs);
      await expectAnswered(again, 'late');
    },
    90_000,
  );

  verifies(
    'recovery.full',
    'a start without any space says what is missing and changes nothing',
    async (test) => {
      skipAloud(test, whyNoDisk());
      await using setup = await onSmallDisk(test);
      const { disk, upstream, dataDir, args, cwd, start } = setup;
      const sessions = ['early', ...OPEN];
      await using service = await start();
      await expectAnswered(service, 'early');
      const { answers } = await openTurns(service, upstream, 1);
      disk.fill();
      const before = await logsOf(service, sessions);
      await kill(service);
      await answers;

      const files = contentsOf(dataDir);
      await using refused = new ServiceProcess(args, { cwd });
      expect(await refused.ended).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^agent-service: cannot open .*events\.db: .*free some space on its disk\n$/,
        ),
      });
      expect(contentsOf(dataDir)).toEqual(files);

      disk.free();
      await using again = await start();
      await allIdle(again);
      await expectAnswered(again, 'early');
      await expectSound(again, sessions);
      for (const [index, log] of (await logsOf(again, sessions)).entries()) {
        expect(log.slice(0, before[index]?.length)).toEqual(before[index]);
      }
      await kill(again);
      await expectReplays(dataDir, sessions);
    },
    90_000,
  );
});

async function kill(service: ListeningService): Promise<void> {
  service.process.kill('SIGKILL');
  await service.process.ended;
}

/** By the list alone: whoever asks for a session has it loaded, and its turn go on. */
async function allIdle(service: ListeningService): Promise<void> {
  const list = async () => Sessions.parse(await (await service.fetch('/api/sessions')).json()).sessions;
  await eventually(list, (sessions) => sessions.every(({ status }) => status === 'idle'));
}

async function expectAnswered(service: ListeningService, sessionId: string): Promise<void> {
  expect((await service.post('/api/message-sync', { message: 'hello', sessionId })).status).toBe(200);
}

/** Each message has its answer, each call its result. */
async function expectSound(service: ListeningService, sessions: readonly string[]): Promise<void> {
  for (const sessionId of sessions) {
    const { history, turns } = await viewOf(service, sessionId);
    expect(pairingFaults(history)).toEqual([]);
    expect(turns).toMatchObject({ failed: 0, cancelled: 0, waiting: 0, completed: turns.requested });
  }
}
