import { expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import { sessionExport } from '../../../src/gateway/routes/session-export.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { someEvents } from '../../../src/runtime/requests/some-events.ts';
import { Journal } from '../../../src/runtime/sessions/journal.ts';
import { CLIENT } from '../../support/sessions/origins.ts';

it('breaks an export off when the credential that reads it has ended', async () => {
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  const journal = new Journal(memoryEventStore(), bus);
  const events = Array.from({ length: 300 }, (_, index) => ({
    type: 'turn.requested' as const,
    turnId: `t${index}`,
    text: 'x'.repeat(1_000),
  }));
  await journal.append('s', 0, events, { open: false, origin: CLIENT });
  const credential = new AbortController();
  bus.handle('session.position', async () => ({ head: events.length, running: null, reasoning: null }));
  bus.handle('session.events', async (asked) => {
    if (asked.afterSeq > 0) credential.abort(new Error('expired'));
    return someEvents(journal, asked);
  });
  const { body } = await sessionExport({ bus, context: ANYONE, lost: credential.signal }, 's');
  if (!(body instanceof ReadableStream)) throw new Error('the answer is no stream');
  await expect(Array.fromAsync(body)).rejects.toThrow('expired');
});
