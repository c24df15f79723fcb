import type { LogThread } from '../../adapters/sqlite/log/log-thread.ts';
import type { Adapters } from '../../app/adapters/adapters.ts';
import { chooseAdapters, chooseModel } from '../../app/adapters/choose-adapters.ts';
import { watchAgentFile } from '../../app/agent-file-watch.ts';
import type { AgentHost } from '../../app/agents/hosted-agents.ts';
import { readAgent } from '../../app/agents/read-agent.ts';
import { closeInOrder } from '../../app/close-in-order.ts';
import { localUrl } from '../../app/local-url.ts';
import { createLogger } from '../../app/logger.ts';
import { readPackageVersion } from '../../app/package-root.ts';
import type { HttpService } from '../../app/serve-http.ts';
import { serveStdio } from '../../app/serve-stdio.ts';
import { resolveSettings, type Settings } from '../../config/settings.ts';
import { hostAndPort } from '../../core/host-literal.ts';
import type { Logger } from '../../ports/logger.ts';
import { isBuiltInAgent } from '../agent-argument.ts';
import type { CommandLine } from '../command-line.ts';
import { type Configured, readConfiguration } from './configured-agents.ts';
import type { EarlyReload } from './early-reload.ts';
import { accessOf, keysOf } from './service-access.ts';
import { noteAddress } from './service-address.ts';
import { growHeapSlowly } from './slow-heap-growth.ts';
import { reportProgress } from './start-progress.ts';
import { stopOnSignal } from './stop-on-signal.ts';
import { progressLine, shownLog, welcome } from './welcome.ts';
import { whenSlow } from './when-slow.ts';

/** What the parts of a start have in common. */
interface Start extends Configured {
  readonly settings: Settings;
  readonly log: Logger;
  readonly earlyReload: EarlyReload;
}

/** Runs the service until a signal stops it. Rejects if the service cannot start. */
export async function run(
  { flags, agentFile, serviceFile }: Extract<CommandLine, { kind: 'run' }>,
  earlyReload: EarlyReload,
  logThread: LogThread | undefined,
): Promise<void> {
  const environment = process.env;
  const configured = await readConfiguration({ agentFile, serviceFile }, environment);
  const [{ loaded }] = configured.agents;
  const settings = resolveSettings({ flags, environment, yaml: loaded.config.server, service: configured });
  const log = await createLogger(settings.logLevel);
  const start: Start = { ...configured, settings, log, earlyReload };
  // While another thread opens the log, this one loads the rest.
  const [adapters, { hostAgents }, { serveHttp }] = await Promise.all([
    openAdapters(start, logThread),
    import('../../app/agents/agent-host.ts'),
    import('../../app/serve-http.ts'),
  ]);
  if (adapters.cluster) log.setBindings({ node: adapters.cluster.membership.self });
  const { agents, auth } = configured;
  void adapters.lost?.then((error) => {
    log.error({ err: error }, 'this service ends: another one has its log');
    process.exit(1);
  });
  const host = await hostAgents({
    agents,
    adapters,
    environment,
    log,
    keys: await keysOf(auth, adapters.store, log),
    hasOwners: auth !== undefined,
    readAgain: async (file) => {
      const read = readAgent(file, environment);
      return { ...read, model: await chooseModel({ config: read.config, environment, log }) };
    },
    onSessionsFilling: growHeapSlowly,
  });
  try {
    if (settings.transport === 'stdio') await overStdio(host, start);
    else await overHttp(host, start, { adapters, serveHttp });
  } catch (error) {
    await host.close();
    throw error;
  }
}

function openAdapters({ agents, settings, log }: Start, logThread: LogThread | undefined): Promise<Adapters> {
  const [{ loaded }] = agents;
  const { dataDir, store, bus, standby } = settings;
  const { config } = loaded;
  const options = {
    config,
    dataDir,
    storeUrl: store,
    busUrl: bus,
    standsBy: standby,
    environment: process.env,
    log,
    logThread,
  };
  return whenSlow(chooseAdapters(options), () => {
    // Without a terminal, standard error has only the log's lines of JSON.
    if (process.stderr.isTTY)
      process.stderr.write(progressLine('data', `opening the event log in ${shownLog(settings)}`));
  });
}

async function overStdio(host: AgentHost, start: Start): Promise<void> {
  const { agents, settings, log } = start;
  const [{ loaded }] = agents;
  const { limits, server } = loaded.config;
  noteAddress(settings, null);
  const options = { version: readPackageVersion(), maxRequestBytes: limits.requestBytes };
  const { gone } = await serveStdio(host.first, options, log);
  const stop = stopOnSignal(log, async () => {
    await host.drain(server.drainTimeoutMs);
    await host.close();
  });
  // As if it came now: SIGHUP stops this one.
  if (start.earlyReload()) void stop();
  await watchFiles(host, start);
  await gone;
  await stop();
}

interface HttpParts {
  readonly adapters: Adapters;
  readonly serveHttp: typeof import('../../app/serve-http.ts').serveHttp;
}

async function overHttp(host: AgentHost, start: Start, { adapters, serveHttp }: HttpParts): Promise<void> {
  const { agents, auth, hasServiceFile, settings, log, earlyReload } = start;
  const [{ loaded }] = agents;
  const { config } = loaded;
  const { trustProxy } = config.server;
  const access =
    auth &&
    (await accessOf({
      auth,
      agents: host.agents,
      store: adapters.store,
      trustProxy,
      log,
      peers: adapters.cluster?.messenger,
    }));
  const version = readPackageVersion();
  const http = await serveHttp({
    host,
    access,
    config,
    settings,
    version,
    log,
    peers: adapters.cluster?.messenger,
  });
  noteAddress(settings, localUrl(settings.host, http.port));
  adapters.cluster?.listensAt(hostAndPort(settings.host, http.port));
  stopOnSignal(
    log,
    // The address goes first, while the log is still locked: later, the file could be that of the next service.
    () =>
      closeInOrder(
        () => noteAddress(settings, null),
        () => http.close(),
      ),
    hasServiceFile ? () => host.reloadAll() : undefined,
  );
  // The files were read when the start began, which is long ago for one that stood by.
  if (earlyReload()) void host.reloadAll();
  // The service keeps running when the reader of its address closes the pipe.
  process.stdout.on('error', (error) => log.debug({ err: error }, 'standard output was closed'));
  process.stdout.write(welcomeOf(host, start, http));
  await Promise.all([
    adapters.model.warmUp?.(),
    ...[...host.agents.values()].map((agent) => reportProgress(agent, (text) => process.stdout.write(text))),
    watchFiles(host, start),
  ]);
}

function welcomeOf(host: AgentHost, { agents, settings }: Start, { port }: HttpService): string {
  const [{ loaded }, ...further] = agents;
  const { path: agentFile } = loaded;
  const others = further.map(({ id, file }) => {
    return { id, file, modelLabel: host.agents.get(id)?.modelLabel ?? '' };
  });
  const { modelLabel } = host.first;
  const isBuiltIn = isBuiltInAgent(agentFile);
  return welcome({
    version: readPackageVersion(),
    agentFile,
    isBuiltIn,
    modelLabel,
    others,
    settings,
    port,
  });
}

async function watchFiles(host: AgentHost, { agents, log }: Start): Promise<void> {
  const watched = agents.map(({ id: agentId, file, loaded }) => {
    const versionInForce = () => host.agents.get(agentId)?.agentVersion ?? loaded.agentVersion;
    return watchAgentFile({ agentId, file, versionInForce }, log);
  });
  await Promise.all(watched);
}
