import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  FETCH_COOLDOWN_MS,
  KEYS_FRESH_MS,
  KEYS_USABLE_MS,
} from '../../../../src/adapters/jwt/issuer-keys.ts';
import { ProviderStatusError } from '../../../../src/adapters/jwt/provider-json.ts';
import { type JwtRig, jwtRig } from '../../../support/access/jwt-rig.ts';
import {
  SigningIssuer,
  type SigningKey,
  signingKey,
  TEST_TIME,
} from '../../../support/access/signing-issuer.ts';

const DAYS = 7 * 86_400;
const exp = TEST_TIME / 1_000 + DAYS;
const METADATA = 'https://sso.example.com/.well-known/openid-configuration';
const JWKS = 'https://sso.example.com/jwks';
const down = (): Response => new Response('down', { status: 503 });

let first: SigningKey;
let second: SigningKey;
let issuer: SigningIssuer;
let rig: JwtRig;
let serial = 0;

beforeAll(async () => {
  [first, second] = await Promise.all([signingKey('k1', 'ES256'), signingKey('k2', 'ES256')]);
});

beforeEach(() => {
  issuer = new SigningIssuer('https://sso.example.com', [first]);
  rig = jwtRig(issuer);
});

/** A token that nobody has seen, so that it is not answered from the cache. */
const fresh = (key = first): Promise<string> => {
  serial += 1;
  return issuer.token({ exp, jti: `t-${serial}` }, { key });
};
const reasonOf = async (token: string): Promise<unknown> => (await rig.refusal(token)).details.reason;

describe('the keys of an issuer', () => {
  it('are fetched with the first token of that issuer, once for all that wait', async () => {
    expect(issuer.requests).toEqual([]);
    const tokens = await Promise.all([fresh(), fresh(), fresh()]);
    await Promise.all(tokens.map((token) => rig.identity(token)));
    expect(issuer.requests).toEqual([METADATA, JWKS]);
  });

  it('are where the service file says', async () => {
    rig = jwtRig(issuer, { jwksUri: JWKS });
    await rig.identity(await fresh());
    expect(issuer.requests).toEqual([JWKS]);
  });

  it('are fetched again for a key that is not known, and not again for the next such key', async () => {
    await rig.identity(await fresh());
    rig.pass(FETCH_COOLDOWN_MS);
    issuer.keys = [first, second];
    await expect(rig.identity(await fresh(second))).resolves.toMatchObject({ principal: 'sso:ada' });
    expect(issuer.requests).toHaveLength(4);
    for (const kid of ['invented', 'also invented'])
      expect(await reasonOf(await fresh({ ...first, kid }))).toBe('unknown key');
    expect(issuer.requests).toHaveLength(4);
    rig.pass(FETCH_COOLDOWN_MS);
    expect(await reasonOf(await fresh({ ...first, kid: 'invented' }))).toBe('unknown key');
    expect(issuer.requests).toHaveLength(6);
  });

  it('are no longer accepted once they were withdrawn', async () => {
    const long = await fresh();
    await rig.identity(long);
    issuer.keys = [second];
    rig.pass(KEYS_FRESH_MS - 1);
    await expect(rig.identity(await fresh())).resolves.toBeDefined();
    rig.pass(1);
    expect(await reasonOf(await fresh())).toBe('unknown key');
    expect(await reasonOf(long)).toBe('unknown key');
  });

  it('need no id where the issuer gives none', async () => {
    const header = { kid: undefined };
    const anonymous = (key: SigningKey) => issuer.token({ jti: String(serial++) }, { key, header });
    await rig.identity(await anonymous(first));
    issuer.keys = [first, second];
    rig.pass(FETCH_COOLDOWN_MS);
    await expect(rig.identity(await anonymous(second))).resolves.toBeDefined();
    await expect(rig.identity(await anonymous(first))).resolves.toBeDefined();
    const stranger = await signingKey('k3', 'ES256');
    expect(await reasonOf(await anonymous(stranger))).toBe('wrong signature');
    expect(issuer.requests).toHaveLength(4);
  });
});

