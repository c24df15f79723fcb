import type { Server } from '@modelcontextprotocol/server';
import { ServiceError } from '../../core/errors.ts';
import { asError } from '../../core/thrown.ts';
import type { Unsubscribe } from '../../ports/bus.ts';
import { declares } from './declares.ts';
import type { McpCall } from './mcp-call.ts';
import type { McpClient } from './mcp-client.ts';
import type { McpChange, McpSurface } from './mcp-surface.ts';

/** Resources of one client of the older era. */
const MAX_WATCHED = 100;

interface Watch {
  /** How many requests to watch it are not answered yet. */
  asked: number;
  /** Null until one has succeeded. */
  stop: Unsubscribe | null;
}

/** Tells one client of changes, as long as its connection lasts. */
export class ChangeNotices {
  readonly #server: Server;
  readonly #surface: McpSurface;
  readonly #client: McpClient;
  /** By address, from the moment in which the client asks. */
  readonly #watched = new Map<string, Watch>();
  #stop: Unsubscribe | undefined;

  constructor(server: Server, surface: McpSurface, client: McpClient) {
    this.#server = server;
    this.#surface = surface;
    this.#client = client;
    if (!surface.onChange) return;
    const closed = server.onclose;
    server.onclose = () => {
      this.#stop?.();
      for (const uri of this.#watched.keys()) this.unwatch(uri);
      closed?.();
    };
    // In the newer era, the SDK picks what the subscriptions of a lasting connection are about.
    if (
      client.era === 'modern' ||
      Object.keys(LISTS).some((list) => declares(surface.capabilities, list, 'listChanged'))
    )
      this.#start();
  }

  /** Whether clients of the older era may subscribe to resources. */
  get canSubscribe(): boolean {
    return this.#client.era === 'legacy' && declares(this.#surface.capabilities, 'resources', 'subscribe');
  }

  /**
   * Rejects if the client watches too many already, or may not watch this one. Whoever asks again watches anew: the server of
   * the resource may have been another one.
   */
  async watch(uri: string, call: Pick<McpCall, 'context'>): Promise<void> {
    const watch = this.#watched.get(uri) ?? { asked: 0, stop: null };
    if (!this.#watched.has(uri) && this.#watched.size >= MAX_WATCHED) throw tooManyWatched();
    this.#watched.set(uri, watch);
    this.#start();
    watch.asked += 1;
    try {
      const stop = (await this.#surface.watch?.({ uri }, call)) ?? (() => undefined);
      // The client may have left, or unsubscribed, meanwhile.
      if (this.#watched.get(uri) !== watch) return stop();
      watch.stop?.();
      watch.stop = stop;
    } finally {
      watch.asked -= 1;
      const hasFailed = watch.stop === null && watch.asked === 0;
      if (hasFailed && this.#watched.get(uri) === watch) this.#watched.delete(uri);
    }
  }

  unwatch(uri: string): void {
    this.#watched.get(uri)?.stop?.();
    this.#watched.delete(uri);
  }

  #start(): void {
    const { context } = this.#client;
    this.#stop ??= this.#surface.onChange?.((change) => this.#tell(change), context);
  }

  #tell(change: McpChange): void {
    if (change.kind !== 'resource_updated') this.#send(`notifications/${METHODS[change.kind]}`, {});
    else if (this.#client.era === 'modern' || this.#watched.has(change.uri))
      this.#send('notifications/resources/updated', { uri: change.uri });
  }

  #send(method: string, params: Record<string, unknown>): void {
    // A client that has gone hears nothing more.
    this.#server.notification({ method, params }).catch((error: unknown) => {
      this.#server.onerror?.(asError(error));
    });
  }
}

function tooManyWatched(): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'Too many resources are watched over this connection.', {
    field: 'params.uri',
    issue: `there are ${MAX_WATCHED} already`,
    suggestion: 'Send resources/unsubscribe for those that you no longer need.',
  });
}

const METHODS = {
  tools_list_changed: 'tools/list_changed',
  prompts_list_changed: 'prompts/list_changed',
  resources_list_changed: 'resources/list_changed',
} as const;

const LISTS = { tools: true, prompts: true, resources: true } as const;
