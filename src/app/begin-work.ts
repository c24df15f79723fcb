import type { McpServerConfig } from '../core/tool-server/mcp-server-config.ts';
import type { Logger } from '../ports/logger.ts';
import type { ServerAuthorizations } from '../ports/server-authorization.ts';
import type { ClusterBus } from '../runtime/cluster/cluster-bus.ts';
import type { KeyedRequests } from '../runtime/requests/keyed-requests.ts';
import type { Journal } from '../runtime/sessions/journal.ts';
import type { SessionRegistry } from '../runtime/sessions/session-registry.ts';
import type { FirstAttempt, McpSupervisor } from '../runtime/tools/mcp-supervisor.ts';
import type { ServerBook } from '../runtime/tools/server-book.ts';
import type { AgentPushes } from './push/agent-pushes.ts';

interface WorkDeps {
  readonly supervisor: McpSupervisor;
  readonly book: ServerBook;
  /** The tool servers of the agent file. */
  readonly inFile: Readonly<Record<string, McpServerConfig>>;
  readonly authorizations: ServerAuthorizations | undefined;
  readonly sessions: SessionRegistry;
  readonly journal: Journal;
  readonly pushes: AgentPushes;
  readonly requests: KeyedRequests;
  /** Where other nodes answer for sessions, too. `follow` begins to take over what they do, and returns a function that catches up with them. */
  readonly shared: { readonly bus: ClusterBus; readonly follow: () => () => Promise<void> } | undefined;
  readonly log: Logger;
}

/** What an agent does by itself from its start on. */
export interface BegunWork {
  /** The first attempt to connect each tool server. */
  readonly toolServers: readonly FirstAttempt[];
  /** Resolves when all turns that were open at the last stop are running again. Never rejects. */
  readonly recovered: Promise<void>;
  /** Resolves when nothing of it goes on any more. */
  stop(): Promise<void>;
}

/** Connects the tool servers, and goes on with what was open at the last stop. Waits for none of it. */
export async function beginWork({
  supervisor,
  book,
  inFile,
  authorizations,
  sessions,
  journal,
  pushes,
  requests,
  shared,
  log,
}: WorkDeps): Promise<BegunWork> {
  const logged = (message: string) => (error: unknown) => log.error({ err: error }, message);
  const toolServers = supervisor.start(inFile, await book.load());
  const forgotten = authorizations
    ?.keepOnly([...Object.keys(inFile), ...book.names])
    .catch(logged('the authorizations of servers that are gone could not be erased'));
  const recovering = shared
    ? shared.bus.join({ sessions, journal, catchUp: shared.follow() })
    : sessions.recover();
  const recovered = recovering.catch(logged('could not look for open turns'));
  const notified = recovered
    .then(() => pushes.resume())
    .catch(logged('could not look for configs for push notifications'));
  // Not awaited: only requests with an idempotency key depend on it.
  void requests.sweep();
  const stopsLearning = new AbortController();
  // In a cluster, the list would miss sessions of other nodes.
  const learning = shared ? Promise.resolve() : journal.learnSessions(stopsLearning.signal);
  const learned = learning.catch((error: unknown) => {
    log.warn({ err: error }, 'could not read which sessions there are: their first messages take longer');
  });
  return {
    toolServers,
    recovered,
    async stop() {
      stopsLearning.abort();
      await Promise.all([recovered, notified, learned, forgotten]);
    },
  };
}
