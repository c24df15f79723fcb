import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import type { SessionSignal } from '../../../src/core/session/session-signal.ts';
import { StreamCursor } from '../../../src/core/session/stream-cursor.ts';
import { stepCompleted } from '../../support/models/steps.ts';

const event = (seq: number, fact: SessionEvent): SessionSignal => ({
  sessionId: 's',
  seq,
  time: 0,
  event: fact,
  meta: null,
});
const chunk = (step: number, offset: number, content: string): SessionSignal => ({
  type: 'reply.chunk',
  sessionId: 's',
  turnId: 't',
  step,
  offset,
  content,
});
const thought = (step: number, offset: number, content: string): SessionSignal => ({
  type: 'reply.reasoning',
  sessionId: 's',
  turnId: 't',
  step,
  offset,
  content,
});
const started = event(1, { type: 'turn.started', turnId: 't' });
const stepped = (seq: number, step: number, text: string, separator = ''): SessionSignal =>
  event(seq, stepCompleted({ turnId: 't', step, text, separator }));
const cancelled = (seq: number, partial: string, step = 1): SessionSignal =>
  event(seq, {
    type: 'turn.cancelled',
    turnId: 't',
    cause: { kind: 'cancelled' },
    reason: 'r',
    step,
    separator: '',
    partial,
  });

/** The text that a reader puts together, and the events it sees. */
function readAll(cursor: StreamCursor, signals: readonly SessionSignal[]) {
  const taken = signals.flatMap((signal) => cursor.take(signal));
  const text = taken.map((signal) => ('content' in signal ? signal.content : '')).join('');
  const seqs = taken.flatMap((signal) => ('seq' in signal ? [signal.seq] : []));
  return { text, seqs };
}

