import { McpAuthorizations } from '../../../../src/adapters/mcp/oauth/mcp-authorizations.ts';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import { memoryKeys } from '../../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../../src/adapters/secret-key/sealed-box.ts';
import { McpServerConfig } from '../../../../src/core/tool-server/mcp-server-config.ts';
import type { EventStore } from '../../../../src/ports/event-store.ts';
import type { SecretBox } from '../../../../src/ports/secret-box.ts';
import type { AuthorizationOutcome } from '../../../../src/ports/server-authorization.ts';
import { CredentialBook } from '../../../../src/runtime/tools/credential-book.ts';
import { redirectOf, responseIn } from './authorization-visit.ts';
import { testConnector } from './connecting.ts';
import { RecordingLog } from './recording-log.ts';

const NAME = 'under-test';

/** What the nodes of a cluster have in common. */
export interface SharedLog {
  readonly store: EventStore;
  readonly box: SecretBox;
}

export function sharedLog(): SharedLog {
  return { store: memoryEventStore(), box: sealedBox(memoryKeys()) };
}

/**
 * Connects a tool server that asks for OAuth, with a clock that only the test moves.
 * @param shared makes it one of several nodes.
 */
export function authorizedTools(url: string, oauth?: unknown, shared?: SharedLog) {
  const { store, box } = shared ?? sharedLog();
  const log = new RecordingLog();
  let time = Date.parse('2026-01-01T00:00:00Z');
  const start = () => {
    const credentials = new CredentialBook(store, box, log, { isShared: shared !== undefined });
    const authorizations = new McpAuthorizations({ credentials, log, now: () => time });
    authorizations.returnTo('http://127.0.0.1:3001/oauth/callback');
    return { authorizations, connector: testConnector({ authorizations }) };
  };
  let running = start();
  let config = McpServerConfig.parse({ type: 'http', baseUrl: url, ...(oauth !== undefined && { oauth }) });
  return {
    store,
    log,
    get authorizations() {
      return running.authorizations;
    },
    connect: () => running.connector.connect(config),
    /** Why the server could not be connected. */
    refusal: async (): Promise<string> =>
      running.connector.connect(config).then(
        () => 'connected',
        (error: Error) => error.message,
      ),
    url: () => running.authorizations.urlOf(NAME),
    /** Opens the address and agrees. */
    async visit(): Promise<AuthorizationOutcome | null> {
      const redirect = await redirectOf(running.authorizations.urlOf(NAME) ?? 'none');
      return running.authorizations.finish(responseIn(redirect));
    },
    /** As after a restart of the service. */
    restart(): void {
      running = start();
    },
    moveTo(baseUrl: string): void {
      config = McpServerConfig.parse({ type: 'http', baseUrl });
    },
    /**
     * As a reload does after a change of the file.
     * @returns connects the server that it was before.
     */
    configure(fields: Readonly<Record<string, unknown>>) {
      const former = config;
      config = McpServerConfig.parse({ ...config, ...fields });
      return () => running.connector.connect(former);
    },
    wait(ms: number): void {
      time += ms;
    },
    forget: () => running.authorizations.forget(NAME),
    /** All that the log has, as text. */
    async written(): Promise<string> {
      const streams = await store.streamIds('', 100);
      return JSON.stringify(await Promise.all(streams.map((id) => store.read(id, 0))));
    },
  };
}
