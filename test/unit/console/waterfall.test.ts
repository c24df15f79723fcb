import { describe, expect, it } from 'vitest';
import type { TimedEvent } from '../../../src/console/service/timed-event.ts';
import { ticksBetween, tidyLength } from '../../../src/console/timeline/waterfall/time-scale.ts';
import { tracesOf } from '../../../src/console/timeline/waterfall/turn-trace.ts';
import {
  drawnLengthAt,
  readTraces,
  rowAfterKey,
  rowOfChoice,
  rowsBeforeSeq,
  rowsOfSameTurn,
  seqOf,
  turnIdOf,
  type WaterfallRow,
  waterfallOf,
} from '../../../src/console/timeline/waterfall/waterfall-rows.ts';
import { stepWords, turnWords } from '../../../src/console/timeline/waterfall/waterfall-words.ts';

type Without<T> = T extends unknown ? Omit<T, 'seq' | 'time' | 'turnId'> : never;
type Happening = readonly [ms: number, turnId: string | undefined, event: Without<TimedEvent>];

/** Events at those milliseconds. */
function log(...happenings: readonly Happening[]): TimedEvent[] {
  return happenings.map(([ms, turnId, event], index) => ({
    ...event,
    seq: index + 1,
    time: new Date(ms).toISOString(),
    ...(turnId !== undefined && { turnId }),
  }));
}

const message = (content = 'hello') => ({ event: 'message', data: { content } }) as const;
const begins = { event: 'thinking', data: { message: 'hello' } } as const;
const step = (number: number, ...callIds: string[]) =>
  ({
    event: 'stepCompleted',
    data: { step: number, content: '', callIds, usage: { inputTokens: 1_000, outputTokens: 20 } },
  }) as const;
const named = (callId: string) => ({ callId, toolName: `tool-${callId}`, serverId: 'tools' });
const asks = (callId: string) => ({ event: 'toolCall', data: { ...named(callId), arguments: {} } }) as const;
const waits = (callId: string) =>
  ({ event: 'toolApproval', data: { ...named(callId), arguments: {}, argumentsHash: '' } }) as const;
const approved = (callId: string) =>
  ({ event: 'toolApproved', data: { ...named(callId), argumentsHash: '' } }) as const;
const answers = (callId: string): Without<TimedEvent> => ({
  event: 'toolResult',
  data: { ...named(callId), result: { content: [] } },
});
const fails = (callId: string, kind: string) =>
  ({ event: 'toolResult', data: { ...named(callId), error: 'no' }, cause: { kind } }) as const;
const ends = { event: 'response', data: { content: 'hi' } } as const;
const breaks = (code: 'TURN_CANCELLED' | 'AGENT_ERROR', kind: string) =>
  ({ event: 'error', data: { code, message: 'no', details: {} }, cause: { kind } }) as const;

/** A turn that waits 0.1 s for its turn, and then runs two tools at once, one of them after an approval. */
const busyTurn = log(
  [0, 't', message()],
  [100, 't', begins],
  [300, 't', step(1, 'a', 'b')],
  [300, 't', asks('a')],
  [300, 't', asks('b')],
  [310, 't', waits('b')],
  [400, 't', answers('a')],
  [600, 't', approved('b')],
  [650, 't', answers('b')],
  [900, 't', step(2)],
  [900, 't', ends],
);

const told = (events: readonly TimedEvent[]): string[] =>
  tracesOf(events).flatMap(({ steps }) =>
    steps.map(
      ({ label, spans, outcome }) =>
        `${label}: ${spans.map(({ kind, startMs, endMs }) => `${kind} ${startMs}-${endMs}`).join(', ')} ${outcome}`,
    ),
  );

