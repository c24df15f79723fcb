import { exportSPKI, SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type JwtRig, jwtRig } from '../../../support/access/jwt-rig.ts';
import {
  SigningIssuer,
  type SigningKey,
  signingKey,
  TEST_TIME,
} from '../../../support/access/signing-issuer.ts';

const NOW = TEST_TIME / 1_000;
let key: SigningKey;
let issuer: SigningIssuer;
let rig: JwtRig;

beforeAll(async () => {
  key = await signingKey('k1');
});

beforeEach(() => {
  issuer = new SigningIssuer('https://sso.example.com/realms/a', [key]);
  rig = jwtRig(issuer);
});

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The refusal's reason; fails if the answer holds anything of the token. */
async function reasonOf(token: string, refusing = rig): Promise<unknown> {
  const { code, message, details } = await refusing.refusal(token);
  expect(code).toBe('UNAUTHORIZED');
  const said = JSON.stringify([message, details, refusing.log.lines]);
  for (const part of token.split('.').filter((text) => text.length > 3)) expect(said).not.toContain(part);
  for (const secret of ['ada', 'sso.example.com', 'mallory']) expect(said).not.toContain(secret);
  return details.reason;
}

describe('a JWT is refused', () => {
  it('without a signature', async () => {
    const claims = { iss: issuer.url, aud: 'agent', sub: 'ada', exp: NOW + 300 };
    expect(await reasonOf(new UnsecuredJWT(claims).encode())).toBe('algorithm not allowed');
    const payload = encoded(claims);
    for (const alg of ['none', 'None', 'NONE'])
      expect(await reasonOf(`${encoded({ alg })}.${payload}.c2ln`)).toBe('algorithm not allowed');
  });

  it('if it was signed with the public key as a shared secret', async () => {
    const secret = new TextEncoder().encode(await exportSPKI(key.publicKey));
    for (const alg of ['HS256', 'HS384', 'HS512']) {
      const forged = await new SignJWT({ iss: issuer.url, aud: 'agent', sub: 'ada', exp: NOW + 300 })
        .setProtectedHeader({ alg, kid: key.kid })
        .sign(secret);
      expect(await reasonOf(forged)).toBe('algorithm not allowed');
    }
  });

  it('with an algorithm that is not configured', async () => {
    const strict = jwtRig(issuer, { algorithms: ['ES256'] });
    expect(await reasonOf(await issuer.token(), strict)).toBe('algorithm not allowed');
    expect(issuer.requests).toEqual([]);
  });

  it('with a key that the issuer does not have, or another key under its name', async () => {
    const stranger = await signingKey('k2');
    expect(await reasonOf(await issuer.token({}, { key: stranger }))).toBe('unknown key');
    expect(await reasonOf(await issuer.token({}, { key: { ...stranger, kid: 'k1' } }))).toBe(
      'wrong signature',
    );
  });

  it('with the key that it brings along', async () => {
    const stranger = await signingKey('k1');
    const header = { jku: 'https://mallory.example.com/jwks', jwk: { kty: 'RSA', n: 'AQAB', e: 'AQAB' } };
    expect(await reasonOf(await issuer.token({}, { key: stranger, header }))).toBe('wrong signature');
    expect(issuer.requests.every((url) => url.startsWith(issuer.url))).toBe(true);
  });

  it('if it was changed', async () => {
    const [header, , signature] = (await issuer.token()).split('.');
    const payload = encoded({ iss: issuer.url, aud: 'agent', sub: 'mallory', exp: NOW + 300 });
    expect(await reasonOf(`${header}.${payload}.${signature}`)).toBe('wrong signature');
  });

  it.each([
    ['another issuer', { iss: 'https://mallory.example.com' }],
    ['the issuer with a slash more', { iss: 'https://sso.example.com/realms/a/' }],
    ['no issuer', { iss: undefined }],
    ['an object as its issuer', { iss: {} }],
  ])('of %s', async (_, claims) => {
    expect(await reasonOf(await issuer.token(claims as never))).toBe('wrong issuer');
    expect(issuer.requests).toEqual([]);
  });

  it.each([[undefined], ['other'], [['other', 'agents']], [[]], [''], [{ agent: true }]])(
    'for the audience %j',
    async (aud) => expect(await reasonOf(await issuer.token({ aud } as never))).toBe('wrong audience'),
  );

  it('once it has expired, beyond the skew of the clocks', async () => {
    expect(await reasonOf(await issuer.token({ exp: NOW - 30 }))).toBe('expired');
    expect(await reasonOf(await issuer.token({ exp: NOW - 3600 }))).toBe('expired');
    const exact = jwtRig(issuer, { clockSkewSeconds: 0 });
    expect(await reasonOf(await issuer.token({ exp: NOW }), exact)).toBe('expired');
    await expect(rig.identity(await issuer.token({ exp: NOW - 29 }))).resolves.toMatchObject({
      principal: 'sso:ada',
    });
  });

  it('before it is valid', async () => {
    expect(await reasonOf(await issuer.token({ nbf: NOW + 31 }))).toBe('not yet valid');
    await expect(rig.identity(await issuer.token({ nbf: NOW + 30 }))).resolves.toBeDefined();
  });

  it.each([
    ['missing claim', undefined],
    ['invalid claim', 'never'],
    ['invalid claim', null],
  ])('without an end: %s', async (reason, exp) => {
    const token = await issuer.token({ exp } as never);
    expect(await rig.refusal(token)).toMatchObject({ details: { reason, claim: 'exp' } });
  });

  it('with an end at infinity', async () => {
    const header = encoded({ alg: 'RS256', kid: 'k1' });
    const text = `{"iss":"${issuer.url}","aud":"agent","sub":"ada","exp":1e999}`;
    const signed = `${header}.${Buffer.from(text).toString('base64url')}`;
    const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key.privateKey, Buffer.from(signed));
    const token = `${signed}.${Buffer.from(signature).toString('base64url')}`;
    expect(await rig.refusal(token)).toMatchObject({ details: { reason: 'invalid claim', claim: 'exp' } });
  });

  it('with a critical header parameter', async () => {
    const parts = (await issuer.token()).split('.');
    const header = encoded({ alg: 'RS256', kid: 'k1', crit: ['x'], x: 1 });
    expect(await reasonOf([header, ...parts.slice(1)].join('.'))).toBe('unsupported');
  });

  it.each(['logout+jwt', 'dpop+jwt', 'application/secevent+jwt', 'at+jwtx', ''])(
    'of the type %j',
    async (typ) => expect(await reasonOf(await issuer.token({}, { header: { typ } }))).toBe('wrong type'),
  );

  it.each([{ typ: 'ID' }, { typ: 'Refresh' }, { cnf: { jkt: 'abc' } }])(
    'that is no access token for its bearer: %j',
    async (claims) => expect(await reasonOf(await issuer.token(claims))).toBe('wrong type'),
  );

  it.each(['JWT', 'jwt', 'at+jwt', 'application/at+jwt', undefined])(
    'but not of the type %s',
    async (typ) => {
      await expect(rig.identity(await issuer.token({}, { header: { typ } }))).resolves.toBeDefined();
    },
  );

  it('of more than 16 KB, without looking at it', async () => {
    const huge = await issuer.token({ filler: 'x'.repeat(16 * 1024) });
    expect(() => rig.verifier.verify(huge)).toThrow('too large');
    expect(await reasonOf(huge)).toBe('too large');
  });

  it.each([
    '',
    'e',
    'a.b.c',
    'e30.e30',
    'eyJ.eyJ.x',
    '..',
    '\0.\0.\0',
    'e30.W10.e30',
    'a.b.c.d.e',
    'as_0123456789',
  ])('if it is none: %j', async (text) => expect(await reasonOf(text)).toBe('malformed'));

  it('without any claim', async () => expect(await reasonOf('e30.e30.e30')).toBe('wrong issuer'));
});

describe('a JWT', () => {
  it('is known by its form', async () => {
    expect(rig.verifier.recognizes(await issuer.token())).toBe(true);
    for (const text of ['', 'as_abc', 'as_a.b.c', 'e..', 'e.a.', 'e.a.b.c', 'ea.b', 'opaque', 'e.a.b.c.d'])
      expect([text, rig.verifier.recognizes(text)]).toEqual([text, text === 'e.a.']);
  });
});
