import type { SessionEvent } from '../../src/core/log/events.ts';
import { IDEMPOTENCY_TTL_MS } from '../../src/core/request/idempotency.ts';

export const EVENTS_PER_TURN = 4;

/** A complete turn: a question of about 100 characters with an idempotency key, an answer of about 400. */
export function longTurn(): SessionEvent[] {
  const key = {
    id: crypto.randomUUID(),
    fingerprint: 'the same',
    expiresAt: Date.now() + IDEMPOTENCY_TTL_MS,
  };
  return turn('a question, '.repeat(8), 'an answer, '.repeat(36), { key });
}

/** A complete turn of few bytes, for logs with many turns. */
export function shortTurn(): SessionEvent[] {
  return turn('hello', 'you said hello');
}

/** A turn that is still open, as after a crash. */
export function openTurn(): SessionEvent[] {
  return shortTurn().slice(0, 2);
}

function turn(
  text: string,
  content: string,
  more: Partial<Extract<SessionEvent, { type: 'turn.requested' }>> = {},
): SessionEvent[] {
  const turnId = crypto.randomUUID();
  return [
    { type: 'turn.requested', turnId, text, ...more },
    { type: 'turn.started', turnId },
    {
      type: 'step.completed',
      turnId,
      step: 1,
      parts: [{ type: 'text', text: content }],
      separator: '',
      source: { api: 'chat', provider: 'openai', model: 'gpt-4.1-mini' },
    },
    { type: 'turn.completed', turnId, content },
  ];
}
