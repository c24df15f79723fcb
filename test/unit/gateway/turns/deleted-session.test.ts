import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../../../src/core/log/envelope.ts';
import type { SessionEvent } from '../../../../src/core/log/events.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { FollowedTurn } from '../../../../src/gateway/mcp/agent/followed-turn.ts';
import { answerTurn } from '../../../../src/gateway/turns/turn-answer.ts';
import { turnMessage } from '../../../../src/gateway/turns/turn-message.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';

const sessionId = 's';
const DELETED: SessionEvent = { type: 'session.deleted' };

/** A session whose log, and what is told of it, the test writes. */
function makeSession() {
  const bus = new LocalBus((error) => {
    throw error;
  });
  const log: SessionEvent[] = [];
  const message = turnMessage({ sessionId, text: 'hello' });
  const { turnId } = message;
  const started = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const envelope = (event: SessionEvent, index: number): Envelope => ({
    sessionId,
    seq: index + 1,
    time: 0,
    event,
    meta: null,
  });
  bus.handle('turn.start', async () => {
    started.resolve();
    await begun.promise;
    return { turnId };
  });
  bus.handle('session.events', async ({ afterSeq, limit }) =>
    log.map(envelope).slice(afterSeq, afterSeq + limit),
  );
  bus.handle('session.position', async () => ({ head: log.length, running: null, reasoning: null }));
  return {
    bus,
    log,
    message,
    started: started.promise,
    begin: () => begun.resolve(),
    tell: (event: SessionEvent) => bus.publish(envelope(event, log.length)),
    requested: { type: 'turn.requested', turnId, text: 'hello' } satisfies SessionEvent,
    completed: { type: 'turn.completed', turnId, content: 'Hi!' } satisfies SessionEvent,
    cancelled: {
      type: 'turn.cancelled',
      turnId,
      step: 1,
      separator: '',
      partial: '',
      cause: { kind: 'session-deleted' },
      reason: 'no reason',
    } satisfies SessionEvent,
  };
}

type Session = ReturnType<typeof makeSession>;
const answered = ({ bus, message }: Session) => answerTurn(bus, message, { context: ANYONE });

/** What those who wait for the turn come to, as the text of the reply or the reason why there is none. */
const waits = {
  'an answer': async (session: Session): Promise<string> =>
    answered(session).then(
      ({ content }) => content,
      ({ code, details }) => `${code}: ${details.reason}`,
    ),
  'a call of MCP': async ({ bus, message }: Session): Promise<string> => {
    const hearer = { onChunk: () => undefined, onQuestion: () => undefined };
    using turn = new FollowedTurn(bus, { ...message, agentId: 'default' }, ANYONE, hearer);
    await bus.send('turn.start', message, ANYONE);
    const stop = await turn.stop(() => false);
    if (!('outcome' in stop)) return 'questions';
    const { outcome } = stop;
    if (outcome.status === 'completed') return outcome.content;
    return outcome.status === 'cancelled' ? `TURN_CANCELLED: ${outcome.reason}` : outcome.error.code;
  },
};

describe.each(Object.entries(waits))('%s that waits for a turn whose session was deleted', (_, wait) => {
  it('is over, although nobody has told that the turn was cancelled', async () => {
    const session = makeSession();
    const ends = wait(session);
    session.begin();
    await new Promise(setImmediate);
    session.tell(DELETED);
    expect(await ends).toBe('TURN_CANCELLED: the session was deleted');
  });

  it('has the end of the turn, if the log still has it', async () => {
    const session = makeSession();
    session.log.push(session.requested, session.cancelled, DELETED);
    const ends = wait(session);
    session.begin();
    await new Promise(setImmediate);
    session.tell(DELETED);
    expect(await ends).toBe('TURN_CANCELLED: no reason');
  });

  it('goes on if the session of the turn is the next one', async () => {
    const session = makeSession();
    const ends = wait(session);
    await session.started;
    // The turn is recorded when its start is answered, and the end of the session before is told late.
    session.tell(DELETED);
    session.log.push(session.requested);
    session.begin();
    await new Promise(setImmediate);
    session.tell(DELETED);
    await new Promise(setImmediate);
    session.tell(session.completed);
    expect(await ends).toBe('Hi!');
  });
});
