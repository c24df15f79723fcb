import {
  type ApiKey,
  formatApiKey,
  generateApiKey,
  looksLikeApiKey,
  parseApiKey,
} from '../../core/access/api-key.ts';
import type { ApiKeyRecord, CreatedApiKey, NewApiKey } from '../../core/access/api-key-record.ts';
import type { Identity, TenantId } from '../../core/access/identity.ts';
import type { Scope } from '../../core/access/scopes.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { LoggedEvent } from '../../core/log/events.ts';
import { API_KEYS_STREAM } from '../../core/log/streams.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import type { SecretHash } from '../../ports/secret-hash.ts';
import type { TokenVerifier } from '../../ports/token-verifier.ts';
import { SharedStream } from '../streams/shared-stream.ts';
import { foldKey, identityOf, KEY_PRINCIPAL, type KeyEntry, recordOf, statusOf } from './key-entry.ts';
import { mistypedKey, pastExpiry, refusedKey, unknownKeyId, unknownRole } from './key-errors.ts';

export interface KeyBookDeps {
  readonly store: EventStore;
  readonly hashing: SecretHash;
  /** The roles that a key may have, and their scopes. */
  readonly roles: Readonly<Record<string, readonly Scope[]>>;
  readonly log: Logger;
  /** The time in milliseconds since the epoch. A simulated one, in tests. */
  readonly now?: () => number;
}

type OnRevoked = (credential: string) => void;

/**
 * The API keys of the service: records in the log which were created and revoked, and verifies them. Two keys of one
 * tenant with the same name are the same principal. So a key is replaced without a gap: create the second one, give it
 * to its user, revoke the first one. Other nodes may create and revoke keys, too: `catchUp` reads what they did.
 */
export class KeyBook implements TokenVerifier {
  readonly principals = [KEY_PRINCIPAL];
  readonly #deps: KeyBookDeps;
  readonly #now: () => number;
  /** By the id of the key, in the order of their creation. */
  readonly #entries = new Map<string, KeyEntry>();
  /** The same object for each request with a key. */
  readonly #identities = new Map<string, Identity>();
  /** The ids of keys by their whole text, once it was verified: a hash for each request would be a third of its check. */
  readonly #verified = new Map<string, string>();
  readonly #listeners = new Set<OnRevoked>();
  /** What the secret of an unknown key is compared with, so that it takes as long as with a known one. */
  readonly #nobodysHash: string;
  readonly #stream: SharedStream;

  private constructor(deps: KeyBookDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? Date.now;
    this.#nobodysHash = deps.hashing.hash('');
    this.#stream = new SharedStream(deps.store, API_KEYS_STREAM, (envelope) => this.#fold(envelope));
  }

  static async load(deps: KeyBookDeps): Promise<KeyBook> {
    const book = new KeyBook(deps);
    await book.catchUp();
    return book;
  }

  /** Reads what other nodes have written. The listeners hear of each key that they revoked. */
  catchUp(): Promise<void> {
    return this.#stream.catchUp();
  }

  recognizes(token: string): boolean {
    return looksLikeApiKey(token);
  }

  subjectOf(token: string): string | null {
    return parseApiKey(token)?.keyId ?? null;
  }

  /** Only a client that has the secret of a key learns that the key was revoked or has expired. */
  verify(token: string): Identity {
    const keyId = this.#verified.get(token) ?? this.#verifyAnew(token);
    const entry = this.#entries.get(keyId);
    const identity = this.#identities.get(keyId);
    if (!entry || !identity) throw refusedKey('unknown');
    const status = statusOf(entry, this.#now());
    if (status === 'revoked') throw refusedKey('revoked');
    if (status === 'expired') throw refusedKey('expired');
    return identity;
  }

  /** @returns the id of the key. */
  #verifyAnew(token: string): string {
    const key = parseApiKey(token);
    if (!key) throw mistypedKey();
    const { keyId, secret } = key;
    const entry = this.#entries.get(keyId);
    const isRight = this.#deps.hashing.matches(secret, entry?.hash ?? this.#nobodysHash);
    if (!isRight || !entry) throw refusedKey('unknown');
    this.#verified.set(token, keyId);
    return keyId;
  }

  /** Resolves when the key would survive a crash. Throws `INVALID_REQUEST` for an unknown role or a past expiry. */
  async create({ name, roles, tenant, expiresAt }: NewApiKey, origin: Origin): Promise<CreatedApiKey> {
    const unknown = roles.find((role) => !Object.hasOwn(this.#deps.roles, role));
    if (unknown !== undefined) throw unknownRole(unknown, Object.keys(this.#deps.roles));
    if (expiresAt !== undefined && expiresAt <= this.#now()) throw pastExpiry();
    const fields = { name, roles: [...new Set(roles)], tenant };
    const expiry = expiresAt === undefined ? {} : { expiresAt };
    return this.#stream.write(() => {
      const key = this.#unusedKey();
      const { keyId, secret } = key;
      const hash = this.#deps.hashing.hash(secret);
      return {
        events: [{ type: 'api-key.created', keyId, ...fields, hash, ...expiry }],
        answer: () => ({ key: formatApiKey(key), record: this.#recordOf(keyId) }),
      };
    }, origin);
  }

  /** In the order of their creation. @param tenant only its keys; those of all tenants if absent. */
  list(tenant?: TenantId): ApiKeyRecord[] {
    return [...this.#entries.values()]
      .filter((entry) => tenant === undefined || entry.tenant === tenant)
      .map((entry) => recordOf(entry, this.#now()));
  }

  /**
   * Resolves when the key is refused and would be after a crash, also if it was revoked before. Throws
   * `API_KEY_NOT_FOUND`. @param tenant the key must be of this tenant; it may be of any if undefined.
   */
  revoke(keyId: string, tenant: TenantId | undefined, origin: Origin): Promise<ApiKeyRecord> {
    return this.#stream.write(() => {
      const entry = this.#entries.get(keyId);
      if (!entry || (tenant !== undefined && entry.tenant !== tenant)) throw unknownKeyId(keyId);
      const isRevoked = entry.revokedAt !== undefined;
      return {
        events: isRevoked ? [] : [{ type: 'api-key.revoked', keyId }],
        answer: () => this.#recordOf(keyId),
      };
    }, origin);
  }

  /** @param listener is called with the `credential` of the identity of each key that is revoked from now on. */
  onRevoked(listener: OnRevoked): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #unusedKey(): ApiKey {
    const key = generateApiKey();
    return this.#entries.has(key.keyId) ? this.#unusedKey() : key;
  }

  #recordOf(keyId: string): ApiKeyRecord {
    const entry = this.#entries.get(keyId);
    if (!entry) throw new Error('the log has stored no key');
    return recordOf(entry, this.#now());
  }

  #fold(envelope: Envelope<LoggedEvent>): void {
    const entry = foldKey(this.#entries, envelope);
    this.#entries.set(entry.keyId, entry);
    this.#identities.set(entry.keyId, identityOf(entry, this.#deps.roles));
    if (entry.revokedAt !== undefined) this.#tellRevoked(entry.keyId);
  }

  #tellRevoked(keyId: string): void {
    const credential = this.#identities.get(keyId)?.credential;
    if (credential === undefined) return;
    for (const listener of this.#listeners) {
      try {
        listener(credential);
      } catch (error) {
        this.#deps.log.error({ credential, err: error }, 'a listener of revoked API keys failed');
      }
    }
  }
}
