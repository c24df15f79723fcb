import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { ajvSchemaCheck } from '../../adapters/ajv/ajv-schema-check.ts';
import { McpAuthorizations } from '../../adapters/mcp/oauth/mcp-authorizations.ts';
import type { McpConnectorDeps, OwnProgram } from '../../adapters/mcp/open-connection.ts';
import type { Answers } from '../../adapters/mcp/questions/answers.ts';
import type { NodeIdentity } from '../../adapters/postgres/node-lease.ts';
import { DeferredMetrics } from '../../adapters/prometheus/deferred-metrics.ts';
import { sealedBox } from '../../adapters/secret-key/sealed-box.ts';
import { logFile } from '../../adapters/sqlite/file/data-directory.ts';
import type { LogThread } from '../../adapters/sqlite/log/log-thread.ts';
import type { Environment } from '../../config/reading/expand.ts';
import type { AgentConfig } from '../../config/schema/agent-config.ts';
import type { LanguageModel } from '../../ports/language-model.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { ToolServerConnector } from '../../ports/tool-server.ts';
import type { Tracing } from '../../ports/tracing.ts';
import type { Cluster } from '../../runtime/cluster/cluster.ts';
import { CredentialBook } from '../../runtime/tools/credential-book.ts';
import { findPackageRoot, readPackageVersion } from '../package-root.ts';
import { tracesUrl } from '../tracing/traces-url.ts';
import type { Adapters } from './adapters.ts';
import { secretKeys } from './secret-keys.ts';

export interface AdapterOptions {
  readonly config: AgentConfig;
  readonly dataDir: string;
  /** The database that has the log. Undefined: it is in `dataDir`. */
  readonly storeUrl?: string | undefined;
  /** Where several services that share the log hear of each other. Undefined: one has it. */
  readonly busUrl?: string | undefined;
  /** Waits as long as another service has the log of the database. */
  readonly standsBy?: boolean | undefined;
  readonly environment: Environment;
  readonly log: Logger;
  /** The thread of the log, if it was started before the configuration was known. */
  readonly logThread?: LogThread | undefined;
}

/** What each agent of the process has of its own. */
type OptionsOfAgent = Pick<AdapterOptions, 'config' | 'environment' | 'log'>;

/** Loads only the adapters that the configuration needs. The model comes first: it throws if its key is missing. */
export async function chooseAdapters(options: AdapterOptions): Promise<Adapters> {
  const model = await chooseModel(options);
  let node: string | undefined;
  const metrics = new DeferredMetrics(() => loadMetrics(node));
  const stores = await chooseStores(options, metrics);
  node = stores.cluster && String(stores.cluster.membership.self);
  const tracing = await chooseTracing(options, node);
  const schemas = ajvSchemaCheck(options.log);
  const secrets = sealedBox(secretKeys(options));
  const tools = await chooseTools(options, { ...stores, secrets, schemas });
  return { model, ...stores, ...tools, schemas, secrets, metrics, ...(tracing && { tracing }) };
}

/** What a further agent has of its own. The rest it shares with the first one. */
export async function furtherAdapters(
  options: OptionsOfAgent,
  shared: Adapters,
  log: Pick<Adapters, 'store' | 'snapshots'>,
): Promise<Adapters> {
  const model = await chooseModel(options);
  const own = { ...shared, ...log };
  return { ...own, model, ...(await chooseTools(options, own)) };
}

/** Throws if a key or an address that the provider needs is missing. */
export async function chooseModel({
  config: { llm },
  environment,
  log,
}: OptionsOfAgent): Promise<LanguageModel> {
  if (llm.provider === 'scripted') {
    const { scriptedModel } = await import('../../adapters/scripted/scripted-model.ts');
    return scriptedModel(llm);
  }
  const { realModel } = await import('./real-model.ts');
  return realModel(llm, environment, { log });
}

