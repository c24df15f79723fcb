import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../../../core/json-object.ts';
import { JsonRpcError } from '../../../core/json-rpc.ts';
import { ConnectionEndedError } from '../peer/rpc-errors.ts';
import type { ToldChanges } from './server-hello.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/** Makes `subscriptions/listen`, and settles when the server ends it or the signal aborts. */
type Listen = (params: JsonObject, signal: AbortSignal) => Promise<unknown>;

/** Hears the changes of a stateless server, which tells only those who listen for them. */
export class ChangeSubscription {
  readonly #told: ToldChanges;
  readonly #listen: Listen;
  /** Of resources whose content is watched. */
  readonly #uris = new Set<string>();
  /** Aborts when something else is to be heard. */
  #outdated = new AbortController();
  #isListening = false;
  #isEnded = false;

  constructor(told: ToldChanges, listen: Listen) {
    this.#told = told;
    this.#listen = listen;
    this.#update();
  }

  /** Listening anew would lose what changes in between. */
  watch(uri: string): void {
    if (this.#uris.has(uri)) return;
    this.#uris.add(uri);
    this.#update();
  }

  unwatch(uri: string): void {
    if (this.#uris.delete(uri)) this.#update();
  }

  end(): void {
    this.#isEnded = true;
    this.#outdated.abort();
  }

  #update(): void {
    this.#outdated.abort();
    if (!this.#isListening && !this.#isEnded) void this.#stayListening();
  }

  get #filter(): JsonObject {
    const { tools, prompts, resources } = this.#told;
    return {
      ...(tools && { toolsListChanged: true }),
      ...(prompts && { promptsListChanged: true }),
      ...(resources && { resourcesListChanged: true }),
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
    };
  }

  async #stayListening(): Promise<void> {
    this.#isListening = true;
    for (let failures = 0; !this.#isEnded && Object.keys(this.#filter).length > 0; ) {
      this.#outdated = new AbortController();
      const { signal } = this.#outdated;
      const begun = performance.now();
      const error = await this.#listen({ notifications: this.#filter }, signal).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (signal.aborted) continue;
      // The server does not offer it, or there is no server any more.
      if (error instanceof JsonRpcError || error instanceof ConnectionEndedError) break;
      failures = performance.now() - begun > MAX_RETRY_MS ? 0 : failures + 1;
      const delayMs = Math.min(FIRST_RETRY_MS * 2 ** failures, MAX_RETRY_MS);
      await pause(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    this.#isListening = false;
  }
}
