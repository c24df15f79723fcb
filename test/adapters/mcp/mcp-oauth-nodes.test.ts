import { describe, expect, it } from 'vitest';
import { authorizedTools, sharedLog } from '../../support/tools/mcp/authorized-tools.ts';
import { type AuthorizingServer, authorizingServer } from '../../support/tools/mcp/authorizing-server.ts';
import { said } from '../../support/tools/mcp/connecting.ts';

const LIFETIME_SECONDS = 100;
/** Then the token is good for another 40 seconds, and it is time for the next one. */
const DUE_MS = 60_000;

async function twoNodes() {
  const server = await authorizingServer({ lifetimeSeconds: LIFETIME_SECONDS });
  const log = sharedLog();
  const [one, two] = [
    authorizedTools(server.url, undefined, log),
    authorizedTools(server.url, undefined, log),
  ];
  return { server, one, two, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Both nodes are connected, with the token of the first one. */
async function connectedNodes() {
  const nodes = await twoNodes();
  const { one, two } = nodes;
  await one.refusal();
  await one.visit();
  const connections = [await one.connect(), await two.connect()];
  const called = (): Promise<unknown[]> =>
    Promise.all(connections.map(async (each) => said(await each.callTool('echo', { message: 'hello' }))));
  return {
    ...nodes,
    called,
    async [Symbol.asyncDispose]() {
      for (const connection of connections) await connection.close();
      await nodes[Symbol.asyncDispose]();
    },
  };
}

const refreshesOf = (server: AuthorizingServer): number =>
  server.tokenRequests.filter(({ grant }) => grant === 'refresh_token').length;

describe('a person who comes back to one node', () => {
  it('is not asked by the other one any more, which hears of it', async () => {
    await using nodes = await twoNodes();
    const { one, two } = nodes;
    expect(await one.refusal()).toContain('authorization of a person');
    expect(await two.refusal()).toContain('authorization of a person');
    expect(await two.authorizations.authorizedElsewhere()).toEqual([]);
    await one.visit();
    expect(await two.authorizations.authorizedElsewhere()).toEqual(['under-test']);
    expect(two.url()).toBeUndefined();
    await (await two.connect()).close();
    expect(await two.authorizations.authorizedElsewhere()).toEqual([]);
  });

  it('is not asked by the other one any more, which tries again', async () => {
    await using nodes = await twoNodes();
    const { one, two } = nodes;
    await one.refusal();
    await two.refusal();
    await one.visit();
    await (await two.connect()).close();
    expect(two.url()).toBeUndefined();
  });
});

describe('a token that two nodes use', () => {
  it('is renewed by one of them when it is due', async () => {
    await using nodes = await connectedNodes();
    const { server, one, two, called } = nodes;
    for (const node of [one, two]) node.wait(DUE_MS);
    expect(await called()).toEqual(['hello', 'hello']);
    expect(refreshesOf(server)).toBe(1);
    expect(await called()).toEqual(['hello', 'hello']);
    expect(refreshesOf(server)).toBe(1);
  });

  it('is renewed by one of them when both are refused at once', async () => {
    await using nodes = await connectedNodes();
    const { server, one, two, called } = nodes;
    for (let times = 1; times <= 3; times += 1) {
      server.expire();
      expect(await called()).toEqual(['hello', 'hello']);
      expect(refreshesOf(server)).toBe(times);
    }
    expect([one.url(), two.url()]).toEqual([undefined, undefined]);
  });

  it('is renewed with the refresh token that the other one was given last', async () => {
    await using nodes = await connectedNodes();
    const { server, one, two, called } = nodes;
    one.wait(DUE_MS);
    await called();
    two.wait(2 * DUE_MS);
    server.expire();
    one.wait(DUE_MS);
    expect(await called()).toEqual(['hello', 'hello']);
    expect([one.url(), two.url()]).toEqual([undefined, undefined]);
  });
});
