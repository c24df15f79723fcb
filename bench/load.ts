import { setTimeout as wait } from 'node:timers/promises';
import { call } from './load/caller.ts';
import { Instance } from './load/instance.ts';
import { type LoadOptions, readOptions, UsageError, usage } from './load/options.ts';
import { openEventStream, openWebSocket } from './load/stream-link.ts';
import { Talker } from './load/talker.ts';
import { Tally } from './load/tally.ts';
import { table } from './support/table.ts';

/* node bench/load.ts --url …: puts load on an instance of yours, and looks whether its streams are whole. */
const PROGRESS_MS = 1_000;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  try {
    return await load(readOptions(args));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(error instanceof UsageError ? `${message}\n\n${usage}` : `${message}\n`);
    return 1;
  }
}

async function load(options: LoadOptions): Promise<number> {
  const instance = new Instance(options.url);
  await instance.requireHealthy();
  const tally = new Tally(options.clients * options.messages);
  const run = `load-${crypto.randomUUID().slice(0, 8)}`;
  const sessions = Array.from({ length: options.clients }, (_, index) => `${run}-${index}`);
  const progress = setInterval(() => process.stderr.write(`${tally.progress}\n`), PROGRESS_MS);
  try {
    await Promise.all(
      sessions.map(async (session, index) => {
        await wait((options.rampSeconds * 1_000 * index) / options.clients);
        await oneClient(session, { options, instance, tally });
      }),
    );
  } finally {
    clearInterval(progress);
  }
  const report = conclusion(options, tally);
  if (!options.keep) await forget(instance, sessions);
  process.stdout.write(report);
  return tally.failures.length + tally.faults.length > 0 ? 1 : 0;
}

type Parts = { readonly options: LoadOptions; readonly instance: Instance; readonly tally: Tally };

/** A client whose message fails says no more. */
async function oneClient(session: string, parts: Parts): Promise<void> {
  const { tally } = parts;
  const { transport } = parts.options;
  tally.clients += 1;
  try {
    if (transport === 'sync') await call(session, parts);
    else
      await new Talker(session, {
        ...parts,
        open: transport === 'ws' ? openWebSocket : openEventStream,
      }).run();
  } catch (error) {
    tally.failed(error instanceof Error ? error.message : String(error));
  } finally {
    tally.clients -= 1;
  }
}

async function forget(instance: Instance, sessions: readonly string[]): Promise<void> {
  const outcomes = await Promise.allSettled(sessions.map((session) => instance.forget(session)));
  const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
  if (failed[0]) process.stderr.write(`${failed.length} sessions stay in the log: ${failed[0].reason}\n`);
}

function conclusion({ transport, clients }: LoadOptions, tally: Tally): string {
  const { chunks, resumed, checked, failures, faults } = tally;
  const streamed =
    transport === 'sync' ? '' : `${chunks} chunks, ${resumed} connections dropped and resumed\n`;
  const found =
    faults.length === 0
      ? 'what was received is what the log has, each event and each character once'
      : 'faults';
  const check = `check   ${checked} of ${clients} sessions: ${found}\n${faults.map((fault) => `FAULT   ${fault}\n`).join('')}`;
  const failed = failures.map(([reason, count]) => `FAILED  ${count} × ${reason}\n`).join('');
  return `\n${table(tally.rows)}\n\n${clients} clients over ${transport}\n${streamed}${check}${failed}`;
}
