import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { StreamId } from '../../../../src/core/log/streams.ts';
import type { ReplyChunk, SessionFault, SessionSignal } from '../../../../src/core/session/session-signal.ts';
import type { NodeId } from '../../../../src/ports/membership.ts';
import { type FeedMessage, nodeSubject } from '../../../../src/runtime/cluster/node-messages.ts';
import { signalsOf } from '../../../../src/runtime/cluster/signal-batch.ts';
import { SignalRelay } from '../../../../src/runtime/cluster/signal-relay.ts';
import { MemoryNetwork } from '../../../support/cluster/memory-link.ts';

const REMIND_MS = 1_000;
const GATHER_MS = 5;

/** A relay of node 1, and what it sends. The test ends the turn of the event loop. */
function start() {
  const clock = new SimulatedClock();
  const link = new MemoryNetwork({ isManual: true }).connect();
  const soon: (() => void)[] = [];
  const relay = new SignalRelay({
    outbox: { publish: (subject, text) => link.publish(subject, text), soon: (work) => soon.push(work) },
    self: 1,
    clock,
  });
  const endTurn = (): void => {
    for (const work of soon.splice(0)) work();
  };
  /** What was sent since the last time. */
  const sent = (): { to: string; n: number; items: [StreamId, SessionSignal[]][] }[] =>
    link.sent.splice(0).map(({ subject, text }) => {
      const { n, items }: FeedMessage = JSON.parse(text);
      return { to: subject, n, items: items.map(([stream, signals]) => [stream, signalsOf(signals)]) };
    });
  return { clock, relay, endTurn, sent, scheduled: () => soon.length };
}

/** Of a turn of its own, so that no two of them are joined. */
const chunk = (content: string, sessionId = 's', offset = 1): ReplyChunk => ({
  type: 'reply.chunk',
  sessionId,
  turnId: content,
  step: 1,
  offset,
  content,
});
const fault = (sessionId: string): SessionFault => ({
  type: 'session.fault',
  sessionId,
  error: { code: 'INTERNAL_ERROR', message: 'x', details: {} },
});
const to = (node: NodeId): string => nodeSubject(node);