describe('an issuer that does not answer', () => {
  beforeEach(() => {
    issuer.respond = down;
  });

  it('makes its tokens unverifiable, not wrong', async () => {
    const token = await fresh();
    expect(await rig.refusal(token)).toEqual({
      code: 'SERVICE_UNAVAILABLE',
      message: 'The identity provider of this token does not answer. Try again in a moment.',
      details: { reason: 'the keys of the identity provider cannot be fetched', retryAfter: 10 },
    });
    rig.pass(3_500);
    expect((await rig.refusal(token)).details.retryAfter).toBe(7);
    expect(issuer.requests).toHaveLength(1);
    issuer.respond = undefined;
    rig.pass(6_500);
    await expect(rig.identity(token)).resolves.toBeDefined();
  });

  it('is not asked again at once when it took longer to fail than the time between two attempts', async () => {
    issuer.respond = () => {
      rig.pass(FETCH_COOLDOWN_MS + 5_000);
      return down();
    };
    expect((await rig.refusal(await fresh())).details.retryAfter).toBe(10);
    expect(issuer.requests).toHaveLength(1);
  });

  it('is logged once, without anything of a token, and again when it answers', async () => {
    const token = await fresh();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await rig.refusal(token);
      rig.pass(FETCH_COOLDOWN_MS);
    }
    issuer.respond = undefined;
    await rig.identity(token);
    expect(rig.log.lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'the keys of an identity provider cannot be fetched'],
      ['info', 'the keys of the identity provider are there again'],
    ]);
    expect(rig.log.lines[0]?.fields).toMatchObject({
      issuer: 'sso',
      err: new ProviderStatusError(METADATA, 503),
    });
  });

  it('leaves its known keys in use for a day', async () => {
    issuer.respond = undefined;
    await rig.identity(await fresh());
    issuer.respond = down;
    rig.pass(KEYS_FRESH_MS);
    await expect(rig.identity(await fresh())).resolves.toBeDefined();
    expect(await rig.refusal(await fresh(second))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    rig.pass(KEYS_USABLE_MS - KEYS_FRESH_MS - 1);
    await expect(rig.identity(await fresh())).resolves.toBeDefined();
    rig.pass(1);
    expect(await rig.refusal(await fresh())).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it.each([
    ['no JSON', () => new Response('<html>')],
    ['no keys', () => Response.json({ issuer: 'https://sso.example.com' })],
    ['null', () => Response.json(null)],
    ['a list', () => Response.json([])],
  ])('is one that answers with %s', async (_, respond) => {
    issuer.respond = respond;
    rig = jwtRig(issuer, { jwksUri: JWKS });
    expect(await rig.refusal(await fresh())).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(rig.log.lines).toHaveLength(1);
  });
});

describe('a verified token', () => {
  it('is answered at once the second time, without a promise', async () => {
    const token = await fresh();
    expect(rig.verifier.verify(token)).toBeInstanceOf(Promise);
    const identity = await rig.identity(token);
    expect(rig.verifier.verify(token)).toBe(identity);
  });

  it('is checked again after ten minutes', async () => {
    const token = await fresh();
    const identity = await rig.identity(token);
    rig.pass(10 * 60_000 - 1);
    expect(rig.verifier.verify(token)).toBe(identity);
    rig.pass(1);
    expect(await rig.verifier.verify(token)).not.toBe(identity);
  });

  it('is never answered from memory after its end', async () => {
    const token = await issuer.token();
    const identity = await rig.identity(token);
    rig.pass(299_999);
    expect(rig.verifier.verify(token)).toBe(identity);
    rig.pass(1);
    const again = rig.verifier.verify(token);
    expect(again).toBeInstanceOf(Promise);
    await again;
    rig.pass(30_000);
    expect(await reasonOf(token)).toBe('expired');
  });

  it('is not remembered if it was refused', async () => {
    const token = await issuer.token({ nbf: TEST_TIME / 1_000 + 60 });
    expect(await reasonOf(token)).toBe('not yet valid');
    rig.pass(30_000);
    await expect(rig.identity(token)).resolves.toBeDefined();
  });
});
