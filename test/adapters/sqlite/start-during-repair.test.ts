import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { messageOf } from '../../support/log/event-log-damage.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';

const meanwhile = vi.hoisted(() => ({
  atSync: (): void => undefined,
  afterInspection: (): void => undefined,
}));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const fsyncSync = (descriptor: number): void => {
    meanwhile.atSync();
    fs.fsyncSync(descriptor);
  };
  return { ...fs, fsyncSync };
});

vi.mock('../../../src/adapters/sqlite/open/inspection.ts', async (original) => {
  const real = await original<typeof import('../../../src/adapters/sqlite/open/inspection.ts')>();
  const inspect: typeof real.inspect = (...given) => {
    real.inspect(...given);
    meanwhile.afterInspection();
  };
  return { ...real, inspect };
});

// Test files share their modules, and those of other files have the real functions.
vi.resetModules();
const { EventLog } = await import('../../../src/adapters/sqlite/log/event-log.ts');
const { openDatabase } = await import('../../../src/adapters/sqlite/open/open-database.ts');
const { repairEventLog } = await import('../../../src/adapters/sqlite/repair/repair-event-log.ts');
afterAll(() => {
  vi.resetModules();
});

let root: TempDirectory;
let directory: string;
beforeEach(async () => {
  root = await tempDirectory();
  directory = join(root.path, 'data');
  writeLog(directory);
});
afterEach(async () => {
  meanwhile.atSync = () => undefined;
  meanwhile.afterInspection = () => undefined;
  await root[Symbol.asyncDispose]();
});

const appendTo = (sessionId: string) => ({ sessionId, expectedSeq: 0, types: ['x'], data: ['{}'] });

/** A log whose first event is damaged, which a start does not look at. */
function writeLog(to: string): void {
  const log = new EventLog(openDatabase(to), () => undefined);
  log.append(Array.from({ length: 1_100 }, (_, index) => appendTo(`s${index}`)));
  log[Symbol.dispose]();
  using db = new DatabaseSync(join(to, 'events.db'));
  db.exec(`UPDATE events SET data = '[]' WHERE session = 's0'`);
}

function start(): string {
  try {
    const log = new EventLog(openDatabase(directory), () => undefined);
    log.append([appendTo('acknowledged')]);
    log[Symbol.dispose]();
    return 'started';
  } catch (error) {
    return messageOf(error);
  }
}

describe('a start while a repair runs', () => {
  it('is refused from when the log is read until the repaired one is in its place', async () => {
    const outcomes: string[] = [];
    const startOnce = (): void => {
      if (!['events.repairing', 'events.repaired'].some((name) => existsSync(join(directory, name)))) return;
      meanwhile.atSync = () => undefined;
      outcomes.push(start());
      meanwhile.atSync = startOnce;
    };
    meanwhile.atSync = startOnce;
    expect(await repairEventLog(directory)).toMatchObject({ healthy: false, cut: [{ sessionId: 's0' }] });
    expect(outcomes.map((outcome) => outcome.replace(/^.*(in use|was interrupted).*$/, '$1'))).toEqual([
      'in use',
      'was interrupted',
      'was interrupted',
    ]);
    expect(start()).toBe('started');
  });

  it('is refused if the repair completes its log after the start has looked for it', () => {
    meanwhile.afterInspection = () => writeFileSync(join(directory, 'events.repaired'), '');
    expect(start()).toContain('was interrupted; run it again');
  });

  it('is refused if the repair replaces the log that the start has inspected', () => {
    const other = join(root.path, 'other');
    writeLog(other);
    meanwhile.afterInspection = () => renameSync(join(other, 'events.db'), join(directory, 'events.db'));
    expect(start()).toBe(`${join(directory, 'events.db')} was replaced meanwhile; start again`);
  });
});

describe('a repair that finishes an interrupted one', () => {
  it('is refused while a service uses the log', async () => {
    const database = openDatabase(directory);
    const log = new EventLog(database, () => undefined);
    writeFileSync(join(directory, 'events.repaired'), '');
    await expect(repairEventLog(directory)).rejects.toThrow('stop the service first');
    expect(existsSync(join(directory, 'events.repaired'))).toBe(true);
    log[Symbol.dispose]();
  });
});
