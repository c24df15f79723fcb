import { constants } from 'node:os';
import type { LogThread } from '../../adapters/sqlite/log/log-thread.ts';
import { chooseAdapters } from '../../app/adapters/adapters.ts';
import type { Agent } from '../../app/compose.ts';
import { createLogger } from '../../app/logger.ts';
import { readPackageVersion } from '../../app/package-root.ts';
import { serveStdio } from '../../app/serve-stdio.ts';
import { type LoadedAgent, loadAgentFile } from '../../config/reading/agent-file.ts';
import { resolveSettings, type Settings } from '../../config/settings.ts';
import type { Log } from '../../ports/log.ts';
import type { CommandLine } from '../command-line.ts';
import { progressLine, toolServerLine, welcome } from './welcome.ts';
import { whenSlow } from './when-slow.ts';

/** Runs the service until it is told to stop. Rejects with what keeps it from starting. */
export async function run(
  { flags, agentFile }: Extract<CommandLine, { kind: 'run' }>,
  logThread: LogThread,
): Promise<void> {
  const environment = process.env;
  const loaded = loadAgentFile(agentFile, environment);
  await start(loaded, resolveSettings({ flags, environment, yaml: loaded.config.server }), logThread);
}

async function start(loaded: LoadedAgent, settings: Settings, logThread: LogThread): Promise<void> {
  const { config, raw, path: agentFile } = loaded;
  const { dataDir, logLevel } = settings;
  const log = await createLogger(logLevel);
  const version = readPackageVersion();
  const opening = whenSlow(
    chooseAdapters({ config, dataDir, environment: process.env, log, logThread }),
    () => {
      // Elsewhere standard error has the log's lines of JSON alone.
      if (process.stderr.isTTY)
        process.stderr.write(progressLine('data', `opening the event log in ${dataDir}`));
    },
  );
  // The log is opened by a thread of its own; meanwhile this one loads the rest.
  const [adapters, { composeAgent }, { serveHttp }] = await Promise.all([
    opening,
    import('../../app/compose.ts'),
    import('../../app/serve-http.ts'),
  ]);
  const agent = await composeAgent({ config, raw, adapters, log });
  if (settings.transport === 'stdio') {
    const { gone } = await serveStdio(agent, version, log);
    const stop = onceStopped(log, () => closeAgent(agent, config.server.drainTimeoutMs));
    await gone;
    await stop();
    return;
  }
  const http = await serveHttp({ agent, config, settings, version, log }).catch(async (error: unknown) => {
    await agent.close();
    throw error;
  });
  onceStopped(log, () => http.close());
  // Whoever has read the address may close the pipe; the service goes on.
  process.stdout.on('error', (error) => log.debug({ err: error }, 'nobody reads what is printed'));
  const { modelLabel } = agent;
  process.stdout.write(welcome({ version, agentFile, modelLabel, settings, port: http.port }));
  await Promise.all([adapters.model.warmUp?.(), reportProgress(agent, (text) => process.stdout.write(text))]);
}

/** Tells how what goes on after the start turns out, each when it does. */
async function reportProgress(
  { toolServers, recovered }: Agent,
  tell: (text: string) => void,
): Promise<void> {
  const servers = toolServers.map(async ({ name, settled }) => {
    const starting = () => tell(progressLine('tools', `${name} is starting`));
    const { record, tools } = await whenSlow(settled, starting);
    tell(toolServerLine(record, tools));
  });
  const turns = whenSlow(recovered, () => tell(progressLine('sessions', 'looking for turns to go on with')));
  await Promise.all([...servers, turns]);
}

async function closeAgent(agent: Agent, drainTimeoutMs: number): Promise<void> {
  await agent.drain(drainTimeoutMs);
  await agent.close();
}

/**
 * Closes at the first SIGTERM or SIGINT and exits with 0; a second one ends the process at once.
 * @returns a function that does the same without a signal.
 */
function onceStopped(log: Log, close: () => Promise<void>): () => Promise<void> {
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
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (closing) process.exit(128 + constants.signals[signal]);
      log.info({ signal }, 'stopping: running turns may finish; a second signal ends the service at once');
      void stop();
    });
  }
  return stop;
}
