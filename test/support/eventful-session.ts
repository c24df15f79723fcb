import type { SessionEvent } from '../../src/contract/events.ts';
import { SessionLog } from './session-log.ts';

/** A session forked from another one, with all that can happen in one but its deletion. Its last turn is open. */
export interface EventfulSession {
  /** Up to the fork. */
  readonly past: readonly SessionEvent[];
  /** What the fork added. */
  readonly closing: readonly SessionEvent[];
  readonly continued: readonly SessionEvent[];
}

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

export function eventfulSession(from: string): EventfulSession {
  const session = new SessionLog();
  answerWithTools(session);
  approveAndDeny(session);
  failAndCancel(session);
  session.tell({ type: 'session.reset', partial: '', key: keyOf('reset') });
  session.tell({ type: 'turn.start', turnId: 't4', text: 'Once more.' });
  session.askForTools('t4');
  const past = [...session.events];
  const closing = session.tell({ type: 'session.fork', from, at: past.length });
  session.tell({ type: 'turn.start', turnId: 't5', text: 'Here, in the fork.' });
  session.askForTools('t5', 1, 'I look.');
  session.tell({ type: 'turn.start', turnId: 't6', text: 'And this.', key: keyOf('waiting') });
  return { past, closing, continued: session.events.slice(past.length + closing.length) };
}

function answerWithTools(session: SessionLog): void {
  const image = { base64: pixel, mimeType: 'image/png' } as const;
  const text = 'What is this? \u2028 Zoë 👋';
  session.tell({ type: 'turn.start', turnId: 't1', text, image, key: keyOf('image') });
  session.askForTools('t1', 1, 'Let me see.');
  const content = [{ type: 'text', text: 'a pixel' }];
  const seen = { status: 'succeeded', result: { content, structuredContent: { width: 1 } } } as const;
  const unseen = { status: 'failed', reason: 'no camera', result: { content } } as const;
  session.tell({ type: 'tool-call.settle', turnId: 't1', callId: 't1-once', outcome: seen });
  session.tell({ type: 'tool-call.settle', turnId: 't1', callId: 't1-again', outcome: unseen });
  const usage = { inputTokens: 12, outputTokens: 3 };
  session.tell({ type: 'step.complete', turnId: 't1', step: 2, text: 'A pixel.', calls: [], usage });
}

function approveAndDeny(session: SessionLog): void {
  const turnId = 'ta';
  const tool = { name: 'pay', toolName: 'pay', serverId: 'srv', repeatable: false };
  const call = { ...tool, arguments: { amount: 3 }, argumentsHash: 'a'.repeat(64) };
  const calls = ['ta-yes', 'ta-no'].map((callId) => ({ ...call, callId }));
  session.tell({ type: 'turn.start', turnId, text: 'Pay twice.' });
  session.tell({ type: 'step.complete', turnId, step: 1, text: '', calls });
  session.tell({ type: 'approval.answer', callId: 'ta-yes', approved: true });
  session.tell({ type: 'approval.answer', callId: 'ta-no', approved: false, reason: 'once is enough' });
  const content = [{ type: 'text', text: 'paid' }];
  const paid = { status: 'succeeded', result: { content } } as const;
  session.tell({ type: 'tool-call.settle', turnId, callId: 'ta-yes', outcome: paid });
  session.tell({ type: 'step.complete', turnId, step: 2, text: 'Paid once.', calls: [] });
}

function failAndCancel(session: SessionLog): void {
  session.tell({ type: 'turn.start', turnId: 't2', text: 'And now?' });
  session.tell({ type: 'turn.start', turnId: 't3', text: 'And then?' });
  session.askForTools('t2');
  const details = { reason: 'the provider is away' };
  const error = { code: 'AGENT_ERROR', message: 'There is no answer.', details } as const;
  session.tell({ type: 'turn.fail', turnId: 't2', error, partial: 'So' });
  session.askForTools('t3', 1, 'Again.');
  session.tell({ type: 'turn.resume' });
  session.tell({ type: 'turn.cancel', turnId: 't3', reason: 'the user cancelled it', partial: 'Wait' });
}

function keyOf(id: string) {
  return { id, fingerprint: `of ${id}`, expiresAt: 1_800_000_000_000 };
}
