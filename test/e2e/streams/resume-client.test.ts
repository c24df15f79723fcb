import { describe, expect } from 'vitest';
import { connect, type StreamEvent } from '../../../src/client/session-client.ts';
import { byTurn, checkTurn, type PrescribedTurn } from '../../support/models/prescribed-turn.ts';
import { freePort, RunningService } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { readLog } from '../../support/sessions/session-log.ts';
import { messageOf, pieceFaults } from '../../support/sockets/prescribed-stream.ts';
import { StreamRecord } from '../../support/sockets/stream-record.ts';
import { verifies } from '../requirements.ts';

const answerTo = (message: string): string => `You said "${message}", 😀 ${'and so do I. '.repeat(20)}`;
const prescribe = (message: string): PrescribedTurn => ({ message, reply: answerTo(message) });
const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline', script: [{ when: '^(.*)$', reply: answerTo('$1') }] },
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
      expect(await first).toBe(answerTo('hello'));
      expect(service.port).toBe(port);
    }
    const second = session.send('what can you do', { clientMessageId: 'mine' });
    await using service = await start();
    const { turnId } = await second;
    expect(await session.ask('thanks')).toBe(answerTo('thanks'));
    await reading;
    expect(record.events).toEqual(await readLog(service, 's'));
    const told = [...byTurn(record.events).values()];
    expect(told.map(messageOf)).toEqual(['hello', 'what can you do', 'thanks']);
    for (const frames of told) checkTurn(frames, prescribe(messageOf(frames)));
    expect(pieceFaults(record.pieces, record.events, prescribe)).toEqual([]);
    expect(await session.send('what can you do', { clientMessageId: 'mine' })).toMatchObject({ turnId });
    await expect(session.ask('other', { clientMessageId: 'mine' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    await session.reset();
    for await (const event of session) if (event.event === 'reset') break;
    expect(session.position.seq).toBe(record.seq + 1);
  });
});