describe('the trace of a turn', () => {
  it('tells what each part of the time was spent on', () => {
    expect(told(busyTurn)).toEqual([
      'Queue: queue 0-100 succeeded',
      'Model call 1: model 100-300 succeeded',
      'tool-a: tool 300-400 succeeded',
      'tool-b: approval 310-600, tool 600-650 succeeded',
      'Model call 2: model 650-900 succeeded',
    ]);
    const [trace] = tracesOf(busyTurn);
    expect(trace).toMatchObject({ startMs: 0, endMs: 900, outcome: 'succeeded', message: 'hello' });
    expect(trace?.usage).toMatchObject({ inputTokens: 2_000, outputTokens: 40 });
    expect(trace?.commitsMs).toEqual(busyTurn.map(({ time }) => Date.parse(time)));
    expect(trace?.steps.map(({ seqs }) => seqs)).toEqual([[1], [2, 3], [4, 7], [5, 6, 8, 9], [9, 10]]);
  });

  it('stays open while the turn runs', () => {
    expect(told(busyTurn.slice(0, 1))).toEqual(['Queue: queue 0-null open']);
    expect(told(busyTurn.slice(0, 2)).at(-1)).toBe('Model call 1: model 100-null open');
    expect(told(busyTurn.slice(0, 6)).at(-1)).toBe('tool-b: approval 310-null open');
  });

  it('tells how long the model took for a reply that was asked for again', () => {
    const rejected = { event: 'outputRejected', data: { step: 1, issue: 'it is not JSON' } } as const;
    const turn = log(
      [0, 't', message()],
      [0, 't', begins],
      [300, 't', step(1)],
      [310, 't', rejected],
      [900, 't', step(2)],
      [900, 't', ends],
    );
    expect(told(turn)).toEqual([
      'Model call 1: model 0-300 succeeded',
      'Model call 2: model 310-900 succeeded',
    ]);
    expect(told(turn.slice(0, 4)).at(-1)).toBe('Model call 2: model 310-null open');
  });

  it('leaves out a wait that nobody notices', () => {
    expect(told(log([0, 't', message()], [5, 't', begins]))).toEqual(['Model call 1: model 5-null open']);
  });

  it('says how calls ended that did not succeed', () => {
    const begin = busyTurn.slice(0, 6);
    const afterwards = (...events: readonly Without<TimedEvent>[]): string[] => {
      const rest = log(...events.map((event, index): Happening => [500 + index * 100, 't', event]));
      return told([...begin, ...rest.map((event) => ({ ...event, seq: event.seq + begin.length }))]).slice(2);
    };
    expect(afterwards(fails('a', 'tool'), fails('b', 'denied'))).toEqual([
      'tool-a: tool 300-500 failed',
      'tool-b: approval 310-600 denied',
      'Model call 2: model 600-null open',
    ]);
    expect(
      afterwards(
        fails('a', 'turn-cancelled'),
        fails('b', 'turn-cancelled'),
        breaks('TURN_CANCELLED', 'cancelled'),
      ),
    ).toEqual(['tool-a: tool 300-500 cancelled', 'tool-b: approval 310-600 cancelled']);
  });

  it('shows no model call that never began, at the limit of steps', () => {
    const events = log(
      [0, 't', message()],
      [1, 't', begins],
      [10, 't', step(1, 'a')],
      [10, 't', asks('a')],
      [20, 't', answers('a')],
      [25, 't', breaks('AGENT_ERROR', 'step-limit')],
    );
    expect(told(events)).toEqual(['Model call 1: model 1-10 succeeded', 'tool-a: tool 10-20 succeeded']);
  });

  it('tells of a model call that was lost in a restart', () => {
    const events = log(
      [0, 't', message()],
      [1, 't', begins],
      [5_000, 't', { event: 'turnResumed', data: { attempt: 2 } }],
      [6_000, 't', step(1)],
      [6_000, 't', ends],
    );
    expect(told(events)).toEqual([
      'Model call 1: model 1-5000 resumed',
      'Model call 1: model 5000-6000 succeeded',
    ]);
  });

  it('leaves out turns whose message is not loaded', () => {
    expect(tracesOf(busyTurn.slice(1))).toEqual([]);
  });
});