async function chooseStores(
  { dataDir: directory, storeUrl, busUrl, standsBy, log, logThread: thread }: AdapterOptions,
  metrics: Metrics,
): Promise<Pick<Adapters, 'store' | 'backup' | 'snapshots' | 'lost' | 'cluster'>> {
  const onCommit = (syncMs: number): void =>
    metrics.observe('agent_sync_duration_seconds', {}, syncMs / 1_000);
  if (storeUrl !== undefined) {
    // Only a service file said so: the thread was started before it was read.
    thread?.post({ type: 'close' });
    if (existsSync(logFile(directory)))
      log.warn(
        { folder: directory },
        'the event log in this folder is not used, because --store names a database; agent-service copy moves it',
      );
    const { openPostgres } = await import('../../adapters/postgres/open-postgres.ts');
    const shares = busUrl !== undefined;
    const opened = await openPostgres(storeUrl, { identity: thisProcess(), shares, standsBy, log, onCommit });
    if (busUrl === undefined || !opened.membership) return opened;
    const { openCluster } = await import('../cluster/open-cluster.ts');
    const { membership, store } = opened;
    return { ...opened, ...(await openCluster({ busUrl, membership, store, log })) };
  }
  if (directory === ':memory:') {
    // The thread was started before it was known that there is no log on disk.
    thread?.post({ type: 'close' });
    const { memoryEventStore } = await import('../../adapters/memory/memory-event-store.ts');
    const { memorySnapshotStore } = await import('../../adapters/memory/memory-snapshot-store.ts');
    return { store: memoryEventStore(), snapshots: memorySnapshotStore() };
  }
  const { openSqliteEventStore } = await import('../../adapters/sqlite/log/sqlite-event-store.ts');
  const { sqliteSnapshotStore } = await import('../../adapters/sqlite/snapshots/sqlite-snapshot-store.ts');
  const store = await openSqliteEventStore({ directory, log, thread, onCommit });
  return { store, backup: store, snapshots: sqliteSnapshotStore({ directory, log }) };
}

/** As whoever finds the log in use is told. */
function thisProcess(): NodeIdentity {
  return { name: `${hostname()}, process ${process.pid}`, version: readPackageVersion() };
}

async function loadMetrics(node: string | undefined): Promise<Metrics> {
  const { prometheusMetrics } = await import('../../adapters/prometheus/prometheus-metrics.ts');
  return prometheusMetrics(node === undefined ? {} : { node });
}

async function chooseTracing(
  { config, environment, log }: AdapterOptions,
  node: string | undefined,
): Promise<Tracing | undefined> {
  const url = tracesUrl(config.telemetry, environment);
  if (url === undefined) return undefined;
  const { openTelemetry } = await import('../../adapters/opentelemetry/open-telemetry.ts');
  return openTelemetry({ url, version: readPackageVersion(), node, log });
}

/** What connects to the tool servers. It keeps their credentials in the log of the agent. */
async function chooseTools(
  options: OptionsOfAgent,
  { store, secrets, schemas, cluster }: Pick<Adapters, 'store' | 'secrets' | 'schemas' | 'cluster'>,
): Promise<Pick<Adapters, 'connector' | 'authorizations'>> {
  const { log } = options;
  const credentials = new CredentialBook(store, secrets, log, { isShared: cluster !== undefined });
  const authorizations = new McpAuthorizations({ credentials, log });
  return { connector: await mcpTools(options, { authorizations, schemas }, cluster), authorizations };
}

async function mcpTools(
  { config, environment, log }: OptionsOfAgent,
  shared: Pick<McpConnectorDeps, 'authorizations' | 'schemas'>,
  cluster: Cluster | undefined,
): Promise<ToolServerConnector> {
  const { mcpConnector } = await import('../../adapters/mcp/mcp-connector.ts');
  const clientVersion = readPackageVersion();
  const ownProgram: OwnProgram = [process.execPath, join(findPackageRoot(), 'bin', 'agent-service.js')];
  const connector = mcpConnector({
    ...shared,
    log,
    environment,
    clientVersion,
    ownProgram,
    binFolders: binFolders(),
    answers: offeredAnswers(config),
  });
  if (!cluster) return connector;
  const { fencedTools } = await import('../cluster/fenced-tools.ts');
  return fencedTools(connector, cluster.membership);
}

/**
 * People can always be asked. A server whose tools pass through to MCP clients can ask these clients anything; those that
 * cannot be asked are refused there.
 */
function offeredAnswers({ mcp, roots }: AgentConfig): Answers {
  const isPassed = mcp.expose.some((kind) => kind !== 'agent');
  return { elicitation: true, sampling: isPassed, roots: isPassed || roots.length > 0 };
}

/** The folders in which npm puts the commands of dependencies: of this package and of those that it is installed in. */
function binFolders(from = findPackageRoot()): string[] {
  const folder = join(from, 'node_modules', '.bin');
  const parent = dirname(from);
  return parent === from ? [folder] : [folder, ...binFolders(parent)];
}
