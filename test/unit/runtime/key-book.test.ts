import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { sha256Hash } from '../../../src/adapters/sha256/sha256-hash.ts';
import { formatApiKey, generateApiKey, parseApiKey } from '../../../src/core/access/api-key.ts';
import { ROLES, Scope } from '../../../src/core/access/scopes.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { Origin } from '../../../src/core/log/event-metadata.ts';
import { API_KEYS_STREAM } from '../../../src/core/log/streams.ts';
import type { KeyBook, KeyBookDeps } from '../../../src/runtime/access/key-book.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';
import { keyBook } from '../../support/service/key-book.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const ADA: Origin = { actor: { kind: 'client', principal: 'key:ada' }, causationId: 'asked' };
const CI = { name: 'ci', roles: ['user'], tenant: 'default' };
const full = new Error('disk full');

async function open(deps: Partial<KeyBookDeps> = {}) {
  const store = new WatchedStore(memoryEventStore());
  const book = await keyBook(store, deps);
  return { store, book, restarted: () => keyBook(store, deps) };
}

/** The error with which a token is refused. */
function refusal(book: KeyBook, token: string): ServiceError {
  try {
    book.verify(token);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('the token was accepted');
}

const reasonOf = (book: KeyBook, token: string) => refusal(book, token).details.reason;

describe('an API key', () => {
  it('identifies its principal, with the scopes of its roles', async () => {
    const { book } = await open();
    const { key, record } = await book.create({ ...CI, roles: ['reader', 'approver'], tenant: 'acme' }, ADA);
    expect(book.recognizes(key)).toBe(true);
    expect(book.verify(key)).toEqual({
      principal: 'key:ci',
      tenant: 'acme',
      roles: ['reader', 'approver'],
      scopes: new Set(['sessions:read', 'servers:read', 'approvals:decide']),
      credential: `key:${record.keyId}`,
    });
  });

  it('may have configured roles, and those of an admin are all', async () => {
    const { book } = await open({ roles: { ...ROLES, auditor: ['metrics:read'] } });
    const auditor = await book.create({ ...CI, roles: ['auditor', 'auditor'] }, ADA);
    expect(book.verify(auditor.key)).toMatchObject({
      roles: ['auditor'],
      scopes: new Set(['metrics:read']),
    });
    const admin = await book.create({ ...CI, roles: ['admin'] }, ADA);
    expect(book.verify(admin.key).scopes).toEqual(new Set(Scope.options));
  });

  it('has no scopes of a role that is configured no more', async () => {
    const { store, book } = await open({ roles: { ...ROLES, auditor: ['metrics:read'] } });
    const { key } = await book.create({ ...CI, roles: ['auditor'] }, ADA);
    expect((await keyBook(store)).verify(key).scopes).toEqual(new Set());
  });

  it('is known after a restart, and so is its end', async () => {
    const { book, restarted } = await open();
    const { key } = await book.create(CI, ADA);
    const other = await book.create(CI, ADA);
    await book.revoke(other.record.keyId, 'default', ADA);
    const again = await restarted();
    expect(again.verify(key)).toEqual(book.verify(key));
    expect(reasonOf(again, other.key)).toBe('revoked');
    expect(again.list()).toEqual(book.list());
  });

  it('of one name is one principal, so that a second key replaces the first', async () => {
    const { book } = await open();
    const first = await book.create(CI, ADA);
    const second = await book.create(CI, ADA);
    await book.revoke(first.record.keyId, 'default', ADA);
    expect(book.verify(second.key)).toMatchObject({ principal: 'key:ci' });
    expect(reasonOf(book, first.key)).toBe('revoked');
  });

  it('expires', async () => {
    let now = 1_000_000;
    const { book, restarted } = await open({ now: () => now });
    const { key } = await book.create({ ...CI, expiresAt: now + 5_000 }, ADA);
    now += 4_999;
    expect(book.verify(key).expiresAt).toBe(1_005_000);
    expect(book.list()[0]).toMatchObject({ status: 'active', expiresAt: '1970-01-01T00:16:45.000Z' });
    now += 1;
    for (const each of [book, await restarted()]) {
      expect(reasonOf(each, key)).toBe('expired');
      expect(each.list()[0]).toMatchObject({ status: 'expired' });
    }
  });

  it('is not created with a role that nobody has defined, or an expiry in the past', async () => {
    const { store, book } = await open({ now: () => 1_000 });
    for (const role of ['root', 'constructor'])
      await expect(book.create({ ...CI, roles: ['user', role] }, ADA)).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: { field: 'roles', issue: `there is no role "${role}"` },
      });
    await expect(book.create({ ...CI, expiresAt: 1_000 }, ADA)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'expiresAt' },
    });
    expect(await store.read(API_KEYS_STREAM, 0)).toEqual([]);
  });
});

