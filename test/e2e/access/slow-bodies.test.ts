import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import type { Identity } from '../../../src/core/access/identity.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

/** Says when a token has been checked. */
class WatchedTokens extends KnownTokens {
  onVerified = (): void => undefined;

  override async verify(token: string): Promise<Identity> {
    const known = await super.verify(token);
    this.onVerified();
    return known;
  }
}

const REQUESTS = {
  '/api/message-sync': { message: 'hello' },
  '/api/message': { message: 'hello' },
  '/api/sessions/s1/cancel': { reason: 'enough' },
  '/api/connect-server': { name: 'late', config: scriptableServer() },
  '/api/tickets': {},
  '/v1/chat/completions': { model: 'default', messages: [{ role: 'user', content: 'hello' }] },
  '/v1/responses': { model: 'default', input: 'hello' },
  '/mcp': {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'late', version: '1' } },
  },
};

/** Sends the head of a request of Ada. @returns its connection. */
function head(port: number, path: string, json: string) {
  const socket = connect(port, '127.0.0.1');
  socket.write(
    [
      `POST ${path} HTTP/1.1`,
      'Host: localhost',
      `Authorization: ${bearer('ada').Authorization}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `Content-Length: ${json.length}`,
      'Connection: close',
      '\r\n',
    ].join('\r\n'),
  );
  return socket;
}

/** Sends the body of a request of Ada after its head was accepted, and expects that it is refused, and that nothing is done. */
async function expectRefused(
  path: keyof typeof REQUESTS,
  { agents, ...options }: { agents?: Record<string, string>; expiresAt?: number },
  reason: string,
  afterHead: (service: RunningService) => void = () => undefined,
): Promise<void> {
  const model = new DirectedModel();
  const tokens = new WatchedTokens({
    ada: identity('ada', { roles: ['operator'], ...options }),
    bob: identity('bob', { roles: ['admin'] }),
  });
  await using service = await RunningService.start({
    ...(agents ? { agents } : { yaml: SCRIPTED }),
    adapters: { model },
    verifiers: [tokens],
  });
  const verified = new Promise<void>((resolve) => {
    tokens.onVerified = resolve;
  });
  const json = JSON.stringify(REQUESTS[path]);
  const socket = head(service.port, path, json);
  await verified;
  afterHead(service);
  socket.write(json);
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  expect(answer).toContain(reason);
  // Where an MCP client learns who gives it another token.
  if (path === '/mcp')
    expect(answer).toMatch(/^WWW-Authenticate: Bearer error="invalid_token",.* resource_metadata="http/im);
  const sessions = await service.fetch('/api/sessions', { headers: bearer('bob') });
  expect(await sessions.json()).toMatchObject({ sessions: [] });
  expect(model.calls).toHaveLength(0);
  const audit = await service.fetch('/api/audit', { headers: bearer('bob') });
  expect(await audit.text()).toMatch(/"principal":"test:ada".*"outcome":"UNAUTHORIZED"/);
}

describe('a request whose body comes late', () => {
  const paths = Object.keys(REQUESTS) as (keyof typeof REQUESTS)[];
  // Where there are several agents, the body may name one.
  const agents = { first: SCRIPTED, second: SCRIPTED };
  for (const path of paths)
    verifies('auth.revoked', `${path}: nothing is done, whoever was authenticated with its head`, () =>
      expectRefused(path, { agents }, 'The credential was revoked.', ({ access }) =>
        access?.revoke('credential-of-ada'),
      ),
    );

  for (const path of paths) {
    // Nothing depends on the body of a request for a ticket, which is worth nothing once its credential has expired.
    if (path === '/api/tickets') continue;
    verifies(
      'auth.expired-body',
      path, // It ends right after it was accepted.
      () => expectRefused(path, { expiresAt: Date.now() - 1 }, 'The credential has expired.'),
    );
  }
});
