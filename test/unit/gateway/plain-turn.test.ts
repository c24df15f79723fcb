import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import type { SessionSignal } from '../../../src/core/session/session-signal.ts';
import { PlainTurn } from '../../../src/gateway/stream/plain-turn.ts';

const turnId = 't';
let seq = 0;
const told = (event: SessionEvent): SessionSignal => {
  seq += 1;
  return { sessionId: 's', seq, time: 0, meta: null, event };
};
const chunk = (offset: number, content: string, step = 1): SessionSignal => ({
  type: 'reply.chunk',
  sessionId: 's',
  turnId,
  step,
  offset,
  content,
});
const started = () => told({ type: 'turn.started', turnId });
const resumed = () => told({ type: 'turn.resumed', turnId, attempt: 2 });
const fault: SessionSignal = {
  type: 'session.fault',
  sessionId: 's',
  error: { code: 'INTERNAL_ERROR', message: 'x', details: {} },
};
const completed = () => told({ type: 'turn.completed', turnId, content: 'all' });

/** What a client of plain frames gets: names of events, and texts. */
function heard(turn: PlainTurn, signals: readonly SessionSignal[]): string[] {
  return signals.flatMap((signal) => {
    const part = turn.newPart(signal);
    if (part === null) return [];
    if ('event' in part) return [part.event.type];
    return [part.type === 'session.fault' ? 'error' : part.content];
  });
}

describe('the clients of plain frames', () => {
  it('are not told again what they have of a step that runs again', () => {
    const before = [started(), chunk(0, 'one '), chunk(4, 'two ')];
    const again = [resumed(), chunk(0, 'one '), chunk(4, 'two three '), chunk(14, 'four'), completed()];
    expect(heard(new PlainTurn(), [...before, ...again])).toEqual([
      ...['turn.started', 'one ', 'two ', 'three ', 'four', 'turn.completed'],
    ]);
  });

  it('are told of a turn that they have not heard of', () => {
    expect(heard(new PlainTurn(), [resumed(), chunk(0, 'one')])).toEqual(['turn.resumed', 'one']);
  });

  it('get the text of the next step from its beginning, also after a shorter text than before', () => {
    const turn = new PlainTurn();
    heard(turn, [started(), chunk(0, 'a long text'), resumed(), chunk(0, 'short')]);
    const step = told({
      type: 'step.completed',
      turnId,
      step: 1,
      separator: '',
      parts: [{ type: 'text', text: 'short' }],
      source: { api: 'chat', provider: 'p', model: 'm' },
    });
    expect(heard(turn, [step, chunk(0, 'next', 2), completed(), started(), chunk(0, 'new')])).toEqual([
      ...['step.completed', 'next', 'turn.completed', 'turn.started', 'new'],
    ]);
  });

  it('are told once that a turn was interrupted, and then what they lack of it', () => {
    const turn = new PlainTurn();
    const faulty = [started(), chunk(0, 'one '), fault, resumed(), chunk(0, 'one '), fault];
    expect(heard(turn, [...faulty, resumed(), chunk(0, 'one two'), completed()])).toEqual([
      ...['turn.started', 'one ', 'error', 'two', 'turn.completed'],
    ]);
    expect(heard(turn, [started(), fault])).toEqual(['turn.started', 'error']);
  });

  it('are told also that nobody goes on with a turn that was interrupted before', () => {
    const turn = new PlainTurn();
    const last: SessionSignal = {
      type: 'session.fault',
      sessionId: 's',
      error: { code: 'INTERNAL_ERROR', message: 'x', details: { continues: false } },
    };
    expect(heard(turn, [started(), fault, resumed(), fault, resumed(), last])).toEqual([
      ...['turn.started', 'error', 'error'],
    ]);
  });

  it('that came in the middle of an interrupted turn are told when the next one is interrupted', () => {
    const turn = new PlainTurn();
    expect(heard(turn, [fault, completed(), started(), fault])).toEqual([
      ...['error', 'turn.completed', 'turn.started', 'error'],
    ]);
  });

  it('have it also when a message that waits is cancelled meanwhile', () => {
    const turn = new PlainTurn();
    const cancelled = told({
      type: 'turn.cancelled',
      turnId: 'next',
      cause: { kind: 'cancelled' },
      reason: 'x',
      step: 0,
      separator: '',
      partial: '',
    });
    heard(turn, [started(), chunk(0, 'one '), cancelled]);
    expect(heard(turn, [resumed(), chunk(0, 'one '), chunk(4, 'two')])).toEqual(['two']);
  });

  it('that are resumed twice get each text once', () => {
    const turn = new PlainTurn();
    heard(turn, [started(), chunk(0, 'one '), resumed(), chunk(0, 'one two ')]);
    expect(heard(turn, [resumed(), chunk(0, 'one '), chunk(4, 'two '), chunk(8, 'three')])).toEqual([
      'three',
    ]);
  });
});
