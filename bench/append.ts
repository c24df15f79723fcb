import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { endTogether } from './support/end-together.ts';
import { linesOver } from './support/lines.ts';
import type { Report } from './support/report.ts';
import { interleave, ratio, type Sample, type Series, seriesOf, spreadOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { thisCheckout, type Version } from './support/version.ts';

export const question =
  'How many events a second can be appended to the log, and does the event loop stay free?';

const LOG = 'event log';
/** Control: the same rows in the same batches, written by node:sqlite alone. */
const SQLITE = 'floor: bare node:sqlite, same batches';
/** Control: the same events as lines of a JSON file, with one fdatasync for each batch. */
const JSON_LINES = 'plain: JSON lines, one fdatasync a batch';
const MAX_DELAY_MS = 5;
const WriterSample = z.record(z.string(), z.number());

export async function run(scope: Scope): Promise<Report> {
  const log = ({ root, ref }: Version) => ({ name: LOG, ref, kind: 'log', root });
  const control = (name: string, kind: string) =>
    scope.isComparison ? [] : [{ name, kind, root: thisCheckout.root }];
  const subjects = [
    ...control(SQLITE, 'sqlite'),
    ...scope.versions.map(log),
    ...control(JSON_LINES, 'lines'),
  ];
  const all: Series[] = [];
  const ms = scope.quick ? 200 : 1_500;
  const counts = scope.quick ? [16] : [1, 16, 256];
  for (const writers of counts) {
    const measure = ({ kind, root }: { kind: string; root: string }) =>
      writer(scope, [kind, String(writers), String(ms), root]);
    all.push(...(await interleave(scope.rounds(3), { writers }, subjects, measure)));
  }
  const lines = linesOver(all, [SQLITE, LOG, JSON_LINES], 'writers', 'events/s');
  return {
    series: all,
    targets: () =>
      counts.flatMap((writers) => [
        {
          what: `${writers} writers: events/s relative to bare node:sqlite`,
          wanted: { atLeast: 0.8 },
          measured: ratio(seriesOf(all, LOG, { writers }), seriesOf(all, SQLITE, { writers }), 'events/s'),
        },
        {
          what: `${writers} writers: p99 of the event loop delay, ms`,
          wanted: { atMost: MAX_DELAY_MS },
          measured: spreadOf(seriesOf(all, LOG, { writers }), 'loop delay p99 ms'),
        },
      ]),
    plots: [{ title: 'Durable events', xLabel: 'writers', yLabel: 'events/s', lines }],
  };
}

/** Runs append/writer.ts in its own process, which prints its sample as JSON. */
export async function writer(scope: Scope, args: readonly string[]): Promise<Sample> {
  const file = fileURLToPath(new URL('append/writer.ts', import.meta.url));
  const child = spawn(process.execPath, [file, scope.directory(), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endTogether(child);
  const [output, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (exitCode !== 0) throw new Error(`the writer ended with ${exitCode}`);
  return WriterSample.parse(JSON.parse(output));
}
