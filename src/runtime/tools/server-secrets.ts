import type { Origin } from '../../core/log/event-metadata.ts';
import { SERVER_SECRET_STREAMS } from '../../core/log/streams.ts';
import { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { EventStore, SessionSummary } from '../../ports/event-store.ts';
import type { SecretBox } from '../../ports/secret-box.ts';

/** The configurations of tool servers in the log, encrypted, each in a stream of its own. */
export class ServerSecrets {
  readonly #store: EventStore;
  readonly #box: SecretBox;

  constructor(store: EventStore, box: SecretBox) {
    this.#store = store;
    this.#box = box;
  }

  async keep(secretId: string, config: McpServerConfig, origin: Origin): Promise<void> {
    const sealed = await this.#box.seal(JSON.stringify(config), secretId);
    await this.#store.append(streamOf(secretId), 0, [{ type: 'secret.kept', sealed }], { origin });
  }

  /** @returns undefined if it was erased. */
  async read(secretId: string): Promise<string | undefined> {
    const [envelope] = await this.#store.read(streamOf(secretId), 0);
    return envelope?.event.type === 'secret.kept' ? envelope.event.sealed : undefined;
  }

  /** Rejects with `SealedError`. */
  async open(sealed: string, secretId: string): Promise<McpServerConfig> {
    return McpServerConfig.parse(JSON.parse(await this.#box.open(sealed, secretId)));
  }

  /** Whether it is encrypted with an earlier key. */
  isOutdated(sealed: string): Promise<boolean> {
    return this.#box.isOutdated(sealed);
  }

  async erase(secretId: string | undefined): Promise<void> {
    if (secretId !== undefined) await this.#store.erase(streamOf(secretId));
  }

  /** Erases all but these. @param latest those that were kept later stay, too. */
  async eraseOthers(
    streams: readonly SessionSummary[],
    secretIds: Iterable<string>,
    latest: number,
  ): Promise<void> {
    const stay = new Set([...secretIds].map(streamOf));
    const left = streams
      .filter(({ sessionId: id }) => id.startsWith(SERVER_SECRET_STREAMS) && !stay.has(id))
      .filter(({ createdAt }) => createdAt <= latest);
    if (left.length > 0) await this.#store.erase(...left.map(({ sessionId }) => sessionId));
  }
}

function streamOf(secretId: string): string {
  return `${SERVER_SECRET_STREAMS}${secretId}`;
}
