import { mkdirSync, writeFileSync } from 'node:fs';
import { constants, cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import * as append from './append.ts';
import * as fanOut from './fan-out.ts';
import * as firstToken from './first-token.ts';
import * as history from './history.ts';
import * as idle from './idle.ts';
import * as longSession from './long-session.ts';
import * as mcp from './mcp.ts';
import * as providers from './providers.ts';
import * as recover from './recover.ts';
import * as sessions from './sessions.ts';
import * as shortSessions from './short-sessions.ts';
import * as slowReader from './slow-reader.ts';
import * as start from './start.ts';
import * as stream from './stream.ts';
import {
  type BenchOptions,
  benchUsage,
  readBenchOptions,
  UnknownArguments,
} from './support/bench-options.ts';
import { type Bench, type Report, targetRow } from './support/report.ts';
import { Scope } from './support/scope.ts';
import { svgPlot } from './support/svg-plot.ts';
import { table } from './support/table.ts';
import * as sync from './sync.ts';

/*
 * npm run bench [-- NAME…] [-- --quick] [-- --profile]: runs the benches, prints a table for each, writes
 * bench/results.
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
  recover,
  'slow-reader': slowReader,
  mcp,
  start,
};

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => process.exit(128 + constants.signals[signal]));

const results = new URL('results/', import.meta.url);
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readBenchOptions(args, Object.keys(benches));
    if (options.help) {
      const questions = Object.entries(benches).map(([name, { question }]) => [name, question]);
      process.stdout.write(benchUsage(Object.fromEntries(questions)));
      return 0;
    }
    await runAll(options);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof UnknownArguments ? error.message : inspect(error)}\n`);
    return 1;
  }
}

async function runAll({ names, quick, profile }: BenchOptions): Promise<void> {
  mkdirSync(results, { recursive: true });
  const profiles = profile ? fileURLToPath(new URL('profiles', results)) : undefined;
  for (const name of names) {
    const bench = benches[name];
    if (!bench) continue;
    process.stdout.write(`\n${name}: ${bench.question}\n\n`);
    const begun = performance.now();
    const scope = new Scope({ quick, profiles });
    try {
      const report = await bench.run(scope);
      show({ name, question: bench.question, quick }, report, (performance.now() - begun) / 1_000);
    } finally {
      await scope.close();
    }
  }
}

interface BenchRun {
  readonly name: string;
  readonly question: string;
  readonly quick: boolean;
}

function show(bench: BenchRun, report: Report, seconds: number): void {
  const { name, quick } = bench;
  const { rows, targets = [], plots = [] } = report;
  process.stdout.write(`${table(rows)}\n`);
  if (targets.length > 0 && !quick) process.stdout.write(`\n${table(targets.map(targetRow))}\n`);
  process.stdout.write(`\n(${seconds.toFixed(1)} s)\n`);
  const written = { ...bench, ...machine(), seconds, ...report };
  writeFileSync(new URL(`${name}.json`, results), `${JSON.stringify(written, null, 2)}\n`);
  for (const [index, plot] of plots.entries())
    writeFileSync(new URL(`${name}${index === 0 ? '' : `-${index + 1}`}.svg`, results), svgPlot(plot));
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
