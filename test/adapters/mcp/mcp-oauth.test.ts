import { describe, expect, it } from 'vitest';
import { redirectOf, responseIn } from '../../support/tools/mcp/authorization-visit.ts';
import { authorizedTools } from '../../support/tools/mcp/authorized-tools.ts';
import { authorizingServer } from '../../support/tools/mcp/authorizing-server.ts';
import { said } from '../../support/tools/mcp/connecting.ts';
import { constantServer } from '../../support/tools/mcp/http-servers.ts';

const HOUR_MS = 3_600_000;

describe('a tool server that answers 401', () => {
  it('is connected after a person has followed the address', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    expect(await tools.refusal()).toContain('authorization of a person');
    const asked = new URL(tools.url() ?? '').searchParams;
    expect(asked.get('resource')).toBe(server.url);
    expect(asked.get('code_challenge_method')).toBe('S256');
    expect(await tools.visit()).toEqual({ server: 'under-test', problem: null });
    expect(tools.url()).toBeUndefined();
    const connection = await tools.connect();
    expect(said(await connection.callTool('echo', { message: 'hello' }))).toBe('hello');
    expect(server.tokenRequests.map(({ parameters }) => parameters.get('resource'))).toEqual([server.url]);
    await connection.close();
  });

  it('gives the same address until it is too old, with one client for all', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    const first = tools.url();
    await tools.refusal();
    expect(tools.url()).toBe(first);
    tools.wait(11 * 60_000);
    expect(tools.url()).toBeUndefined();
    await tools.refusal();
    expect(tools.url()).not.toBe(first);
    expect(server.registrations).toBe(1);
  });

  it('is used with the same token after a restart, and nothing of it is in clear', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    tools.restart();
    await (await tools.connect()).close();
    expect(server.tokenRequests.map(({ grant }) => grant)).toEqual(['authorization_code']);
    const written = await tools.written();
    expect(written).toContain('sealed');
    for (const secret of server.secrets) expect(written).not.toContain(secret);
    expect(JSON.stringify(tools.log.lines)).not.toMatch(/access-|refresh-|code-/);
  });

  it('is forgotten with its credentials', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    await tools.forget();
    expect(await tools.store.streamIds('', 10)).toEqual([]);
    expect(await tools.refusal()).toContain('authorization of a person');
  });

  it('at another address never gets the token', async () => {
    await using server = await authorizingServer();
    await using other = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    tools.moveTo(other.url);
    expect(await tools.refusal()).toContain('authorization of a person');
    expect(new URL(tools.url() ?? '').origin).toBe(other.issuer);
    tools.restart();
    expect(await tools.refusal()).toContain('authorization of a person');
    expect(other.tokenRequests).toEqual([]);
  });

  it('asks nobody with client credentials', async () => {
    await using server = await authorizingServer();
    const oauth = {
      grant: 'client-credentials',
      clientId: 'agent',
      clientSecret: 'sekrit',
      scopes: ['read'],
    };
    const tools = authorizedTools(server.url, oauth);
    await (await tools.connect()).close();
    const [request] = server.tokenRequests;
    expect(request?.grant).toBe('client_credentials');
    expect(request?.parameters.get('scope')).toBe('read');
    expect(request?.parameters.get('resource')).toBe(server.url);
  });

  it.each(['/.well-known/oauth-authorization-server', '/token'])(
    'is not connected where its authorization server answers far too much at %s',
    async (floods) => {
      await using server = await authorizingServer({ floods });
      const oauth = { grant: 'client-credentials', clientId: 'agent', clientSecret: 'sekrit' };
      const tools = authorizedTools(server.url, oauth);
      expect(await tools.refusal()).toContain(`${server.issuer} answered with more than 1 MB`);
    },
  );

  it('stays an error if nothing says that it knows OAuth', async () => {
    await using server = await constantServer(401, 'not you');
    const tools = authorizedTools(server.url);
    expect(await tools.refusal()).toBe('the server answered HTTP 401: not you');
    expect(tools.url()).toBeUndefined();
    // Neither a registration nor a guess at endpoints.
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
  });

  it('stays an error where OAuth is off', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url, false);
    expect(await tools.refusal()).toBe('the server answered HTTP 401: bad token ');
    expect(tools.url()).toBeUndefined();
    expect(server.registrations).toBe(0);
  });
});

