import { table } from '../support/table.ts';
import type { LoadOptions } from './options.ts';
import type { Tally } from './tally.ts';

/** Above this share of a core the load itself may be the bottleneck. */
const BUSY = 0.85;

/** The report at the end. */
export function conclusion(
  { transport, clients, rampSeconds }: LoadOptions,
  tally: Tally,
  stopped: boolean,
): string {
  const { rows, chunks, resumed, lost, limited, seconds, cpuShare } = tally;
  const times = rows.length === 0 ? 'no message was answered' : table(rows);
  const began = `${clients} clients over ${transport}, started over ${rampSeconds} s`;
  const taken = `${seconds.toFixed(1)} s from the first question to the last answer`;
  const own = `this process took ${(cpuShare * 100).toFixed(0)} % of a core`;
  const limit =
    cpuShare > BUSY ? ', so it may have been the bottleneck: run several of them, or fewer clients' : '';
  const streamed =
    transport === 'sync'
      ? `${lost} connections lost and their requests repeated`
      : `${chunks} chunks, ${resumed} connections dropped and resumed, ${lost} lost`;
  const stop = stopped ? 'stopped before its end\n' : '';
  const limits =
    limited === 0
      ? ''
      : `the limits of the service made it wait ${limited} times: raise or switch off \`limits\` in its agent file to measure more\n`;
  return `\n${times}\n\n${began}; ${taken}\n${own}${limit}\n${streamed}\n${limits}${stop}${findings(clients, tally)}`;
}

function findings(clients: number, { checked, faults, failures, unchecked }: Tally): string {
  const sound = 'everything received matches the log, each event and each character once';
  const found =
    faults.length > 0 ? `${faults.length} with faults` : checked > 0 ? sound : 'nothing could be compared';
  return [
    `check   ${checked} of ${clients} sessions: ${found}\n`,
    ...faults.map((fault) => `FAULT   ${fault}\n`),
    ...failures.map(([reason, count]) => `FAILED  ${count} × ${reason}\n`),
    ...unchecked.map(([reason, count]) => `UNKNOWN ${count} sessions: ${reason}\n`),
  ].join('');
}
