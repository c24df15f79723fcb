import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../../src/core/log/envelope.ts';
import { currentEvents } from '../../../src/core/log/event-codec.ts';
import { SessionEvent } from '../../../src/core/log/events.ts';
import { encodeSnapshot, SnapshotDecoder } from '../../../src/core/session/session-snapshot.ts';
import { evolve, initialSessionState, type SessionState } from '../../../src/core/session/session-state.ts';
import { SNAPSHOT_VERSION } from '../../../src/core/session/snapshot-part.ts';
import { randomHistory } from '../../support/log/random-history.ts';

const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1);

function fold(envelopes: readonly Envelope[], from = initialSessionState()): SessionState {
  return envelopes.reduce((state, { event }) => evolve(state, event), from);
}

function snapshotOf(envelopes: readonly Envelope[]): string[] {
  const last = envelopes.at(-1);
  if (!last) throw new Error('there is no snapshot of nothing');
  return [...encodeSnapshot(fold(envelopes), last)];
}

/** Undefined when a part is refused. */
function decoded(parts: readonly string[]): SnapshotDecoder | undefined {
  const decoder = new SnapshotDecoder();
  return parts.every((part) => decoder.take(part)) ? decoder : undefined;
}

describe('a snapshot of a session', () => {
  it.each(SEEDS)('folds on to the same state as all events, from after each of them (history %i)', (seed) => {
    const history = randomHistory(seed, 60);
    expect(history.length).toBeGreaterThan(40);
    const whole = fold(history);
    for (const [index, last] of history.entries()) {
      const past = history.slice(0, index + 1);
      const decoder = decoded(snapshotOf(past));
      expect(decoder?.state).toStrictEqual(fold(past));
      expect(decoder?.isAfter(last)).toBe(true);
      expect(fold(history.slice(index + 1), decoder?.state)).toStrictEqual(whole);
    }
  });

  it('was tried with every event, and with all that a state can hold', () => {
    const histories = SEEDS.map((seed) => randomHistory(seed, 60));
    const types = new Set(histories.flat().map(({ event }) => event.type));
    const possible = SessionEvent.options.map((option) => option.shape.type.value);
    // A deleted session is never snapshotted.
    expect([...types].sort()).toEqual(possible.filter((type) => type !== 'session.deleted').sort());
    const states = histories.flatMap((history) =>
      history.map((_, index) => fold(history.slice(0, index + 1))),
    );
    const outcomes = states.flatMap(({ keys }) => [...keys.values()].map((key) => key.outcome?.status));
    expect(new Set(outcomes)).toEqual(new Set([undefined, 'completed', 'failed', 'cancelled']));
    expect(states.some(({ waiting }) => waiting.some(({ image }) => image))).toBe(true);
    expect(states.some(({ open }) => (open?.unsettled.size ?? 0) > 1 && open?.image)).toBe(true);
    const messages = states.flatMap(({ transcript }) => transcript);
    const fields = messages.flatMap((message) => Object.keys(message).map((key) => `${message.role} ${key}`));
    expect(new Set(fields)).toEqual(
      new Set([
        ...['user role', 'user text', 'user images', 'user imagesLeftOut', 'user leftOut', 'user correction'],
        ...['assistant role', 'assistant parts', 'assistant source', 'assistant cut', 'assistant leftOut'],
        ...['tool role', 'tool callId', 'tool name', 'tool text', 'tool leftOut'],
      ]),
    );
    const parts = messages.flatMap((message) => (message.role === 'assistant' ? message.parts : []));
    const kinds = parts.map((part) => `${part.type}${'opaque' in part ? ' opaque' : ''}`);
    expect(new Set(kinds)).toEqual(
      new Set(['text', 'text opaque', 'refusal', 'reasoning', 'opaque', 'toolCall', 'toolCall opaque']),
    );
    expect(states.some(({ refusals }) => refusals.inARow > 1)).toBe(true);
    expect(states.some(({ refusals }) => refusals.maxTokens !== null)).toBe(true);
    const finished = states.flatMap(({ keys }) => [...keys.values()].map(({ outcome }) => outcome ?? {}));
    expect(finished.some((outcome) => 'finishReason' in outcome)).toBe(true);
  });

  it('holds the state as it was when it was asked for, whatever is folded in while it is made', () => {
    const history = randomHistory(1, 60);
    const state = fold(history.slice(0, 20));
    const last = history[19];
    if (!last) throw new Error('the history is too short');
    const parts = encodeSnapshot(state, last);
    fold(history.slice(20), state);
    expect(decoded([...parts])?.state).toStrictEqual(fold(history.slice(0, 20)));
  });

  it('comes in parts of bounded size, however long the conversation and however many its keys', () => {
    const history = Array.from({ length: 2_000 }, (_, index) => longTurn(index)).flat();
    const parts = snapshotOf(history);
    expect(parts.length).toBeGreaterThan(5);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(300_000);
    expect(decoded(parts)?.state).toStrictEqual(fold(history));
  });

  it('tells the event it was taken after from any other in its place', () => {
    const history = randomHistory(1, 20);
    const decoder = decoded(snapshotOf(history));
    const last = history.at(-1);
    if (!last) throw new Error('the history is empty');
    const other: SessionEvent = { type: 'session.reset' };
    expect(decoder?.isAfter(last)).toBe(true);
    expect(decoder?.isAfter({ ...last, seq: last.seq - 1 })).toBe(false);
    expect(decoder?.isAfter({ ...last, time: last.time + 1 })).toBe(false);
    expect(decoder?.isAfter({ ...last, event: other })).toBe(false);
    expect(decoder?.isAfter({ ...last, event: { type: 'turn.started', turnId: 'another' } })).toBe(false);
  });

  it.each([
    ['another version', (head: string) => head.replace('"version":5', '"version":4')],
    ['a field that is not known', (head: string) => head.replace('"seq":', '"mood":"good","seq":')],
    ['a field less', (head: string) => head.replace('"deleted":false', '"counts":null')],
    ['another shape', () => '[]'],
  ])('is refused when it has %s', (_, change) => {
    const [head = '', ...pages] = snapshotOf(randomHistory(1, 20));
    expect(decoded([head, ...pages])).toBeDefined();
    expect(change(head)).not.toBe(head);
    expect(decoded([change(head), ...pages])).toBeUndefined();
  });

  it('is refused when a message has another shape', () => {
    const [head = '', ...pages] = snapshotOf(randomHistory(1, 20));
    expect(decoded([head, ...pages, '{"transcript":[{"role":"user"}]}'])).toBeUndefined();
  });

  it('has this digest after a recorded history: when it changes, raise SNAPSHOT_VERSION with it', async () => {
    const lines = await readFile(new URL('../../fixtures/history.jsonl', import.meta.url), 'utf8');
    const recorded = lines.trim().split('\n');
    const history = recorded.map((line, index) => ({
      sessionId: 's',
      seq: index + 1,
      time: index,
      event: SessionEvent.parse(currentEvents.decode(line).event),
      meta: null,
    }));
    const snapshots = history.map((_, index) => snapshotOf(history.slice(0, index + 1)));
    expect({ version: SNAPSHOT_VERSION, digest: hash('sha256', JSON.stringify(snapshots)) }).toEqual({
      version: 5,
      digest: 'e100c6d20d48703d8a6b56f09f43c4d300258c727ad5dca051af9f81c656fc66',
    });
  });
});

/** The events of one turn, a kilobyte long and with a key. */
function longTurn(index: number): Envelope[] {
  const turnId = `turn-${index}`;
  const key = { id: `key-${index}`, fingerprint: '', expiresAt: 1 };
  const events: SessionEvent[] = [
    { type: 'turn.requested', turnId, text: 'x'.repeat(500), key },
    { type: 'turn.started', turnId },
    { type: 'turn.completed', turnId, content: 'y'.repeat(500) },
  ];
  return events.map((event, position) => ({
    sessionId: 's',
    seq: index * 3 + position + 1,
    time: 1,
    event,
    meta: null,
  }));
}
