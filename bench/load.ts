import { setTimeout as wait } from 'node:timers/promises';
import { Caller, type CallerDeps } from './load/caller.ts';
import { conclusion } from './load/conclusion.ts';
import { ConnectionQueue } from './load/connection-queue.ts';
import { Instance } from './load/instance.ts';
import { type LoadOptions, readOptions, UsageError, usage } from './load/options.ts';
import { reasonOf } from './load/refused.ts';
import { openEventStream, openWebSocket } from './load/stream-link.ts';
import { Talker, type TalkerDeps } from './load/talker.ts';
import { Tally } from './load/tally.ts';

/* npm run load -- --url …: puts load on a running instance and checks that its streams are complete. */
const PROGRESS_MS = 1_000;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(usage);
    return 0;
  }
  try {
    return await load(readOptions(args));
  } catch (error) {
    const hint = error instanceof UsageError ? `\n${usage}` : '';
    process.stderr.write(`${reasonOf(error)}\n${hint}`);
    return 1;
  }
}

async function load(options: LoadOptions): Promise<number> {
  const tally = new Tally(options.clients * options.messages);
  const instance = new Instance(options.url, options.timeoutSeconds * 1_000, tally);
  await instance.requireHealthy();
  const queue = new ConnectionQueue();
  const run = `load-${crypto.randomUUID().slice(0, 8)}`;
  const sessions = Array.from({ length: options.clients }, (_, index) => `${run}-${index}`);
  const stopping = stopOnSignal();
  const progress = setInterval(() => process.stderr.write(`${tally.progress}\n`), PROGRESS_MS);
  try {
    await Promise.all(
      sessions.map(async (session, index) => {
        await pause((options.rampSeconds * 1_000 * index) / options.clients, stopping);
        if (!stopping.aborted) await runClient(session, { options, instance, tally, stopping, queue });
      }),
    );
  } finally {
    clearInterval(progress);
  }
  if (!options.keep) await forget(instance, sessions);
  process.stdout.write(conclusion(options, tally, stopping.aborted));
  return tally.isClean && !stopping.aborted ? 0 : 1;
}

/** The first signal aborts. The second one finds no handler and ends the process. */
function stopOnSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  stopping.signal.addEventListener('abort', () =>
    process.stderr.write('stopping after the running messages; a second signal ends at once\n'),
  );
  return stopping.signal;
}

/** Waits, but no longer than until the abort. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** Runs one client to its end. A client without a connection, or without an answer in time, sends nothing more. */
async function runClient(session: string, deps: Omit<TalkerDeps, 'open'> & CallerDeps): Promise<void> {
  const { tally, options } = deps;
  tally.clients += 1;
  try {
    if (options.transport === 'sync') await new Caller(session, deps).run();
    else {
      const open = options.transport === 'ws' ? openWebSocket : openEventStream;
      await new Talker(session, { ...deps, open }).run();
    }
  } catch (error) {
    tally.failed(reasonOf(error));
  } finally {
    tally.clients -= 1;
  }
}

async function forget(instance: Instance, sessions: readonly string[]): Promise<void> {
  const outcomes = await Promise.allSettled(sessions.map((session) => instance.forget(session)));
  const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
  if (failed[0])
    process.stderr.write(
      `${failed.length} sessions (${sessions[0]} …) stay in the log: ${reasonOf(failed[0].reason)}\n`,
    );
}
