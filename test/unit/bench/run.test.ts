import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchUsage, readBenchOptions } from '../../../bench/support/bench-options.ts';
import { Scope } from '../../../bench/support/scope.ts';

const known = ['stream', 'sync'];

describe('the options of the benches', () => {
  it('are all of them, measured, when nothing is said', () => {
    expect(readBenchOptions([], known)).toEqual({
      names: known,
      isChoice: false,
      quick: false,
      profile: false,
      help: false,
      against: undefined,
      rounds: 8,
      runs: undefined,
      peers: [],
    });
  });

  it('are the named ones, once and in their order', () => {
    expect(readBenchOptions(['sync', '--quick', 'stream', 'sync'], known)).toMatchObject({
      names: known,
      quick: true,
    });
  });

  it('are refused with all that is not known', () => {
    expect(() => readBenchOptions(['sync', 'nonsense', '--fast'], known)).toThrow(
      'unknown: nonsense, --fast; there are --quick, --profile, --help, --against, --rounds, --runs, --peer and the benches stream, sync',
    );
  });

  it('name a commit to compare with, and the rounds of that', () => {
    expect(readBenchOptions(['--against', 'v0.1.0', 'sync', '--rounds=12'], known)).toMatchObject({
      names: ['sync'],
      isChoice: true,
      against: 'v0.1.0',
      rounds: 12,
    });
    expect(readBenchOptions(['--quick', '--against', 'main'], known)).toMatchObject({ rounds: 2 });
  });

  it('name servers by others', () => {
    expect(readBenchOptions(['sync', '--peer', 'mastra'], known)).toMatchObject({ peers: ['mastra'] });
  });

  it('say how often everything runs', () => {
    expect(readBenchOptions(['--runs', '3'], known)).toMatchObject({ names: known, runs: 3 });
  });

  it.each([
    [['--against'], '--against needs a commit after it'],
    [['--against', ''], '--against needs a commit after it'],
    [['--against', 'main', '--rounds', '1'], '--rounds needs a whole number from 2 on'],
    [['--against', 'main', '--rounds', 'many'], '--rounds needs a whole number from 2 on'],
    [['--runs', '0'], '--runs needs a whole number from 1 on'],
    [['--runs', '3', '--quick'], '--runs gathers targets'],
    [['--runs', '3', '--against', 'main'], '--runs gathers targets'],
    [['--peer', 'nobody'], '--peer needs one of mastra after it, not nobody'],
    [['--peer'], '--peer needs one of mastra after it, not true'],
    [['--peer', 'mastra', '--against', 'main'], 'without a --peer'],
    [['--rounds', '4'], '--rounds is for --against'],
  ])('are refused when they cannot be meant: %s', (args, message) => {
    expect(() => readBenchOptions(args, known)).toThrow(message);
  });

  it('tell the question of each', () => {
    expect(readBenchOptions(['--help'], known).help).toBe(true);
    expect(benchUsage({ stream: 'How many?', sync: 'How fast?' })).toContain('  sync    How fast?\n');
  });
});

describe('the scope of a bench', () => {
  it('leaves no folder behind, however much is in it', async () => {
    const scope = new Scope({ quick: true });
    const folder = scope.directory();
    writeFileSync(join(folder, 'log'), 'something');
    await scope.close();
    expect(existsSync(folder)).toBe(false);
  });

  it('listens to the end of the process only while it lives', async () => {
    const before = process.listenerCount('exit');
    const scope = new Scope({ quick: true });
    expect(process.listenerCount('exit')).toBe(before + 1);
    await scope.close();
    expect(process.listenerCount('exit')).toBe(before);
  });

  it('removes its folders when the process ends in its middle', async () => {
    const scope = new Scope({ quick: true });
    const folder = scope.directory();
    process.listeners('exit').at(-1)?.(0);
    expect(existsSync(folder)).toBe(false);
    await scope.close();
  });
});
