import { parseArgs } from 'node:util';
import { benchesWithPeers, peerNames } from './peers.ts';

export interface BenchOptions {
  /** The named benches, or all of them, in their fixed order. */
  readonly names: readonly string[];
  /** Whether the benches were named. */
  readonly isChoice: boolean;
  readonly quick: boolean;
  readonly profile: boolean;
  readonly help: boolean;
  /** The commit to compare with; undefined for none. */
  readonly against: string | undefined;
  /** Rounds of a comparison. */
  readonly rounds: number;
  /** Servers by others to compare with. */
  readonly peers: readonly string[];
  /** How often everything runs; undefined for once, without a table of targets. */
  readonly runs: number | undefined;
}

/** Student's interval of eight rounds is two thirds as wide as that of six. */
const ROUNDS = 8;

const options = {
  quick: { type: 'boolean' },
  profile: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  against: { type: 'string' },
  rounds: { type: 'string' },
  runs: { type: 'string' },
  peer: { type: 'string', multiple: true },
} as const;

/** The command line is wrong. The message says what there is. */
export class WrongArguments extends Error {}

/** @throws WrongArguments with all unknown arguments and the known ones. */
export function readBenchOptions(args: readonly string[], known: readonly string[]): BenchOptions {
  // Not strict, because that would stop at the first unknown argument.
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const unknown = tokens.flatMap((token) => {
    if (token.kind === 'option') return token.name in options ? [] : [token.rawName];
    return token.kind === 'positional' && !known.includes(token.value) ? [token.value] : [];
  });
  if (unknown.length > 0)
    throw new WrongArguments(
      `unknown: ${unknown.join(', ')}; there are ${flags()} and the benches ${known.join(', ')}`,
    );
  const against = textOf('--against', values.against, 'a commit');
  if (values.rounds !== undefined && against === undefined)
    throw new WrongArguments('--rounds is for --against; a bench alone has rounds of its own');
  const peers = peersOf(values.peer);
  if (peers.length > 0 && against !== undefined)
    throw new WrongArguments('--against compares two versions of the service, without a --peer');
  if (values.runs !== undefined && (against !== undefined || values.quick === true))
    throw new WrongArguments('--runs gathers targets, and neither --quick nor --against has any');
  const named = known.filter((name) => positionals.includes(name));
  return {
    names: named.length > 0 ? named : known,
    isChoice: named.length > 0,
    quick: values.quick === true,
    profile: values.profile === true,
    help: values.help === true,
    against,
    peers,
    rounds: wholeOf('--rounds', values.rounds, 2) ?? (values.quick === true ? 2 : ROUNDS),
    runs: wholeOf('--runs', values.runs, 1),
  };
}

function flags(): string {
  return Object.keys(options)
    .map((name) => `--${name}`)
    .join(', ');
}

function peersOf(values: string | boolean | readonly (string | boolean)[] | undefined): string[] {
  const named = [values ?? []].flat().map(String);
  const unknown = named.filter((name) => !peerNames.includes(name));
  if (unknown.length > 0)
    throw new WrongArguments(
      `--peer needs one of ${peerNames.join(', ')} after it, not ${unknown.join(', ')}`,
    );
  return [...new Set(named)];
}

function textOf(name: string, value: string | boolean | undefined, what: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') throw new WrongArguments(`${name} needs ${what} after it`);
  return value;
}

function wholeOf(name: string, value: string | boolean | undefined, least: number): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (typeof value !== 'string' || !Number.isSafeInteger(number) || number < least)
    throw new WrongArguments(`${name} needs a whole number from ${least} on`);
  return number;
}

export function benchUsage(questions: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(questions).map((name) => name.length));
  const lines = Object.entries(questions).map(([name, question]) => `  ${name.padEnd(width)}  ${question}\n`);
  return `npm run bench -- [NAME…] [options]

  --quick        a smoke test of each: shows that they work, not how fast anything is
  --profile      writes CPU profiles of the service to bench/results/profiles
  --against REF  compares the service with that of another commit, and says what differs beyond the noise
  --rounds N     rounds of that comparison (default ${ROUNDS}); more rounds show smaller differences
  --runs N       runs everything N times, and writes each target with its least, median and highest value to
                 bench/results/targets.md and targets.json
  --peer NAME    also measures a server by others in ${benchesWithPeers.join(' and ')}: ${peerNames.join(', ')}. Its packages are
                 installed with npm ci when they are missing

Without a name, all benches run:
${lines.join('')}`;
}
