// Not the package's index: it loads the drivers of every database, which costs each start some 50 ms. Nor its limiter, which
// answers each of several calls a message with a promise, and with a rejected one at the limit, though it never waits.
import MemoryStorage from 'rate-limiter-flexible/lib/component/MemoryStorage/MemoryStorage.js';
import type { LimitsConfig } from '../../config/schema/agent-config.ts';
import type { ServiceError } from '../../core/errors.ts';
import { limitExceeded, secondsFromNow } from '../../core/limit-errors.ts';
import { TooLargeError } from '../../core/size-limits.ts';

const WINDOW_SECONDS = 60;

/** The state of one limit for a client. `resetTime` is in Unix seconds. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  readonly resetTime: number;
  readonly exceeded: boolean;
}

/** Limits the events of a key per minute. A window begins with its first event. `false` switches the limit off. */
export class WindowLimit {
  readonly #limit: number | false;
  readonly #windows = new MemoryStorage();
  #refusals = 0;

  constructor(limit: number | false) {
    this.#limit = limit;
  }

  /** Counts one event. Null if the limit is off. */
  take(key: string): Allowance | null {
    const limit = this.#limit;
    if (limit === false) return null;
    const { consumedPoints: events, msBeforeNext } = this.#windows.incrby(key, 1, WINDOW_SECONDS);
    const allowance = allowanceOf(limit, events, msBeforeNext);
    if (allowance.exceeded) this.#refusals += 1;
    return allowance;
  }

  /** The state of the limit. Counts nothing. Null if the limit is off. */
  look(key: string): Allowance | null {
    const limit = this.#limit;
    if (limit === false) return null;
    const window = this.#windows.get(key);
    return window && window.msBeforeNext > 0
      ? allowanceOf(limit, window.consumedPoints, window.msBeforeNext)
      : allowanceOf(limit, 0, WINDOW_SECONDS * 1000);
  }

  /** Whether the next event of the key would be one too many. Counts nothing. */
  isUsedUp(key: string): boolean {
    const window = this.#windows.get(key);
    return (
      this.#limit !== false &&
      window !== null &&
      window.msBeforeNext > 0 &&
      window.consumedPoints >= this.#limit
    );
  }

  /** How often the limit was exceeded. */
  get refusals(): number {
    return this.#refusals;
  }

  forget(key: string): void {
    this.#windows.delete(key);
  }
}

/** Limits how many connections a key has open at once. Synchronous, so that it is exact for concurrent callers. */
export class ConcurrencyLimit {
  readonly #limit: number | false;
  readonly #open = new Map<string, number>();
  #refusals = 0;

  constructor(limit: number | false) {
    this.#limit = limit;
  }

  /** @returns the refusal, or null if there was room. After null, call `leave` exactly once. */
  enter(key: string): Allowance | null {
    const open = this.#open.get(key) ?? 0;
    if (this.#limit !== false && open >= this.#limit) {
      this.#refusals += 1;
      return { limit: this.#limit, remaining: 0, resetTime: secondsFromNow(1), exceeded: true };
    }
    this.#open.set(key, open + 1);
    return null;
  }

  /** How often there was no room. */
  get refusals(): number {
    return this.#refusals;
  }

  leave(key: string): void {
    const open = (this.#open.get(key) ?? 1) - 1;
    if (open === 0) this.#open.delete(key);
    else this.#open.set(key, open);
  }
}

export interface RateLimits {
  readonly requests: WindowLimit;
  readonly messages: WindowLimit;
  /** WebSockets and event streams. */
  readonly connections: ConcurrencyLimit;
}

function allowanceOf(limit: number, events: number, msBeforeNext: number): Allowance {
  const resetTime = Math.ceil((Date.now() + msBeforeNext) / 1000);
  return { limit, remaining: Math.max(0, limit - events), resetTime, exceeded: events > limit };
}

export function rateLimits(limits: LimitsConfig): RateLimits {
  return {
    requests: new WindowLimit(limits.requestsPerMinute),
    messages: new WindowLimit(limits.messagesPerMinute),
    connections: new ConcurrencyLimit(limits.connectionsPerAddress),
  };
}

export function limitHeaders(allowance: Omit<Allowance, 'exceeded'> | null): Record<string, string> {
  if (!allowance) return {};
  return {
    'X-RateLimit-Limit': String(allowance.limit),
    'X-RateLimit-Remaining': String(allowance.remaining),
    'X-RateLimit-Reset': String(allowance.resetTime),
  };
}

/** Limits on what is taken at once, and not on how much in a minute. */
const NO_RATES: readonly unknown[] = ['requestBodies', 'largeSessions', 'views', 'watchedResources'];

/** Of a refusal: those of the limit that its details name. A size is no rate, so it has none. */
export function refusalHeaders(error: ServiceError): Record<string, string> {
  const { name, limit, remaining, resetTime } = error.details;
  if (error.code !== 'RATE_LIMIT_EXCEEDED' || error instanceof TooLargeError || NO_RATES.includes(name))
    return {};
  if (typeof limit !== 'number' || typeof remaining !== 'number' || typeof resetTime !== 'number') return {};
  return limitHeaders({ limit, remaining, resetTime });
}

export function tooManyConnections(refusal: Allowance): ServiceError {
  return limitExceeded(`${refusal.limit} open connections per address`, refusal);
}
