export interface BenchOptions {
  /** The named benches, or all of them, in their fixed order. */
  readonly names: readonly string[];
  readonly quick: boolean;
  readonly profile: boolean;
  readonly help: boolean;
}

const FLAGS = ['--quick', '--profile', '--help', '-h'];

export class UnknownArguments extends Error {}

/** @throws UnknownArguments with all unknown arguments and the known ones. */
export function readBenchOptions(args: readonly string[], known: readonly string[]): BenchOptions {
  const unknown = args.filter((arg) => !known.includes(arg) && !FLAGS.includes(arg));
  if (unknown.length > 0)
    throw new UnknownArguments(
      `unknown: ${unknown.join(', ')}; there are --quick, --profile and the benches ${known.join(', ')}`,
    );
  const named = known.filter((name) => args.includes(name));
  return {
    names: named.length > 0 ? named : known,
    quick: args.includes('--quick'),
    profile: args.includes('--profile'),
    help: args.includes('--help') || args.includes('-h'),
  };
}

export function benchUsage(questions: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(questions).map((name) => name.length));
  const lines = Object.entries(questions).map(([name, question]) => `  ${name.padEnd(width)}  ${question}\n`);
  return `npm run bench -- [NAME…] [--quick] [--profile]

  --quick    a smoke test of each: shows that they work, not how fast anything is
  --profile  writes CPU profiles of the service to bench/results/profiles

Without a name, all benches run:
${lines.join('')}`;
}
