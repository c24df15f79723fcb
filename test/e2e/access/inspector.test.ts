import type { StatelyInspectionEvent } from '@statelyai/inspect';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { Inspector } from '../../support/sockets/inspector.ts';
import { handshake } from '../../support/sockets/raw-http.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { verifies } from '../requirements.ts';

const Ticket = z.object({ ticket: z.string() });

const YAML = `${SCRIPTED}
server: {drainTimeoutMs: 0}
mcpServers:
  tools: {type: stdio, command: none}
`;

async function start() {
  const tokens = new KnownTokens({
    ada: identity('ada'),
    root: identity('root', { roles: ['admin'] }),
    cleo: identity('cleo', { roles: ['admin'], tenant: 'orbit' }),
  });
  const model = new DirectedModel();
  const service = await RunningService.start({
    yaml: YAML,
    verifiers: [tokens],
    inspect: 'content',
    inspectToken: 'of-the-machine',
    adapters: { model, connector: new DirectedTools({ look: {} }) },
  });
  const inspect = async (name: string): Promise<Inspector> => {
    const answer = await service.post('/api/tickets', {}, bearer(name));
    const { ticket } = Ticket.parse(await answer.json());
    return new Inspector(`ws://127.0.0.1:${service.port}/inspect?ticket=${ticket}`);
  };
  const statusOf = async (headers: Record<string, string>, query = '') => {
    const answer = await handshake(service.port, headers, `/inspect${query}`);
    if (!answer.accepted) return answer.response.status;
    answer.socket.destroy();
    return 101;
  };
  return { service, model, inspect, statusOf };
}

const isTurn = (event: StatelyInspectionEvent): boolean =>
  event.type === '@xstate.actor' && !event.name.startsWith('mcp');

describe('the inspector of a service that authenticates its clients', () => {
  verifies('inspect.admin', async () => {
    const { service, statusOf } = await start();
    await using _closed = service;
    expect(await statusOf({})).toBe(401);
    expect(await statusOf(bearer('ada'))).toBe(403);
    expect(await statusOf(bearer('root'))).toBe(101);
    expect(await statusOf({}, '?token=wrong')).toBe(401);
    expect(await statusOf({}, '?token=of-the-machine')).toBe(101);
    const trail = await (await service.fetch('/api/audit', { headers: bearer('root') })).text();
    const entries = trail.split('\n').filter((line) => line.includes('GET /inspect'));
    expect(entries.map((line) => JSON.parse(line))).toMatchObject([
      { principal: 'test:ada', outcome: 'FORBIDDEN' },
      { principal: 'test:root', outcome: 'ok' },
    ]);
  });

  verifies('inspect.admin', 'nobody sees the machines of another tenant', async () => {
    const { service, model, inspect } = await start();
    await using _closed = service;
    const [own, foreign] = [await inspect('root'), await inspect('cleo')];
    await foreign.until(({ type }) => type === '@xstate.actor');
    await service.post('/api/message', { message: 'secret-of-acme' }, bearer('ada'));
    (await model.call(0)).answer('fine');
    await own.until(isTurn);
    // Its own turn comes after all that it might have been shown of the other.
    await service.post('/api/message', { message: 'hello' }, bearer('cleo'));
    await model.call(1);
    await foreign.until(isTurn);
    expect(JSON.stringify(own.events)).toContain('acme/test:ada/default');
    expect(foreign.events.filter(isTurn)).toHaveLength(1);
    expect(JSON.stringify(foreign.events)).not.toMatch(/acme|secret-of/);
  });
});
