import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import * as append from './append.ts';
import * as fanOut from './fan-out.ts';
import * as firstToken from './first-token.ts';
import * as history from './history.ts';
import * as idle from './idle.ts';
import * as longSession from './long-session.ts';
import * as mcp from './mcp.ts';
import * as recover from './recover.ts';
import * as sessions from './sessions.ts';
import * as slowReader from './slow-reader.ts';
import * as start from './start.ts';
import * as stream from './stream.ts';
import { type Bench, type Report, targetRow } from './support/report.ts';
import { Scope } from './support/scope.ts';
import { svgPlot } from './support/svg-plot.ts';
import { table } from './support/table.ts';
import * as sync from './sync.ts';

/* npm run bench [-- NAME…] [-- --quick] [-- --profile]: asks the questions, prints a table each, writes bench/results. */
const benches: Readonly<Record<string, Bench>> = {
  stream,
  'first-token': firstToken,
  sync,
  history,
  'long-session': longSession,
  'fan-out': fanOut,
  idle,
  sessions,
  append,
  recover,
  'slow-reader': slowReader,
  mcp,
  start,
};

const args = process.argv.slice(2);
const names = args.filter((arg) => !arg.startsWith('--'));
const unknown = [
  ...names.filter((name) => !Object.hasOwn(benches, name)),
  ...args.filter((arg) => arg.startsWith('--') && arg !== '--quick' && arg !== '--profile'),
];
if (unknown.length > 0) {
  const known = Object.keys(benches).join(', ');
  process.stderr.write(
    `unknown: ${unknown.join(', ')}; there are --quick, --profile and the benches ${known}\n`,
  );
  process.exit(1);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const quick = args.includes('--quick');
const results = new URL('results/', import.meta.url);
mkdirSync(results, { recursive: true });
const profiles = args.includes('--profile') ? fileURLToPath(new URL('profiles', results)) : undefined;

for (const [name, bench] of Object.entries(benches)) {
  if (names.length > 0 && !names.includes(name)) continue;
  process.stdout.write(`\n${name}: ${bench.question}\n\n`);
  const begun = performance.now();
  const scope = new Scope({ quick, profiles });
  try {
    show(name, await bench.run(scope), (performance.now() - begun) / 1_000);
  } finally {
    await scope.close();
  }
}

function show(name: string, report: Report, seconds: number): void {
  const { rows, targets = [], plots = [] } = report;
  process.stdout.write(`${table(rows)}\n`);
  if (targets.length > 0 && !quick) process.stdout.write(`\n${table(targets.map(targetRow))}\n`);
  process.stdout.write(`\n(${seconds.toFixed(1)} s)\n`);
  const written = { name, question: benches[name]?.question, quick, ...machine(), seconds, ...report };
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
