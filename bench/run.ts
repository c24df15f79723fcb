import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import * as append from './append.ts';
import * as auth from './auth.ts';
import * as cluster from './cluster.ts';
import * as fanOut from './fan-out.ts';
import * as firstToken from './first-token.ts';
import * as history from './history.ts';
import * as idle from './idle.ts';
import * as longSession from './long-session.ts';
import * as mcp from './mcp.ts';
import * as postgres from './postgres.ts';
import * as providers from './providers.ts';
import * as recover from './recover.ts';
import * as sessions from './sessions.ts';
import * as shortSessions from './short-sessions.ts';
import * as slowReader from './slow-reader.ts';
import * as start from './start.ts';
import * as stream from './stream.ts';
import { type BenchOptions, benchUsage, readBenchOptions, WrongArguments } from './support/bench-options.ts';
import { type CheckedOut, checkOut, UnknownRef } from './support/check-out.ts';
import { compare } from './support/compare.ts';
import { differences } from './support/differences.ts';
import { installPeer } from './support/peers.ts';
import { type Bench, type Report, type Target, targetRow } from './support/report.ts';
import { rowOf } from './support/rounds.ts';
import { Scope } from './support/scope.ts';
import { svgPlot } from './support/svg-plot.ts';
import { table } from './support/table.ts';
import { type BenchTargets, targetsMarkdown, targetsOfRuns } from './support/target-table.ts';
import { thisCheckout } from './support/version.ts';
import * as sync from './sync.ts';

/*
 * npm run bench [-- NAME…] [options]: runs the benches, prints a table for each, writes bench/results. With --against
 * it compares the service with that of another commit instead.
 */
const benches: Readonly<Record<string, Bench>> = {
  stream,
  providers,
  'first-token': firstToken,
  sync,
  history,
  'long-session': longSession,
  'fan-out': fanOut,
  idle,
  sessions,
  'short-sessions': shortSessions,
  append,
  postgres,
  cluster,
  recover,
  'slow-reader': slowReader,
  mcp,
  auth,
  start,
};

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => process.exit(128 + constants.signals[signal]));

const results = new URL('results/', import.meta.url);
mkdirSync(results, { recursive: true });
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readBenchOptions(args, Object.keys(benches));
    if (options.help) {
      const questions = Object.entries(benches).map(([name, { question }]) => [name, question]);
      process.stdout.write(benchUsage(Object.fromEntries(questions)));
      return 0;
    }
    for (const peer of options.peers) await installPeer(peer);
    if (options.against !== undefined) await compareAll(options, options.against);
    else if (options.runs !== undefined) await runRepeatedly(options, options.runs);
    else await runAll(options, () => undefined);
    return 0;
  } catch (error) {
    const isUsers = error instanceof WrongArguments || error instanceof UnknownRef;
    process.stderr.write(`${isUsers ? error.message : inspect(error)}\n`);
    return 1;
  }
}

/** Writes the table after each bench, so that what was measured is not lost with a later run. */
async function runRepeatedly(options: BenchOptions, runs: number): Promise<void> {
  const benchesOfRuns: BenchTargets[][] = [];
  for (let run = 1; run <= runs; run += 1) {
    process.stdout.write(`\nRun ${run} of ${runs}\n`);
    const ofRun: BenchTargets[] = [];
    benchesOfRuns.push(ofRun);
    await runAll(options, (ended) => {
      ofRun.push(ended);
      const targets = targetsOfRuns(benchesOfRuns);
      writeFileSync(new URL('targets.md', results), targetsMarkdown(targets, run));
      write('targets.json', { name: 'targets', runs: run, targets });
    });
  }
  process.stdout.write(`\n${readFileSync(new URL('targets.md', results), 'utf8')}`);
}

async function runAll(
  { names, quick, profile, peers }: BenchOptions,
  onEnd: (ended: BenchTargets) => void,
): Promise<void> {
  for (const name of names) {
    const bench = begin(name);
    const begun = performance.now();
    const scope = new Scope({ quick, peers, profiles: profilesOf(profile) });
    try {
      const report = await bench.run(scope);
      const targets = quick ? [] : (report.targets?.() ?? []);
      const shown = { name, question: bench.question, quick, seconds: (performance.now() - begun) / 1_000 };
      show(shown, report, targets);
      onEnd({ bench: name, targets });
    } finally {
      await scope.close();
    }
  }
}

async function compareAll(options: BenchOptions, ref: string): Promise<void> {
  const names = comparable(options);
  const there = await checkOut(ref);
  try {
    for (const name of names) await compareOne(name, options, there);
  } finally {
    there.remove();
  }
}

async function compareOne(name: string, options: BenchOptions, there: CheckedOut): Promise<void> {
  const { quick, profile, rounds } = options;
  const { ref } = there;
  const bench = begin(name);
  const versions = [thisCheckout, there] as const;
  const series = await compare(bench, { versions, rounds }, { quick, profiles: profilesOf(profile) });
  const rows = differences(series, ref);
  process.stdout.write(`${table(rows)}\n`);
  write(`${name}-against.json`, { name, question: bench.question, quick, ref, rounds, rows, series });
}

/** @throws WrongArguments when a bench was named that cannot compare versions. */
function comparable({ names, isChoice }: BenchOptions): string[] {
  const reasons = names.flatMap((name) => {
    const reason = benches[name]?.notComparable;
    return reason === undefined ? [] : [`${name} cannot compare two versions: ${reason}`];
  });
  if (isChoice && reasons.length > 0) throw new WrongArguments(reasons.join('\n'));
  for (const reason of reasons) process.stdout.write(`\n${reason}\n`);
  return names.filter((name) => benches[name]?.notComparable === undefined);
}

function begin(name: string): Bench {
  const bench = benches[name];
  if (!bench) throw new Error(`there is no bench ${name}`);
  process.stdout.write(`\n${name}: ${bench.question}\n\n`);
  return bench;
}

function profilesOf(profile: boolean): string | undefined {
  return profile ? fileURLToPath(new URL('profiles', results)) : undefined;
}

interface BenchRun {
  readonly name: string;
  readonly question: string;
  readonly quick: boolean;
  readonly seconds: number;
}

function show(bench: BenchRun, { series, plots = [] }: Report, targets: readonly Target[]): void {
  const { name, seconds } = bench;
  const rows = series.map(rowOf);
  process.stdout.write(`${table(rows)}\n`);
  if (targets.length > 0) process.stdout.write(`\n${table(targets.map(targetRow))}\n`);
  process.stdout.write(`\n(${seconds.toFixed(1)} s)\n`);
  write(`${name}.json`, { ...bench, rows, targets, plots });
  for (const [index, plot] of plots.entries())
    writeFileSync(new URL(`${name}${index === 0 ? '' : `-${index + 1}`}.svg`, results), svgPlot(plot));
}

function write(file: string, result: Readonly<Record<string, unknown>>): void {
  const { name, ...rest } = result;
  const written = { name, ...machine(), ...rest };
  writeFileSync(new URL(file, results), `${JSON.stringify(written, null, 2)}\n`);
}

function machine(): Readonly<Record<string, unknown>> {
  const processors = cpus();
  return {
    date: new Date().toISOString(),
    node: process.version,
    cpu: processors[0]?.model,
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 1e9),
    loadAverage: loadavg(),
  };
}