describe('the stream cursor', () => {
  it('passes live signals on as they are', () => {
    const cursor = new StreamCursor({ seq: 0, offset: 0 });
    const signals = [started, chunk(1, 0, 'Hel'), chunk(1, 3, 'lo'), stepped(2, 1, 'Hello')];
    expect(signals.flatMap((signal) => cursor.take(signal))).toEqual(signals);
  });

  it('drops what the reader has', () => {
    const cursor = new StreamCursor({ seq: 1, offset: 3 });
    expect(readAll(cursor, [started, chunk(1, 0, 'Hel'), chunk(1, 3, 'lo')])).toEqual({
      text: 'lo',
      seqs: [],
    });
  });

  it('gives the rest of a chunk of which the reader has the beginning', () => {
    const [rest] = new StreamCursor({ seq: 1, offset: 2 }).take(chunk(1, 0, 'Hello'));
    expect(rest).toEqual(chunk(1, 2, 'llo'));
  });

  it('gives the text that the reader missed before the event that holds it', () => {
    const cursor = new StreamCursor({ seq: 1, offset: 2 });
    const taken = cursor.take(stepped(2, 1, 'Hello'));
    expect(taken).toEqual([chunk(1, 2, 'llo'), stepped(2, 1, 'Hello')]);
    expect(cursor.take(chunk(2, 0, 'More'))).toEqual([chunk(2, 0, 'More')]);
  });

  it('counts the separator as text of its step', () => {
    const cursor = new StreamCursor({ seq: 1, offset: 1 });
    expect(cursor.take(stepped(2, 2, 'More', '\n\n'))[0]).toEqual(chunk(2, 1, '\nMore'));
  });

  it('gives the rest of the partial text of a turn that was cancelled', () => {
    const { text, seqs } = readAll(new StreamCursor({ seq: 1, offset: 1 }), [cancelled(2, 'Hel')]);
    expect({ text, seqs }).toEqual({ text: 'el', seqs: [2] });
  });

  it('begins the text anew when a turn is resumed', () => {
    const cursor = new StreamCursor({ seq: 1, offset: 3 });
    const resumed = event(2, { type: 'turn.resumed', turnId: 't', attempt: 2 });
    expect(readAll(cursor, [resumed, chunk(1, 0, 'Other')]).text).toBe('Other');
  });

  it('keeps its place in the running text when a waiting turn is cancelled', () => {
    const cursor = new StreamCursor({ seq: 1, offset: 3 });
    expect(readAll(cursor, [cancelled(2, '', 0), chunk(1, 0, 'Hello')]).text).toBe('lo');
  });

  it('passes reasoning on as it is, and gives the rest of a piece that is known in part', () => {
    const cursor = new StreamCursor({ seq: 1, offset: 0 });
    const taken = [thought(1, 0, 'Hm'), thought(1, 0, 'Hm'), thought(1, 1, 'm, so'), chunk(1, 0, 'Yes')];
    expect(taken.flatMap((signal) => cursor.take(signal))).toEqual([
      thought(1, 0, 'Hm'),
      thought(1, 2, ', so'),
      chunk(1, 0, 'Yes'),
    ]);
    // The place in the text is what a reader comes back with.
    expect(cursor.offset).toBe(3);
  });

  it('takes a gap in reasoning, which no log could fill', () => {
    const cursor = new StreamCursor({ seq: 1, offset: 0 });
    expect(cursor.take(thought(1, 7, 'so'))).toEqual([thought(1, 7, 'so')]);
    expect(cursor.take(thought(1, 9, '.'))).toEqual([thought(1, 9, '.')]);
  });

  it('begins reasoning anew with each step, and drops that of a step that is over', () => {
    const cursor = new StreamCursor({ seq: 1, offset: 0 });
    const signals = [
      thought(1, 0, 'Hm'),
      stepped(2, 1, ''),
      thought(1, 2, '!'),
      thought(2, 0, 'Oh'),
      thought(3, 0, 'A'),
    ];
    expect(signals.flatMap((signal) => cursor.take(signal))).toEqual([
      signals[0],
      signals[1],
      signals[3],
      signals[4],
    ]);
    const resumed = event(3, { type: 'turn.resumed', turnId: 't', attempt: 2 });
    expect([resumed, thought(3, 0, 'A')].flatMap((signal) => cursor.take(signal))).toEqual([
      resumed,
      thought(3, 0, 'A'),
    ]);
  });

  it('refuses a gap', () => {
    expect(() => new StreamCursor({ seq: 1, offset: 0 }).take(stepped(3, 1, ''))).toThrowError(
      /event 3 follows event 1/,
    );
    expect(() => new StreamCursor({ seq: 1, offset: 0 }).take(chunk(1, 2, 'x'))).toThrowError(/text at 2/);
  });

  it('makes the same of every mixture of log and live signals, wherever the reader left', () => {
    const live = [
      started,
      chunk(1, 0, 'ab'),
      chunk(1, 2, 'c'),
      stepped(2, 1, 'abc'),
      chunk(2, 0, '\n\n'),
      chunk(2, 2, 'de'),
      stepped(3, 2, 'de', '\n\n'),
    ];
    const log = live.filter((signal) => 'event' in signal);
    for (let had = 0; had <= live.length; had += 1) {
      const before = readAll(new StreamCursor({ seq: 0, offset: 0 }), live.slice(0, had));
      const step = live.slice(0, had).findLastIndex((signal) => 'event' in signal);
      const offset = live
        .slice(step + 1, had)
        .reduce((sum, signal) => sum + ('content' in signal ? signal.content.length : 0), 0);
      for (let joins = had; joins <= live.length; joins += 1) {
        const head = live.slice(0, joins).findLast((signal) => 'event' in signal);
        const known = log.filter(
          (signal) => head !== undefined && 'seq' in signal && 'seq' in head && signal.seq <= head.seq,
        );
        const cursor = new StreamCursor({ seq: before.seqs.at(-1) ?? 0, offset });
        const running = live.slice(live.findLastIndex((s, i) => i < joins && 'event' in s) + 1, joins);
        const after = readAll(cursor, [...known, ...running, ...live.slice(joins)]);
        expect(before.text + after.text).toBe('abc\n\nde');
        expect([...before.seqs, ...after.seqs]).toEqual([1, 2, 3]);
      }
    }
  });
});