describe('the rows of the waterfall', () => {
  const rowsAt = (nowMs: number, events: readonly TimedEvent[] = busyTurn) =>
    waterfallOf(readTraces(events), nowMs);

  it('are each turn with its steps, and what happened to the session between turns', () => {
    const events = log(
      [0, 't', message('first')],
      [0, 't', begins],
      [10, undefined, { event: 'reset', data: {} }],
      [20, 'u', message('second')],
      [30, 't', step(1)],
      [30, 't', ends],
    );
    const { rows } = rowsAt(50, events);
    expect(rows.map((row) => [row.kind, seqOf(row), turnIdOf(row)])).toEqual([
      ['turn', 1, 't'],
      ['step', 5, 't'],
      ['mark', 3, undefined],
      ['turn', 4, 'u'],
      ['step', 4, 'u'],
    ]);
    expect(readTraces(events).isRunning).toBe(true);
    expect(readTraces(busyTurn).isRunning).toBe(false);
  });

  it('end at the present while the turn runs', () => {
    const { rows, drawnMs } = rowsAt(2_100, busyTurn.slice(0, 2));
    const [turn, , model] = rows;
    expect(drawnMs).toBe(2_100);
    expect(turn).toMatchObject({ realMs: 2_100, drawnMs: 2_100 });
    expect(model).toMatchObject({ pieces: [{ fromMs: 100, toMs: 2_100, realMs: 2_000, isOpen: true }] });
  });

  it('shorten waits that are much longer than the work, and say how long they were', () => {
    const events = log(
      [0, 't', message()],
      [0, 't', begins],
      [2_000, 't', step(1, 'a')],
      [2_000, 't', asks('a')],
      [2_000, 't', waits('a')],
      [3_602_000, 't', approved('a')],
      [3_604_000, 't', answers('a')],
      [3_604_000, 't', step(2)],
      [3_604_000, 't', ends],
    );
    const { rows, drawnMs, isCut } = rowsAt(0, events);
    // Half of the 4 seconds of work stand for the hour.
    expect(isCut).toBe(true);
    expect(drawnMs).toBe(6_000);
    expect(rows.find((row) => row.kind === 'step' && row.step.label === 'tool-a')).toMatchObject({
      pieces: [
        { kind: 'approval', fromMs: 2_000, toMs: 4_000, realMs: 3_600_000 },
        { kind: 'tool', fromMs: 4_000, toMs: 6_000, realMs: 2_000 },
      ],
      cuts: [{ atMs: 2_000, drawnMs: 2_000, realMs: 3_600_000 }],
    });
    expect(rowsAt(0).isCut).toBe(false);
  });

  it('never run backwards when the clock of the browser is behind', () => {
    const { rows } = rowsAt(0, log([1_000, 't', message()], [500, 't', begins], [400, 't', step(1)]));
    const pieces = rows.flatMap((row) => (row.kind === 'step' ? row.pieces : []));
    expect(pieces.every(({ fromMs, toMs }) => fromMs >= 0 && toMs >= fromMs)).toBe(true);
  });

  it('are found by the chosen event, or else by the chosen turn', () => {
    const { rows } = rowsAt(0);
    const labelAt = (at: number): string => {
      const row: WaterfallRow | undefined = rows[at];
      return row?.kind === 'step' ? row.step.label : (row?.kind ?? 'none');
    };
    expect(labelAt(rowOfChoice(rows, { turnId: 't', seq: 8 }))).toBe('tool-b');
    expect(labelAt(rowOfChoice(rows, { turnId: 't', seq: 11 }))).toBe('turn');
    expect(labelAt(rowOfChoice(rows, { turnId: 't' }))).toBe('turn');
    expect(rowOfChoice(rows, {})).toBe(-1);
    expect(rowsOfSameTurn(rows, 0)).toBe(rows.length);
    expect(rowsBeforeSeq(rows, 1)).toBe(0);
    expect(rowsBeforeSeq(rows, 2)).toBe(rows.length);
    expect(drawnLengthAt(rows, 3)).toBe(900);
    expect(drawnLengthAt(rows, -1)).toBeUndefined();
  });

  it('are chosen by keys', () => {
    expect(['ArrowDown', 'ArrowUp', 'Home', 'End', 'x'].map((key) => rowAfterKey(5, -1, key))).toEqual([
      0,
      4,
      0,
      4,
      null,
    ]);
    expect(['ArrowDown', 'ArrowUp'].map((key) => rowAfterKey(5, 4, key))).toEqual([4, 3]);
    expect(rowAfterKey(0, -1, 'End')).toBeNull();
  });

  it('say in words how long things took and what they cost', () => {
    const { rows } = rowsAt(0);
    const words = rows.map((row) => {
      if (row.kind === 'turn') return turnWords(row.trace, row.realMs);
      return row.kind === 'step' ? stepWords(row.step, row.pieces) : '';
    });
    expect(words).toEqual([
      '900 ms · 2,000 → 40 tokens',
      '100 ms',
      '200 ms',
      '100 ms',
      'waited 290 ms, ran 50 ms',
      '250 ms',
    ]);
  });

  it('read ten times as many events about ten times as often, so that a long session can be followed live', () => {
    const readsOf = (turns: number): number => {
      let reads = 0;
      const counted = <T extends object>(event: T): T =>
        new Proxy(event, {
          get(target, name) {
            reads += 1;
            return Reflect.get(target, name);
          },
        });
      const events = Array.from({ length: turns }, (_, turn) =>
        busyTurn.slice(0, 10).map((event, index) =>
          counted({
            ...event,
            turnId: `t${turn}`,
            seq: turn * 10 + index + 1,
            time: new Date(turn * 2_000 + Date.parse(event.time)).toISOString(),
          }),
        ),
      ).flat();
      expect(rowsAt(2_000_000, events).rows).toHaveLength(6 * turns);
      return reads;
    };
    // Quadratic work would read them a hundred times as often.
    expect(readsOf(1_000)).toBeLessThan(12 * readsOf(100));
  });
});

describe('the scale of the waterfall', () => {
  it('has tidy lengths, so it changes seldom while the longest turn grows', () => {
    expect([0, 1, 1.2, 87, 1_000, 2_100, 7_400, 9_000].map(tidyLength)).toEqual([
      1, 1, 1.5, 100, 1_000, 3_000, 7_500, 10_000,
    ]);
  });

  it('has a mark every few pixels, in view only', () => {
    expect(ticksBetween(0, 4_000, 700).map(({ label }) => label)).toEqual(['0', '1 s', '2 s', '3 s', '4 s']);
    expect(ticksBetween(1_100, 1_400, 90).map(({ label }) => label)).toEqual([
      '1.1 s',
      '1.2 s',
      '1.3 s',
      '1.4 s',
    ]);
    expect(ticksBetween(0, 300, 140).map(({ label }) => label)).toEqual(['0', '200 ms', '400 ms']);
    expect(ticksBetween(3_600_000, 3_700_000, 90_000).map(({ label }) => label)).toEqual([
      '60 min',
      '61.67 min',
    ]);
  });
});
