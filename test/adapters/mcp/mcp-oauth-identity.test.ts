import { describe, expect, it } from 'vitest';
import { readCredentials } from '../../../src/adapters/mcp/oauth/credentials.ts';
import { authorizedTools } from '../../support/tools/mcp/authorized-tools.ts';
import { authorizingServer } from '../../support/tools/mcp/authorizing-server.ts';

const AGENT = { grant: 'client-credentials', clientId: 'agent', clientSecret: 'sekrit' };

describe('the token of a tool server whose authorization was configured anew', () => {
  it('is no more that of the person, once the service has a client of its own', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    tools.configure({ oauth: AGENT });
    await (await tools.connect()).close();
    expect(server.tokenRequests.map(({ grant }) => grant)).toEqual([
      'authorization_code',
      'client_credentials',
    ]);
  });

  it('is no more that of the former client, also after a restart', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url, AGENT);
    await (await tools.connect()).close();
    tools.configure({ oauth: { ...AGENT, clientId: 'other' } });
    tools.restart();
    await (await tools.connect()).close();
    expect(server.tokenRequests).toHaveLength(2);
    tools.restart();
    await (await tools.connect()).close();
    expect(server.tokenRequests).toHaveLength(2);
  });

  it('is not one of another issuer than the only one that is allowed', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    tools.configure({ oauth: { issuer: 'https://login.example.com' } });
    expect(await tools.refusal()).toContain('oauth.issuer expects https://login.example.com');
  });

  it('stays if its issuer is allowed by name', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    tools.configure({ oauth: { issuer: `${server.issuer}/` } });
    await (await tools.connect()).close();
    expect(server.tokenRequests).toHaveLength(1);
  });

  it('leaves the client that the service registered', async () => {
    await using server = await authorizingServer();
    const tools = authorizedTools(server.url);
    await tools.refusal();
    await tools.visit();
    tools.configure({ oauth: { clientId: 'by-hand' } });
    expect(await tools.refusal()).toContain('authorization of a person');
    tools.configure({ oauth: undefined });
    expect(await tools.refusal()).toContain('authorization of a person');
    expect(server.registrations).toBe(1);
  });
});

describe('credentials that an earlier version kept', () => {
  const baseUrl = 'https://tools.example/mcp';
  const issuer = 'https://login.example';
  const token = { accessToken: 'access', scheme: 'Bearer', scopes: [] };
  const text = JSON.stringify({ baseUrl, issuer, byIssuer: { [issuer]: { token } } });

  it('are used as they are', () => {
    expect(readCredentials(text, { baseUrl })?.byIssuer[issuer]?.token).toEqual(token);
  });

  it('are those of another address, and not used there', () => {
    expect(readCredentials(text, { baseUrl: 'https://other.example/mcp' })).toBeNull();
  });
});