describe('the token of a tool server', () => {
  it('is refreshed before it expires, once for all requests', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    const connection = await tools.connect();
    // The server still takes the old one.
    tools.wait(HOUR_MS - 30_000);
    const calls = ['a', 'b', 'c'].map((message) => connection.callTool('echo', { message }));
    expect((await Promise.all(calls)).map(said)).toEqual(['a', 'b', 'c']);
    expect(server.tokenRequests.map(({ grant }) => grant)).toEqual(['authorization_code', 'refresh_token']);
    expect(server.tokenRequests[1]?.parameters.get('resource')).toBe(server.url);
    await connection.close();
  });

  it('is refreshed when the server takes it no more, once for all requests', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    const connection = await tools.connect();
    server.expire();
    const calls = ['a', 'b', 'c'].map((message) => connection.callTool('echo', { message }));
    expect((await Promise.all(calls)).map(said)).toEqual(['a', 'b', 'c']);
    expect(server.tokenRequests).toHaveLength(2);
    await connection.close();
  });

  it('is used as it is for some seconds when it cannot be renewed before it expires', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    const connection = await tools.connect();
    server.renewNothing();
    tools.wait(HOUR_MS - 30_000);
    const calls = ['a', 'b', 'c'].map((message) => connection.callTool('echo', { message }));
    expect((await Promise.all(calls)).map(said)).toEqual(['a', 'b', 'c']);
    expect(server.tokenRequests).toHaveLength(2);
    tools.wait(10_000);
    await connection.callTool('echo', { message: 'd' });
    expect(server.tokenRequests).toHaveLength(3);
    await connection.close();
  });

  it('leads back to the address when the refresh is refused', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    server.revoke();
    const refusal = await tools.refusal();
    expect(refusal).toContain('authorization of a person');
    expect(tools.url()).toContain('/authorize?');
    for (const secret of server.secrets) expect(refusal).not.toContain(secret);
  });

  it.each([
    ['400', 400],
    ['200, as GitHub does', 200],
  ])(
    'leads back to the address when the refresh is refused by a code of its own with %s',
    async (_what, status) => {
      await using server = await authorizingServer();
      const tools = authorizedTools(server.url);
      await tools.refusal();
      await tools.visit();
      server.expire();
      server.answerRefreshes({ status, error: 'bad_refresh_token' });
      expect(await tools.refusal()).toContain('authorization of a person');
      expect(tools.url()).toContain('/authorize?');
    },
  );

  it.each([
    { status: 429, error: 'too_many_requests' },
    { status: 400, error: 'temporarily_unavailable' },
    { status: 503, error: 'invalid_grant' },
  ])('is refreshed later when the refresh is answered with $status $error', async (answer) => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    server.expire();
    server.answerRefreshes(answer);
    expect(await tools.refusal()).toContain(`the authorization server refused with ${answer.error}`);
    expect(tools.url()).toBeUndefined();
    server.answerRefreshes(null);
    await (await tools.connect()).close();
    const grants = server.tokenRequests.map(({ grant }) => grant);
    expect(grants.filter((grant) => grant !== 'refresh_token')).toEqual(['authorization_code']);
  });

  it('gets more scopes when a call needs them, while the connection stays', async () => {
    await using server = await authorizingServer({ callScope: 'write' });
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    const connection = await tools.connect();
    const refused = await connection.callTool('echo', { message: 'hello' });
    expect(refused).toMatchObject({ status: 'failed', reason: expect.stringContaining('of a person') });
    expect(new URL(tools.url() ?? '').searchParams.get('scope')).toBe('write');
    await tools.visit();
    expect(said(await connection.callTool('echo', { message: 'hello' }))).toBe('hello');
    await connection.close();
  });

  it('is refreshed while a person is asked for more scopes, and the address stays', async () => {
    await using server = await authorizingServer({ callScope: 'write' });
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    const connection = await tools.connect();
    await connection.callTool('echo', { message: 'hello' });
    const asked = tools.url();
    expect(asked).toContain('scope=write');
    server.expire();
    expect(await connection.listTools()).not.toEqual([]);
    expect(server.tokenRequests.at(-1)?.grant).toBe('refresh_token');
    expect(tools.url()).toBe(asked);
    server.revoke();
    await expect(connection.listTools()).rejects.toThrow('of a person');
    expect(tools.url()).toBe(asked);
    await connection.close();
    await tools.visit();
    // A connection ends when a ping finds that a person must be asked.
    const next = await tools.connect();
    expect(said(await next.callTool('echo', { message: 'hello' }))).toBe('hello');
    await next.close();
  });
});

describe('the client of the configuration', () => {
  it('stays with the authorization server that was seen first', async () => {
    await using server = await authorizingServer();
    await using other = await authorizingServer();
    const oauth = { grant: 'client-credentials', clientId: 'agent', clientSecret: 'sekrit' };
    const tools = authorizedTools(server.url, oauth);
    await (await tools.connect()).close();
    server.nameAuthorizationServer(other.issuer);
    server.expire();
    expect(await tools.refusal()).toContain(`oauth.clientId belongs to ${server.issuer}`);
    expect(other.tokenRequests).toEqual([]);
  });

  it('goes only to the issuer of the configuration', async () => {
    await using server = await authorizingServer();
    const issuer = 'https://login.example.com';
    const tools = authorizedTools(server.url, {
      issuer,
      grant: 'client-credentials',
      clientId: 'agent',
      clientSecret: 'sekrit',
    });
    expect(await tools.refusal()).toContain(`oauth.issuer expects ${issuer}`);
    expect(server.tokenRequests).toEqual([]);
  });
});

describe('the answer of an authorization server', () => {
  it('is taken once', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    const response = responseIn(await redirectOf(tools.url() ?? ''));
    expect(await tools.authorizations.finish({ ...response, state: `${response.state}x` })).toBeNull();
    expect(await tools.authorizations.finish(response)).toMatchObject({ problem: null });
    expect(await tools.authorizations.finish(response)).toBeNull();
  });

  it('is refused when it is too old', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    const response = responseIn(await redirectOf(tools.url() ?? ''));
    tools.wait(10 * 60_000);
    expect(await tools.authorizations.finish(response)).toBeNull();
    expect(server.tokenRequests).toEqual([]);
  });

  it('is refused when another issuer sent it, and the code goes nowhere', async () => {
    await using server = await authorizingServer({ iss: 'https://evil.example.com' });
    const tools = authorizedTools(server.url);
    await tools.refusal();
    expect(await tools.visit()).toMatchObject({ problem: expect.stringContaining('another authorization') });
    expect(server.tokenRequests).toEqual([]);
  });

  it('may be a refusal', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    const state = new URL(tools.url() ?? '').searchParams.get('state') ?? '';
    const denied = { state, iss: server.issuer, error: 'access_denied' };
    expect(await tools.authorizations.finish(denied)).toMatchObject({
      problem: 'the authorization was denied',
    });
  });
});
