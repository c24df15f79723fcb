import { constants } from 'node:os';
import type { LogThread } from '../../adapters/sqlite/log/log-thread.ts';
import type { ClientAccess, ClientAccessOptions } from '../../app/access/client-access.ts';
import { type Adapters, chooseAdapters, chooseModel } from '../../app/adapters/adapters.ts';
import { watchAgentFile } from '../../app/agent-file-watch.ts';
import type { AgentHost, HostedFile, HostOptions } from '../../app/agents/hosted-agents.ts';
import type { Agent } from '../../app/compose.ts';
import { localUrl } from '../../app/local-url.ts';
import { createLogger } from '../../app/logger.ts';
import { readPackageVersion } from '../../app/package-root.ts';
import { serveStdio } from '../../app/serve-stdio.ts';
import { loadAgentFile } from '../../config/reading/agent-file.ts';
import type { Environment } from '../../config/reading/expand.ts';
import type { AuthConfig } from '../../config/schema/auth-config.ts';
import type { ListedAgent, ServiceConfig } from '../../config/schema/service-config.ts';
import { checkExposure, resolveSettings, type Settings, SettingsError } from '../../config/settings.ts';
import { ONLY_AGENT } from '../../core/agent-description.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import type { KeyBook } from '../../runtime/access/key-book.ts';
import { agentFileOf, isBuiltInAgent } from '../agent-argument.ts';
import type { CommandLine } from '../command-line.ts';
import { noteAddress } from './service-address.ts';
import { growHeapSlowly } from './slow-heap-growth.ts';
import { progressLine, toolServerLine, welcome } from './welcome.ts';
import { whenSlow } from './when-slow.ts';

/** Runs the service until a signal stops it. Rejects if the service cannot start. */
export async function run(
  { flags, agentFile, serviceFile }: Extract<CommandLine, { kind: 'run' }>,
  logThread: LogThread,
): Promise<void> {
  const environment = process.env;
  const service = await loadService(serviceFile, environment);
  const agents = agentsOf(service, agentFile);
  const [{ loaded }] = agents;
  const settings = resolveSettings({ flags, environment, yaml: loaded.config.server });
  checkExposure(settings, service.auth !== undefined);
  await start({ agents, auth: service.auth, isConfigured: serviceFile !== undefined }, settings, logThread);
}

/** The agents of the service file; else the only agent of the service. */
function agentsOf(service: ServiceConfig, agentFile: string | undefined): HostedAgents {
  const [first, ...others] = service.agents ?? [];
  if (!first) {
    const file = agentFile ?? service.agent ?? agentFileOf(process.env);
    return [{ id: ONLY_AGENT, file, loaded: loadAgentFile(file, process.env) }];
  }
  if (agentFile !== undefined) {
    throw new SettingsError(
      '--agent names one agent file, and the service file has a list of agents. Use one of the two.',
    );
  }
  const hosted = (agent: ListedAgent): HostedFile => ({
    ...agent,
    loaded: loadAgentFile(agent.file, process.env),
  });
  return [hosted(first), ...others.map(hosted)];
}

async function loadService(file: string | undefined, environment: Environment): Promise<ServiceConfig> {
  if (file === undefined) return {};
  const { loadServiceFile } = await import('../../config/reading/service-file.ts');
  return loadServiceFile(file, environment);
}

type HostedAgents = HostOptions['agents'];

interface Configured {
  readonly agents: HostedAgents;
  readonly auth: AuthConfig | undefined;
  /** Whether there is a service file. */
  readonly isConfigured: boolean;
}

