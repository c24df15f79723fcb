import { expect } from 'vitest';
import type { ResumableFrame } from '../../../src/wire/frames.ts';
import { pairingFaults } from '../log/paired-history.ts';
import { byTurn, checkTurn } from '../models/prescribed-turn.ts';
import { eventually } from '../project/eventually.ts';
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
  const callOf = ({ turnId, data }: FrameOf<'toolCall' | 'toolResult'>) => `${turnId} ${data.callId}`;
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
 */
export function checkMessages(sent: readonly Sent[], logs: Logs): void {
  for (const log of logs.values()) checkOrder(log);
  for (const { sessionId, content, isAcknowledged, response } of sent) {
    const log = logs.get(sessionId) ?? [];
    const message = log.find((frame) => isMessage(frame) && frame.data.content === content);
    if (isAcknowledged) expect(message, `the acknowledged message ${content}`).toBeDefined();
    if (response === undefined) continue;
    const end = log.find((frame) => endsTurn(frame) && frame.turnId === message?.turnId);
    expect(end, `the answer to ${content}`).toMatchObject({ event: 'response', data: { content: response } });
  }
  const known = new Set(sent.map(({ content }) => content));
  for (const frame of [...logs.values()].flat())
    if (isMessage(frame)) expect(known, 'the messages that were sent').toContain(frame.data.content);
}

function checkOrder(log: Log): void {
  const newest = new Map<string, number>();
  for (const { data } of log.filter(isMessage)) {
    const [, user = '', number] = /^work (\S+)-(\d+) /.exec(data.content) ?? [];
    expect(Number(number), data.content).toBeGreaterThan(newest.get(user) ?? 0);
    newest.set(user, Number(number));
  }
}

/** A fork that was acknowledged is there, and begins with exactly the past of the other session. */
export function checkForks(forks: readonly Forked[], logs: Logs): void {
  for (const { sessionId, from, at } of forks) {
    const log = logs.get(sessionId) ?? [];
    const forked = log.find(({ event }) => event === 'forked');
    expect(forked?.data, `the fork ${sessionId}`).toMatchObject({ from, ...(at !== null && { at }) });
    const moment = forked?.event === 'forked' ? forked.data.at : 0;
    expect(log.slice(0, moment)).toEqual(logs.get(from)?.slice(0, moment));
  }
}

/** Nothing was paid twice, and what a log says was paid has been. @param paid ids of the calls. */
export function checkPayments(paid: readonly string[], logs: Logs): void {
  expect(counted(paid)).toEqual(onceEach(paid));
  for (const log of logs.values()) {
    for (const call of log.filter(isCall)) {
      if (call.data.toolName !== 'pay') continue;
      const result = log.find(
        (frame) => isResult(frame) && frame.turnId === call.turnId && frame.data.callId === call.data.callId,
      );
      if (result?.event === 'toolResult' && result.data.error === undefined)
        expect(paid, 'what the log says was paid').toContain(call.data.arguments.id);
    }
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
  expect(record.events, name).toEqual(log);
  expect(pieceFaults(record.pieces, log, prescribedWork), name).toEqual([]);
  for (const { event, turnId, data } of log)
    if (event === 'response') expect({ content: record.textOf(turnId) }, name).toEqual(data);
}