describe('the signals of a session', () => {
  it('go to nobody as long as no node watches it', () => {
    const { relay, endTurn, sent, scheduled } = start();
    relay.watch('other', 2);
    relay.relay('s', chunk('a'));
    expect(scheduled()).toBe(0);
    endTurn();
    expect(sent()).toEqual([]);
  });

  it('go to each node that watches it, in one message for each turn of the event loop', () => {
    const { relay, endTurn, sent } = start();
    relay.watch('s', 2);
    relay.watch('u', 2);
    relay.watch('s', 3);
    relay.relay('s', chunk('a'));
    relay.relay('u', chunk('b', 'u'));
    relay.relay('s', chunk('c'));
    expect(sent()).toEqual([]);
    endTurn();
    expect(sent()).toEqual([
      {
        to: to(2),
        n: 1,
        items: [
          ['s', [chunk('a'), chunk('c')]],
          ['u', [chunk('b', 'u')]],
        ],
      },
      { to: to(3), n: 1, items: [['s', [chunk('a'), chunk('c')]]] },
    ]);
    relay.relay('u', fault('u'));
    endTurn();
    expect(sent()).toEqual([{ to: to(2), n: 2, items: [['u', [fault('u')]]] }]);
  });

  it('wait a moment if they are pieces that follow others, but nothing else waits', () => {
    const { clock, relay, endTurn, sent } = start();
    const contents = (): SessionSignal[] => sent().flatMap(({ items }) => items.flatMap(([, one]) => one));
    relay.watch('s', 2);
    relay.relay('s', chunk('a'));
    endTurn();
    expect(contents()).toEqual([chunk('a')]);
    relay.relay('s', chunk('b'));
    endTurn();
    clock.increment(GATHER_MS - 1);
    relay.relay('s', chunk('c'));
    endTurn();
    expect(contents()).toEqual([]);
    clock.increment(1);
    endTurn();
    expect(contents()).toEqual([chunk('b'), chunk('c')]);
    relay.relay('s', chunk('d'));
    relay.relay('s', fault('s'));
    endTurn();
    expect(contents()).toEqual([chunk('d'), fault('s')]);
    clock.increment(GATHER_MS);
    endTurn();
    expect(contents()).toEqual([]);
    relay.relay('s', chunk('e'));
    endTurn();
    expect(contents()).toEqual([chunk('e')]);
    relay.relay('s', chunk('f'));
    relay.relay('s', chunk('the first', 's', 0));
    endTurn();
    expect(contents()).toEqual([chunk('f'), chunk('the first', 's', 0)]);
  });

  it('go no more to a node that does not watch it any more', () => {
    const { relay, endTurn, sent } = start();
    relay.watch('s', 2);
    relay.watch('s', 3);
    relay.unwatch(['s', 'never watched'], 2);
    relay.relay('s', chunk('a'));
    endTurn();
    expect(sent().map((message) => message.to)).toEqual([to(3)]);
  });

  it('that come before the session is given up are sent, those after it are not', () => {
    const { relay, endTurn, sent } = start();
    relay.watch('s', 2);
    relay.relay('s', chunk('last'));
    relay.end('s');
    relay.relay('s', chunk('none'));
    endTurn();
    expect(sent()).toEqual([{ to: to(2), n: 1, items: [['s', [chunk('last')]]] }]);
    expect(relay.watch('s', 2)).toEqual({ n: 1, wasWatched: false });
  });

  it('go no more to a node that is gone', () => {
    const { clock, relay, endTurn, sent } = start();
    relay.watch('s', 2);
    relay.watch('s', 3);
    relay.forget([2, 9]);
    relay.relay('s', chunk('a'));
    endTurn();
    expect(sent().map((message) => message.to)).toEqual([to(3)]);
    clock.increment(REMIND_MS);
    expect(sent().map((message) => message.to)).toEqual([to(3)]);
  });

  it('that wait are sent when the relay ends, and nothing after that', () => {
    const { clock, relay, endTurn, sent } = start();
    relay.watch('s', 2);
    relay.relay('s', chunk('a'));
    relay[Symbol.dispose]();
    expect(sent()).toMatchObject([{ to: to(2), n: 1 }]);
    relay.relay('s', chunk('b'));
    endTurn();
    clock.increment(10 * REMIND_MS);
    expect(sent()).toEqual([]);
  });
});

describe('a node that begins to watch', () => {
  it('is told the number of the last message, and whether it watched before', () => {
    const { relay, endTurn } = start();
    expect(relay.watch('s', 2)).toEqual({ n: 0, wasWatched: false });
    relay.relay('s', chunk('a'));
    endTurn();
    expect(relay.watch('s', 2)).toEqual({ n: 1, wasWatched: true });
    expect(relay.watch('u', 2)).toEqual({ n: 1, wasWatched: false });
    expect(relay.watch('s', 3)).toEqual({ n: 0, wasWatched: false });
  });
});

describe('the number of the last message', () => {
  it('is repeated every second while a node watches something', () => {
    const { clock, relay, endTurn, sent } = start();
    relay.watch('s', 2);
    relay.relay('s', chunk('a'));
    endTurn();
    sent();
    clock.increment(REMIND_MS - 1);
    expect(sent()).toEqual([]);
    clock.increment(1);
    expect(sent()).toEqual([{ to: to(2), n: 1, items: [] }]);
    clock.increment(REMIND_MS);
    expect(sent()).toEqual([{ to: to(2), n: 1, items: [] }]);
  });

  it('is repeated once more after a node has stopped to watch, and then not at all', () => {
    const { clock, relay, endTurn, sent } = start();
    relay.watch('s', 2);
    relay.relay('s', chunk('a'));
    endTurn();
    relay.unwatch(['s'], 2);
    sent();
    clock.increment(REMIND_MS);
    expect(sent()).toHaveLength(1);
    clock.increment(10 * REMIND_MS);
    expect(sent()).toEqual([]);
    relay.watch('s', 2);
    clock.increment(REMIND_MS);
    expect(sent()).toHaveLength(1);
  });
});
