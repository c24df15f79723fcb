import type { Server } from '@modelcontextprotocol/server';
import { ServiceError } from '../../core/errors.ts';
import type { Unsubscribe } from '../../ports/bus.ts';
import type { McpClient } from './mcp-client.ts';
import type { McpChange, McpSurface } from './mcp-surface.ts';

/** Resources of one client of the older era. */
const MAX_WATCHED = 100;

/** Tells one client of changes, as long as its connection lasts. */
export class ChangeNotices {
  readonly #server: Server;
  readonly #surface: McpSurface;
  readonly #client: McpClient;
  readonly #uris = new Set<string>();
  #stop: Unsubscribe | undefined;

  constructor(server: Server, surface: McpSurface, client: McpClient) {
    this.#server = server;
    this.#surface = surface;
    this.#client = client;
    if (!surface.onChange) return;
    const closed = server.onclose;
    server.onclose = () => {
      this.#stop?.();
      closed?.();
    };
    // In the newer era, the SDK picks what the subscriptions of a lasting connection are about.
    if (client.era === 'modern' || Object.keys(LISTS).some((list) => declares(surface, list, 'listChanged')))
      this.#start();
  }

  /** Whether clients of the older era may subscribe to resources. */
  get canSubscribe(): boolean {
    return this.#client.era === 'legacy' && declares(this.#surface, 'resources', 'subscribe');
  }

  /** Throws if the client watches too many already. @returns whether it did not watch this one. */
  add(uri: string): boolean {
    const isNew = !this.#uris.has(uri);
    if (isNew && this.#uris.size >= MAX_WATCHED) throw tooManyWatched();
    this.#uris.add(uri);
    this.#start();
    return isNew;
  }

  remove(uri: string): void {
    this.#uris.delete(uri);
  }

  #start(): void {
    const { context } = this.#client;
    this.#stop ??= this.#surface.onChange?.((change) => this.#tell(change), context);
  }

  #tell(change: McpChange): void {
    if (change.kind !== 'resource_updated') this.#send(`notifications/${METHODS[change.kind]}`, {});
    else if (this.#client.era === 'modern' || this.#uris.has(change.uri))
      this.#send('notifications/resources/updated', { uri: change.uri });
  }

  #send(method: string, params: Record<string, unknown>): void {
    // A client that has gone hears nothing more.
    this.#server.notification({ method, params }).catch((error: unknown) => {
      this.#server.onerror?.(error instanceof Error ? error : new Error(String(error)));
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

function declares({ capabilities }: McpSurface, name: string, flag: string): boolean {
  const capability = capabilities[name];
  return typeof capability === 'object' && capability !== null && Reflect.get(capability, flag) === true;
}