async function start(
  { agents, auth, isConfigured }: Configured,
  settings: Settings,
  logThread: LogThread,
): Promise<void> {
  const [{ loaded }] = agents;
  const { config, path: agentFile } = loaded;
  const { dataDir, logLevel } = settings;
  const log = await createLogger(logLevel);
  const version = readPackageVersion();
  const opening = whenSlow(
    chooseAdapters({ config, dataDir, environment: process.env, log, logThread }),
    () => {
      // Without a terminal, standard error has only the log's lines of JSON.
      if (process.stderr.isTTY)
        process.stderr.write(progressLine('data', `opening the event log in ${dataDir}`));
    },
  );
  // While another thread opens the log, this one loads the rest.
  const [adapters, { hostAgents }, { serveHttp }] = await Promise.all([
    opening,
    import('../../app/agents/agent-host.ts'),
    import('../../app/serve-http.ts'),
  ]);
  const keys = await keysOf(auth, adapters, log);
  const environment = process.env;
  const host = await hostAgents({
    ...{ agents, adapters, environment, log, keys, hasOwners: auth !== undefined },
    readAgain: async (file) => {
      const read = loadAgentFile(file, environment);
      return { ...read, model: await chooseModel({ config: read.config, environment, log }) };
    },
    onSessionsFilling: growHeapSlowly,
  });
  const watchFiles = () =>
    Promise.all(
      agents.map(({ id: agentId, file, loaded }) => {
        const versionInForce = () => host.agents.get(agentId)?.agentVersion ?? loaded.agentVersion;
        return watchAgentFile({ agentId, file, versionInForce }, log);
      }),
    );
  if (settings.transport === 'stdio') {
    noteAddress(dataDir, null);
    const { gone } = await serveStdio(
      host.first,
      { version, maxRequestBytes: config.limits.requestBytes },
      log,
    );
    const stop = stopOnSignal(log, () => closeAgents(host, config.server.drainTimeoutMs));
    await watchFiles();
    await gone;
    await stop();
    return;
  }
  const access =
    auth &&
    (await accessOf({
      auth,
      agents: host.agents,
      store: adapters.store,
      trustProxy: config.server.trustProxy,
      log,
    }));
  const http = await serveHttp({ host, access, config, settings, version, log }).catch(
    async (error: unknown) => {
      await host.close();
      throw error;
    },
  );
  noteAddress(dataDir, localUrl(settings.host, http.port));
  stopOnSignal(log, () => http.close(), isConfigured ? () => host.reloadAll() : undefined);
  // The service keeps running when the reader of its address closes the pipe.
  process.stdout.on('error', (error) => log.debug({ err: error }, 'standard output was closed'));
  const { modelLabel } = host.first;
  const isBuiltIn = isBuiltInAgent(agentFile);
  const others = agents.slice(1).map(({ id, file }) => {
    return { id, file, modelLabel: host.agents.get(id)?.modelLabel ?? '' };
  });
  process.stdout.write(
    welcome({ version, agentFile, isBuiltIn, modelLabel, others, settings, port: http.port }),
  );
  await Promise.all([
    adapters.model.warmUp?.(),
    ...[...host.agents.values()].map((agent) => reportProgress(agent, (text) => process.stdout.write(text))),
    watchFiles(),
  ]);
}

interface AccessOptions extends Omit<ClientAccessOptions, 'audit'> {
  /** The log of the service. */
  readonly store: EventStore;
}

/** Loads what authenticates clients only where they are authenticated. */
async function accessOf({ store, ...options }: AccessOptions): Promise<ClientAccess> {
  const [{ clientAccess }, { AuditTrail }] = await Promise.all([
    import('../../app/access/client-access.ts'),
    import('../../runtime/access/audit-trail.ts'),
  ]);
  const { auth, log } = options;
  return clientAccess({ ...options, audit: new AuditTrail({ store, log, days: auth.auditDays }) });
}

async function keysOf(
  auth: AuthConfig | undefined,
  { store }: Pick<Adapters, 'store'>,
  log: Logger,
): Promise<KeyBook | undefined> {
  if (!auth?.apiKeys) return undefined;
  const { openKeyBook } = await import('../../app/access/open-key-book.ts');
  return openKeyBook(store, log, auth.roles);
}

/** Prints the outcome of each tool server's first attempt, and a line if the search for unfinished turns takes long. */
async function reportProgress(
  { toolServers, recovered }: Agent,
  tell: (text: string) => void,
): Promise<void> {
  const servers = toolServers.map(async ({ name, settled }) => {
    const starting = () => tell(progressLine('tools', `${name} is starting`));
    const { record, tools } = await whenSlow(settled, starting);
    tell(toolServerLine(record, tools));
  });
  const turns = whenSlow(recovered, () => tell(progressLine('sessions', 'looking for unfinished turns')));
  await Promise.all([...servers, turns]);
}

async function closeAgents(host: AgentHost, drainTimeoutMs: number): Promise<void> {
  await host.drain(drainTimeoutMs);
  await host.close();
}

/**
 * Closes at the first SIGTERM, SIGINT or SIGHUP and exits with 0; a second one ends the process at once.
 *
 * @param reload what SIGHUP means instead, unless the terminal of the service is gone.
 * @returns a function that does the same without a signal.
 */
function stopOnSignal(
  log: Logger,
  close: () => Promise<void>,
  reload?: () => Promise<void>,
): () => Promise<void> {
  let closing: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    closing ??= close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the service did not stop cleanly');
        process.exit(1);
      },
    );
    return closing;
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (signal === 'SIGHUP' && reload && !closing && !process.stdin.isTTY) {
        void reload();
        return;
      }
      if (closing) process.exit(128 + constants.signals[signal]);
      log.info({ signal }, 'stopping: running turns may finish; a second signal ends the service at once');
      void stop();
    });
  }
  return stop;
}
