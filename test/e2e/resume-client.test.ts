import { describe, expect } from 'vitest';
import { connect, type StreamEvent } from '../../src/client/session-client.ts';
import { freePort, RunningService } from '../support/running-service.ts';
import { readLog } from '../support/session-page.ts';
import { StreamRecord } from '../support/stream-record.ts';
import { tempDirectory } from '../support/temp-directory.ts';
import { verifies } from './requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 5_000 },
});

describe('the client of the package', () => {
  verifies('stream.client', async () => {
    await using directory = await tempDirectory();
    const port = await freePort();
    const start = () => RunningService.start({ yaml: YAML, dataDir: directory.path, port });
    using session = connect({ url: `http://127.0.0.1:${port}`, session: 's' });
    const record = new StreamRecord();
    const seen: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of session) {
        record.add(event);
        seen.push(event);
        if (seen.filter((known) => known.event === 'response').length === 3) break;
      }
    })();
    // Asked before there is a service, and between two lives of it.
    const first = session.ask('hello');
    {
      await using service = await start();
      expect(await first).toMatch(/^Hello!/);
      expect(service.port).toBe(port);
    }
    const second = session.send('what can you do', { clientMessageId: 'mine' });
    await using service = await start();
    const { turnId } = await second;
    expect(await session.ask('thanks')).toBe('You are welcome!');
    await reading;
    expect(record.events).toEqual(await readLog(service, 's'));
    expect(await session.send('what can you do', { clientMessageId: 'mine' })).toMatchObject({ turnId });
    await expect(session.ask('other', { clientMessageId: 'mine' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    session.reset();
    for await (const event of session) if (event.event === 'reset') break;
    expect(session.position.seq).toBe(record.seq + 1);
  });
});
