import { setImmediate as othersTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ResumableFrame } from '../../../src/wire/frames.ts';
import { pairingFaults } from '../log/paired-history.ts';
import { byTurn, checkTurn } from '../models/prescribed-turn.ts';
import { eventually } from '../project/eventually.ts';
import { expectSame } from '../project/expect-same.ts';
import { viewOf } from '../sessions/session-api.ts';
import { messageOf, pieceFaults } from '../sockets/prescribed-stream.ts';
import { endsTurn } from '../sockets/resuming-socket.ts';
import type { KilledService } from './killed-service.ts';
import { checkHistory } from './prescribed-history.ts';
import type { Watcher } from './session-watchers.ts';
import { prescribedWork } from './workload-script.ts';
import type { Forked, Sent } from './workload-user.ts';

export type Log = readonly ResumableFrame[];
/** By session. */
export type Logs = ReadonlyMap<string, Log>;
type FrameOf<E extends ResumableFrame['event']> = Extract<ResumableFrame, { event: E }>;

const isMessage = (frame: ResumableFrame): frame is FrameOf<'message'> => frame.event === 'message';
const isCall = (frame: ResumableFrame): frame is FrameOf<'toolCall'> => frame.event === 'toolCall';
const isResult = (frame: ResumableFrame): frame is FrameOf<'toolResult'> => frame.event === 'toolResult';

const callOf = ({ turnId, data }: FrameOf<'toolCall' | 'toolResult'>): string => `${turnId} ${data.callId}`;

/** The first frame with each key. */
function firstBy<F extends ResumableFrame>(
  frames: readonly F[],
  keyOf: (frame: F) => string,
): Map<string, F> {
  // The first one wins, because it comes last.
  return new Map(frames.toReversed().map((frame) => [keyOf(frame), frame]));
}

const counted = (names: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};
const onceEach = (names: readonly string[]): Map<string, number> => new Map(names.map((name) => [name, 1]));

/** Holds of every session: no hole, each turn once and as the script has it, each call one result, and so the history. */
export async function checkSession(service: KilledService, sessionId: string, log: Log): Promise<void> {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  const messages = log.filter(isMessage);
  expect(counted(messages.map(({ data }) => data.content))).toEqual(
    onceEach(messages.map(({ data }) => data.content)),
  );
  const turns = messages.map(({ turnId = '' }) => turnId);
  expect(counted(log.filter(endsTurn).map(({ turnId = '' }) => turnId))).toEqual(onceEach(turns));
  expect(counted(log.filter(isResult).map(callOf))).toEqual(onceEach(log.filter(isCall).map(callOf)));
  for (const frames of byTurn(log).values()) checkTurn(frames, prescribedWork(messageOf(frames)));
  const view = await viewOf(service, sessionId);
  expect(view).toMatchObject({
    status: 'idle',
    openTurnId: null,
    turns: { requested: turns.length, failed: 0, waiting: 0 },
  });
  expect(pairingFaults(view.history)).toEqual([]);
  checkHistory(view.history, log);
}

/**
 * What was acknowledged is there, with the answer that was given; nothing is there that nobody sent; and what one user
 * said is in the order in which it was said.
 * @param options.mayComeLate whether a message may be recorded after what its user said later.
 */
export async function checkMessages(
  sent: readonly Sent[],
  logs: Logs,
  { mayComeLate = () => false }: { readonly mayComeLate?: (content: string) => boolean } = {},
): Promise<void> {
  const bySession = Map.groupBy(sent, ({ sessionId }) => sessionId);
  for (const [sessionId, ofSession] of bySession) {
    checkAnswers(ofSession, logs.get(sessionId) ?? []);
    await othersTurn();
  }
  const known = new Set(sent.map(({ content }) => content));
  for (const log of logs.values()) {
    checkOrder(log, mayComeLate);
    const unknown = log.filter((frame) => isMessage(frame) && !known.has(frame.data.content));
    expect(unknown, 'messages that nobody sent').toEqual([]);
    await othersTurn();
  }
}

function checkAnswers(sent: readonly Sent[], log: Log): void {
  const messages = firstBy(log.filter(isMessage), ({ data }) => data.content);
  const ends = firstBy(log.filter(endsTurn), ({ turnId = '' }) => turnId);
  for (const { content, isAcknowledged, response } of sent) {
    const message = messages.get(content);
    if (isAcknowledged) expect(message, `the acknowledged message ${content}`).toBeDefined();
    if (response === undefined) continue;
    const end = ends.get(message?.turnId ?? '');
    expect(end, `the answer to ${content}`).toMatchObject({ event: 'response', data: { content: response } });
  }
}

function checkOrder(log: Log, mayComeLate: (content: string) => boolean): void {
  const newest = new Map<string, number>();
  for (const { data } of log.filter(isMessage)) {
    if (mayComeLate(data.content)) continue;
    const [, user = '', number] = /^work (\S+)-(\d+) /.exec(data.content) ?? [];
    expect(Number(number), data.content).toBeGreaterThan(newest.get(user) ?? 0);
    newest.set(user, Number(number));
  }
}

/** A fork that was acknowledged is there, and begins with exactly the past of the other session. */
export async function checkForks(forks: readonly Forked[], logs: Logs): Promise<void> {
  for (const { sessionId, from, at } of forks) {
    const log = logs.get(sessionId) ?? [];
    const forked = log.find(({ event }) => event === 'forked');
    expect(forked?.data, `the fork ${sessionId}`).toMatchObject({ from, ...(at !== null && { at }) });
    const moment = forked?.event === 'forked' ? forked.data.at : 0;
    expectSame(log.slice(0, moment), logs.get(from)?.slice(0, moment), `the past of ${sessionId}`);
    await othersTurn();
  }
}

/** Nothing was paid twice, and what a log says was paid has been. @param paid ids of the calls. */
export async function checkPayments(paid: readonly string[], logs: Logs): Promise<void> {
  expectSame(counted(paid), onceEach(paid), 'each payment once');
  const known = new Set<unknown>(paid);
  for (const log of logs.values()) {
    const results = firstBy(log.filter(isResult), callOf);
    const unpaid = log.filter(isCall).filter((call) => {
      const result = results.get(callOf(call));
      const isTold = call.data.toolName === 'pay' && result !== undefined && result.data.error === undefined;
      return isTold && !known.has(call.data.arguments.id);
    });
    expect(unpaid, 'what the log says was paid, and was not').toEqual([]);
    await othersTurn();
  }
}

/** What a watcher has seen over all lives is the log, event by event and character by character. */
export async function checkWatcher(watcher: Watcher, log: Log): Promise<void> {
  const { name, record, watching } = watcher;
  const caughtUp = eventually(
    async () => record.seq,
    (seq) => seq >= log.length,
  );
  await Promise.race([caughtUp, watching]);
  watcher.stop();
  await watching;
  expectSame(record.events, log, name);
  expect(pieceFaults(record.pieces, log, prescribedWork), name).toEqual([]);
  for (const { event, turnId, data } of log)
    if (event === 'response') expect({ content: record.textOf(turnId) }, name).toEqual(data);
}
