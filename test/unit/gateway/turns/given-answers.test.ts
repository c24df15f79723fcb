import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/core/errors.ts';
import type { Envelope } from '../../../../src/core/log/envelope.ts';
import type { SessionEvent } from '../../../../src/core/log/events.ts';
import { IDEMPOTENCY_TTL_MS } from '../../../../src/core/request/idempotency.ts';
import { ANYONE, type RequestContext } from '../../../../src/core/request/request-context.ts';
import { requestOrigin } from '../../../../src/core/request/request-origin.ts';
import { answerCalls, answeredWith } from '../../../../src/gateway/turns/given-answers.ts';

const NOW = 1_800_000_000_000;
const key = { id: 'k1', fingerprint: 'f1', expiresAt: NOW + IDEMPOTENCY_TTL_MS };
const ann: RequestContext = { ...ANYONE, principal: 'ann' };
const requested = { type: 'turn.requested', turnId: 't1', text: 'hello' } as const;
const result = { content: [] };
const settled: SessionEvent = {
  type: 'tool-call.succeeded',
  turnId: 't1',
  callId: 'c1',
  toolName: 'pick',
  serverId: null,
  result,
};

/** A turn with a call that was answered by a request with this key. */
function turnAnswered(context: RequestContext, id: string, time = NOW - 1) {
  const { actor, causationId } = requestOrigin(context, id);
  const meta = { id: 'e2', actor, causationId, correlationId: 't1' };
  const since: Envelope[] = [{ event: settled, meta, sessionId: 's', seq: 2, time }];
  return { requested, since, begin: 1, end: undefined, head: 2 };
}

describe('the calls that a request has answered before', () => {
  it('are those that its client has answered with its key', () => {
    expect([...answeredWith({ key, context: ann }, turnAnswered(ann, 'k1'))]).toEqual(['c1']);
    expect([...answeredWith({ key, context: ANYONE }, turnAnswered(ANYONE, 'k1'))]).toEqual(['c1']);
  });

  it('are not those of another key, of another client, or of a key that has expired', () => {
    const answered = (turn: ReturnType<typeof turnAnswered>) =>
      answeredWith({ key, context: ann }, turn).size;
    expect(answered(turnAnswered(ann, 'k2'))).toBe(0);
    expect(answered(turnAnswered({ ...ann, principal: 'bob' }, 'k1'))).toBe(0);
    expect(answered(turnAnswered({ ...ann, tenant: 'other' }, 'k1'))).toBe(0);
    expect(answered(turnAnswered(ann, 'k1', NOW - IDEMPOTENCY_TTL_MS))).toBe(0);
    expect(answeredWith({ context: ann }, turnAnswered(ann, 'k1')).size).toBe(0);
  });
});

describe('an answer that is sent again', () => {
  const given = {
    sessionId: 's',
    answers: [{ callId: 'c1', outcome: { status: 'succeeded', result } }],
  } as const;
  /** The session waits for no call. */
  const refusing = (code: 'CALL_NOT_FOUND' | 'IDEMPOTENCY_KEY_REUSED') => ({
    send: () => Promise.reject(new ServiceError(code, 'refused', {})),
  });

  it('is known although the service has ended before it recorded the key', async () => {
    const asker = { bus: refusing('CALL_NOT_FOUND'), context: ann, key };
    await answerCalls(asker, given, new Set(['c1']));
    await expect(answerCalls(asker, given, new Set())).rejects.toMatchObject({ code: 'CALL_NOT_FOUND' });
  });

  it('is refused if its key came with another payload', async () => {
    const asker = { bus: refusing('IDEMPOTENCY_KEY_REUSED'), context: ann, key };
    const sent = answerCalls(asker, given, new Set(['c1']));
    await expect(sent).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  });
});
