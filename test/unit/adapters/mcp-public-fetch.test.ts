import { describe, expect, it } from 'vitest';
import { AuthorizationError } from '../../../src/adapters/mcp/oauth/authorization-error.ts';
import { publicFetch } from '../../../src/adapters/mcp/oauth/public-fetch.ts';

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'tools.example': ['93.184.215.14'],
  'login.example': ['93.184.215.15', '2606:2800:21f::1'],
  'inside.example': ['93.184.215.16', '10.0.0.5'],
  'tools.internal': ['10.0.0.7'],
};

async function lookUp(hostname: string) {
  const addresses = ADDRESSES[hostname];
  if (!addresses) throw new Error(`getaddrinfo ENOTFOUND ${hostname}`);
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

function fetching({ baseUrl = 'https://tools.example/mcp', issuer = '', redirects = {} } = {}) {
  const sent: string[] = [];
  const to: Readonly<Record<string, string>> = redirects;
  const fetch = async (input: string | URL): Promise<Response> => {
    sent.push(String(input));
    const location = to[String(input)];
    return location === undefined
      ? new Response('{}')
      : new Response('moved', { status: 302, headers: { location } });
  };
  const chosen = [issuer === '' ? undefined : issuer];
  return { sent, fetch: publicFetch({ baseUrl, chosen, fetch, lookUp }) };
}

describe('what a tool server of the internet names for its authorization', () => {
  it.each(['https://login.example/token', 'https://tools.example/metadata', 'https://nowhere.example/'])(
    'is asked: %s',
    async (url) => {
      const { sent, fetch } = fetching();
      expect((await fetch(url, { method: 'POST' })).status).toBe(200);
      expect(sent).toEqual([url]);
    },
  );

  it.each([
    'http://127.0.0.1:9200/x',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/x',
    'https://inside.example/token',
  ])('is not asked in the network of the service: %s', async (url) => {
    const { sent, fetch } = fetching();
    await expect(fetch(url)).rejects.toThrow(AuthorizationError);
    await expect(fetch(url)).rejects.toThrow(/not an address of the public internet.*oauth\.issuer/);
    expect(sent).toEqual([]);
  });

  it('is not asked there for a server whose name has a private address beside a public one', async () => {
    const { sent, fetch } = fetching({ baseUrl: 'https://inside.example/mcp' });
    await expect(fetch('http://169.254.169.254/')).rejects.toThrow(AuthorizationError);
    expect(sent).toEqual([]);
  });

  it('is not followed into the network of the service', async () => {
    const redirects = {
      'https://login.example/a': '/b',
      'https://login.example/b': 'http://10.0.0.5/c',
    };
    const { sent, fetch } = fetching({ redirects });
    await expect(fetch('https://login.example/a')).rejects.toThrow('http://10.0.0.5');
    expect(sent).toEqual(['https://login.example/a', 'https://login.example/b']);
  });

  it('is not followed without end, nor where it is sent something', async () => {
    const { sent, fetch } = fetching({ redirects: { 'https://login.example/a': '/a' } });
    expect((await fetch('https://login.example/a')).status).toBe(302);
    expect(sent).toHaveLength(6);
    expect((await fetch('https://login.example/a', { method: 'POST' })).status).toBe(302);
    expect(sent).toHaveLength(7);
  });

  it('is not followed for a caller that looks at redirects itself', async () => {
    const { sent, fetch } = fetching({ redirects: { 'https://login.example/a': 'https://tools.example/b' } });
    expect((await fetch('https://login.example/a', { redirect: 'manual' })).status).toBe(302);
    expect(sent).toEqual(['https://login.example/a']);
  });

  it('is asked anywhere where the configuration names it', async () => {
    const { sent, fetch } = fetching({ issuer: 'https://inside.example/realm' });
    await fetch('https://inside.example/token');
    expect(sent).toHaveLength(1);
  });
});

it('a tool server in a private network may have its authorization server there', async () => {
  for (const baseUrl of ['http://127.0.0.1:3000/mcp', 'https://tools.internal/mcp']) {
    const { sent, fetch } = fetching({ baseUrl });
    await fetch('http://10.0.0.5/token');
    expect(sent).toEqual(['http://10.0.0.5/token']);
  }
});