describe('the log of the API keys', () => {
  it('says who did it, and has no secret', async () => {
    const { store, book } = await open();
    const { key, record } = await book.create(CI, ADA);
    await book.revoke(record.keyId, 'default', ADA);
    const envelopes = await store.read(API_KEYS_STREAM, 0);
    expect(envelopes.map(({ event, meta }) => [event.type, meta?.actor])).toEqual([
      ['api-key.created', ADA.actor],
      ['api-key.revoked', ADA.actor],
    ]);
    const secret = parseApiKey(key)?.secret ?? '';
    expect(secret).toHaveLength(32);
    expect(JSON.stringify(envelopes)).not.toContain(secret);
    expect(JSON.stringify(envelopes)).toContain(sha256Hash.hash(secret));
  });

  it('is no session', async () => {
    const { store, book } = await open();
    await book.create(CI, ADA);
    expect(await store.sessions({ open: true })).toEqual([]);
    expect((await store.sessions()).map(({ sessionId }) => sessionId)).toEqual(['~api-keys']);
  });

  it('may refuse a key, which is then not accepted', async () => {
    const { store, book } = await open();
    store.refuseNext('api-key.created', full);
    await expect(book.create(CI, ADA)).rejects.toBe(full);
    expect(book.list()).toEqual([]);
    const { key } = await book.create(CI, ADA);
    expect(book.verify(key)).toMatchObject({ principal: 'key:ci' });
  });

  it('may store a revocation that it seems to refuse, and the second attempt finds it', async () => {
    const { store, book } = await open();
    const { key, record } = await book.create(CI, ADA);
    const heard: string[] = [];
    book.onRevoked((credential) => heard.push(credential));
    store.afterAppend = () => Promise.reject(full);
    await expect(book.revoke(record.keyId, 'default', ADA)).rejects.toBe(full);
    store.afterAppend = async () => undefined;
    expect(await book.revoke(record.keyId, 'default', ADA)).toMatchObject({ status: 'revoked' });
    expect(reasonOf(book, key)).toBe('revoked');
    expect(heard).toEqual([`key:${record.keyId}`]);
    expect(await store.read(API_KEYS_STREAM, 0)).toHaveLength(2);
  });

  it('gets the keys of many requests at once', async () => {
    const { book, restarted } = await open();
    const created = await Promise.all(Array.from({ length: 20 }, () => book.create(CI, ADA)));
    const again = await restarted();
    for (const { key } of created) expect(again.verify(key)).toMatchObject({ principal: 'key:ci' });
  });
});

describe('the list of the API keys', () => {
  it('has neither secrets nor hashes, and the keys of one tenant', async () => {
    const { book } = await open({ now: () => 0 });
    const { key, record } = await book.create(CI, ADA);
    const other = await book.create({ ...CI, tenant: 'acme' }, ADA);
    expect(book.list('default')).toEqual([record]);
    expect(book.list('acme')).toEqual([other.record]);
    expect(book.list('nobody')).toEqual([]);
    expect(book.list()).toEqual([record, other.record]);
    expect(Object.keys(record)).toEqual(['keyId', 'name', 'roles', 'tenant', 'status', 'createdAt']);
    const secret = parseApiKey(key)?.secret ?? '';
    for (const part of [secret, sha256Hash.hash(secret)])
      expect(JSON.stringify(book.list())).not.toContain(part);
  });
});

describe('a revocation', () => {
  it('counts at once, is told once, and may be repeated', async () => {
    const { store, book } = await open();
    const { key, record } = await book.create(CI, ADA);
    const heard: string[] = [];
    const forget = book.onRevoked((credential) => heard.push(credential));
    const revoked = await book.revoke(record.keyId, 'default', ADA);
    expect(revoked).toMatchObject({ status: 'revoked', revokedAt: expect.stringMatching(/Z$/) });
    expect(reasonOf(book, key)).toBe('revoked');
    expect(await book.revoke(record.keyId, 'default', ADA)).toEqual(revoked);
    expect(heard).toEqual([`key:${record.keyId}`]);
    expect(await store.read(API_KEYS_STREAM, 0)).toHaveLength(2);

    forget();
    const other = await book.create(CI, ADA);
    await book.revoke(other.record.keyId, 'default', ADA);
    expect(heard).toHaveLength(1);
  });

  it('reaches all listeners, also if one of them fails', async () => {
    const log = recordingLog();
    const { book } = await open({ log });
    const { record } = await book.create(CI, ADA);
    const heard: string[] = [];
    book.onRevoked(() => {
      throw new Error('broken');
    });
    book.onRevoked((credential) => heard.push(credential));
    await book.revoke(record.keyId, 'default', ADA);
    expect(heard).toEqual([`key:${record.keyId}`]);
    expect(log.lines).toHaveLength(1);
  });

  it('of a key of another tenant finds nothing, as of none', async () => {
    const { book } = await open();
    const { key, record } = await book.create(CI, ADA);
    const refusals = await Promise.all(
      ['nobodys0', record.keyId].map((keyId) => book.revoke(keyId, 'acme', ADA).catch((error) => error)),
    );
    expect(refusals.map((error) => error.body)).toEqual(
      ['nobodys0', record.keyId].map((keyId) => ({
        code: 'API_KEY_NOT_FOUND',
        message: `There is no API key ${keyId}.`,
        details: { keyId },
      })),
    );
    expect(book.verify(key)).toMatchObject({ tenant: 'default' });
    expect(await book.revoke(record.keyId, undefined, ADA)).toMatchObject({ status: 'revoked' });
  });
});

