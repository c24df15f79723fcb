import { describe, expect, it } from 'vitest';
import { storedKey, withOwnKey, withoutOthersKeys } from '../../../src/core/access/session-keys.ts';
import type { Envelope } from '../../../src/core/log/envelope.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { record } from '../../../src/core/log/recorded-event.ts';
import { contextOf, type RequestContext } from '../../../src/core/request/request-context.ts';
import { requestOrigin } from '../../../src/core/request/request-origin.ts';
import { identity } from '../../support/access/known-tokens.ts';

const ADA = contextOf(identity('ada'));
const BOB = contextOf(identity('bob'));
const KEY = { id: 'k', fingerprint: 'f', expiresAt: 1 };

/** A message that the sender has sent with its key into the session of this id. The event may be in another session by now. */
function sentBy(sender: RequestContext, id: string, sessionId = id): Envelope {
  const key = storedKey(id, KEY, sender);
  const meta = { id: 'e', correlationId: 't', ...requestOrigin(sender) };
  const event = { type: 'turn.requested', turnId: 't', text: 'hello', key } as const;
  return { sessionId, seq: 1, time: 0, meta, event };
}

const keyShownTo = (client: RequestContext, envelope: Envelope): unknown => {
  const { event } = withOwnKey(envelope, client);
  return 'key' in event ? event.key : undefined;
};

describe('the key of a message in the log', () => {
  const [adas, bobs] = ['acme/test:ada/s', 'acme/test:bob/s'];

  it('is shown to who has sent it, as it was sent', () => {
    expect(keyShownTo(ADA, sentBy(ADA, adas))).toEqual(KEY);
    expect(keyShownTo(BOB, sentBy(BOB, adas))).toEqual(KEY);
  });

  it('is shown to nobody else in the session', () => {
    expect(keyShownTo(BOB, sentBy(ADA, adas))).toBeUndefined();
    expect(keyShownTo(ADA, sentBy(BOB, adas))).toBeUndefined();
  });

  it('is not shown to who has forked the session', () => {
    expect(keyShownTo(ADA, sentBy(BOB, bobs, adas))).toBeUndefined();
    expect(keyShownTo(ADA, { ...sentBy(BOB, bobs, adas), meta: null })).toBeUndefined();
  });
});

it('the key of a cancellation is not shown as the cause of the turn behind it either', () => {
  const events: readonly SessionEvent[] = [
    {
      type: 'turn.cancelled',
      turnId: 't',
      cause: { kind: 'cancelled' },
      reason: 'enough',
      step: 1,
      separator: '',
      partial: '',
    },
    { type: 'turn.started', turnId: 'u' },
  ];
  const recorded = record(events, requestOrigin(BOB, 'my-key'));
  const shown = recorded.map((one, index) =>
    withoutOthersKeys({ ...one, sessionId: 'acme/test:ada/s', seq: index + 1, time: 0 }, ADA),
  );
  expect(shown.map(({ event }) => event.type)).toEqual(['turn.cancelled', 'turn.started']);
  expect(JSON.stringify(shown)).not.toContain('my-key');
});

it('the key of a decision, which is the cause of its events, is shown to nobody else', () => {
  const call = { turnId: 't', callId: 'c', toolName: 'x', serverId: null, argumentsHash: 'h' };
  const event = { type: 'approval.granted', ...call } as const;
  const meta = { id: 'e', correlationId: 't', ...requestOrigin(ADA, 'my-key') };
  const approved = { sessionId: 'acme/test:ada/s', seq: 2, time: 0, meta, event };
  const causeFor = (client: RequestContext) => withoutOthersKeys(approved, client).meta?.causationId;
  expect(causeFor(ADA)).toBe('my-key');
  expect(causeFor(BOB)).toBe('not shown');
  expect(withoutOthersKeys({ ...approved, meta: null }, BOB).meta).toBeNull();
  expect(JSON.stringify(withoutOthersKeys(sentBy(ADA, 'acme/test:ada/s'), BOB))).not.toContain('"key"');
});
