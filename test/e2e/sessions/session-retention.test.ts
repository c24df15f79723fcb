import { describe, expect } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { listSessions } from '../../support/sessions/session-api.ts';
import { ResumingSocket } from '../../support/sockets/resuming-socket.ts';
import { MetricValues } from '../../support/telemetry/metric-values.ts';
import { verifies } from '../requirements.ts';

const LONG_AGO = Date.parse('2001-01-01T00:00:00.000Z');
const HOUR_MS = 3_600_000;

/** A service whose log is of long ago: what is said later is as old, too. */
async function start(sessions: string) {
  const clock = new SimulatedClock();
  const yaml = `${SCRIPTED}limits: {requestsPerMinute: false}\n${sessions}`;
  const store = memoryEventStore(() => LONG_AGO);
  const service = await RunningService.start({ yaml, clock, adapters: { store } });
  await service.post('/api/message-sync', { sessionId: 'old', message: 'hello' });
  return { clock, service };
}

describe('a session that nobody has used for a long time', () => {
  verifies('sessions.retention', async () => {
    const { clock, service } = await start('sessions: {retentionDays: 30}\n');
    await using _ = service;
    using socket = new ResumingSocket(`ws://127.0.0.1:${service.port}/?session=old&after=0`);
    await socket.settled();
    await eventually(
      () => {
        clock.increment(HOUR_MS);
        return listSessions(service);
      },
      (sessions) => sessions.length === 0,
    );
    const frames = await socket.until((all) => all.some(({ event }) => event === 'deleted'));
    expect(frames.at(-1)).toMatchObject({ event: 'deleted', actor: { kind: 'service' } });
    const metrics = await MetricValues.at(service.url);
    expect(metrics.value('agent_sessions_expired_total')).toBe(1);
  });

  verifies('sessions.retention', 'and without the setting it stays', async () => {
    const { clock, service } = await start('');
    await using _ = service;
    clock.increment(24 * HOUR_MS);
    expect(await listSessions(service)).toMatchObject([{ sessionId: 'old' }]);
  });
});