describe('what is no key of the service', () => {
  it('is refused alike if the id is unknown and if the secret is wrong', async () => {
    const { book } = await open();
    const { record } = await book.create(CI, ADA);
    const stranger = generateApiKey();
    const guessed = formatApiKey({ keyId: record.keyId, secret: stranger.secret });
    expect(refusal(book, guessed).body).toEqual(refusal(book, formatApiKey(stranger)).body);
    expect(reasonOf(book, guessed)).toBe('unknown');
  });

  it('does not learn that a key was revoked', async () => {
    const { book } = await open();
    const { record } = await book.create(CI, ADA);
    await book.revoke(record.keyId, 'default', ADA);
    const guessed = formatApiKey({ keyId: record.keyId, secret: generateApiKey().secret });
    expect(reasonOf(book, guessed)).toBe('unknown');
  });

  it('is refused by its checksum, before any secret is compared', async () => {
    let compared = 0;
    const hashing = {
      ...sha256Hash,
      matches: (secret: string, hash: string) => {
        compared += 1;
        return sha256Hash.matches(secret, hash);
      },
    };
    const { book } = await open({ hashing });
    const { key } = await book.create(CI, ADA);
    const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    expect(reasonOf(book, mistyped)).toBe('mistyped');
    expect(compared).toBe(0);
    book.verify(key);
    expect(compared).toBe(1);
  });

  it('is never accepted, throws nothing but UNAUTHORIZED, and is not repeated in the error', async () => {
    const { book } = await open();
    const { key } = await book.create(CI, ADA);
    const random = seededRandom(20_261_122);
    const pick = (below: number) => Math.floor(random() * below);
    for (let round = 0; round < 20_000; round += 1) {
      const token = randomToken(key, pick);
      if (token === key) continue;
      const error = refusal(book, token);
      expect(error.code).toBe('UNAUTHORIZED');
      if (token.length >= 8) expect(JSON.stringify(error.body)).not.toContain(token.slice(3, 11));
    }
  });
});

/** Any text, or a right key in which some characters are others, missing or more. */
function randomToken(key: string, pick: (below: number) => number): string {
  const char = () => String.fromCharCode(pick(4) === 0 ? pick(0x1_0000) : 33 + pick(94));
  const text = (length: number) => Array.from({ length }, char).join('');
  const at = pick(key.length);
  switch (pick(5)) {
    case 0:
      return text(pick(80));
    case 1:
      return `as_${text(8)}_${text(38)}`;
    case 2:
      return key.slice(0, at) + text(pick(3)) + key.slice(at + pick(3));
    case 3:
      return formatApiKey({ keyId: key.slice(3, 11), secret: generateApiKey().secret });
    default:
      return formatApiKey(generateApiKey());
  }
}

describe('the API keys of several nodes', () => {
  /** Two nodes on one log, and what each has heard of revocations. */
  async function nodes() {
    const store = memoryEventStore();
    const open = async () => {
      const book = await keyBook(store);
      const heard: string[] = [];
      book.onRevoked((credential) => heard.push(credential));
      return { book, heard };
    };
    return { store, one: await open(), other: await open() };
  }

  it('are all there when several nodes create some at once', async () => {
    const { one, other } = await nodes();
    const created = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).book.create(CI, ADA)),
    );
    for (const { book } of [one, other]) {
      await book.catchUp();
      for (const { key } of created) expect(book.verify(key)).toMatchObject({ principal: 'key:ci' });
    }
    expect(one.book.list()).toEqual(other.book.list());
    expect(new Set(one.book.list().map(({ keyId }) => keyId)).size).toBe(20);
  });

  it('are accepted and refused by a node that has caught up, and its listeners hear of the end', async () => {
    const { one, other } = await nodes();
    const { key, record } = await one.book.create(CI, ADA);
    expect(reasonOf(other.book, key)).toBe('unknown');
    await other.book.catchUp();
    expect(other.book.verify(key)).toEqual(one.book.verify(key));
    await one.book.revoke(record.keyId, 'default', ADA);
    expect(other.heard).toEqual([]);
    await other.book.catchUp();
    expect(reasonOf(other.book, key)).toBe('revoked');
    expect(other.heard).toEqual([`key:${record.keyId}`]);
    await other.book.catchUp();
    expect(other.heard).toHaveLength(1);
  });

  it('are revoked once when both do it at once, and each node tells its own listeners', async () => {
    const { store, one, other } = await nodes();
    const { record } = await one.book.create(CI, ADA);
    const [revoked, again] = await Promise.all(
      [one, other].map(({ book }) => book.revoke(record.keyId, 'default', ADA)),
    );
    expect(revoked).toEqual(again);
    expect(await store.read(API_KEYS_STREAM, 0)).toHaveLength(2);
    expect([one.heard, other.heard]).toEqual([[`key:${record.keyId}`], [`key:${record.keyId}`]]);
  });
});
