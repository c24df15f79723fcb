import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EventLog } from '../../../src/adapters/sqlite/log/event-log.ts';
import { openDatabase } from '../../../src/adapters/sqlite/open/open-database.ts';
import { repairEventLog } from '../../../src/adapters/sqlite/repair/repair-event-log.ts';
import {
  type Acknowledged,
  contentsOf,
  copyFiles,
  crashedLog,
  damage,
  randomIntegers,
  readAll,
  readBack,
} from '../../support/log/event-log-damage.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';

const seeds = [1, 2];
const trials = 5;

describe.each(seeds)('an event log after a crash (seed %i)', (seed) => {
  const random = randomIntegers(seed);
  let root: TempDirectory;
  let crashed: string;
  let acknowledged: Acknowledged;
  let copies = 0;
  beforeAll(async () => {
    root = await tempDirectory();
    crashed = join(root.path, 'crashed');
    acknowledged = crashedLog(join(root.path, 'live'), crashed, random);
  });
  afterAll(async () => {
    await root[Symbol.asyncDispose]();
  });

  function copy(from = crashed): string {
    copies += 1;
    const directory = join(root.path, `copy-${copies}`);
    copyFiles(from, directory);
    return directory;
  }

  it('has everything when nothing was damaged, and repair leaves every byte of it', async () => {
    const directory = copy();
    const before = contentsOf(directory);
    expect(Object.keys(before)).toEqual(['events.db', 'events.db-wal', 'events.heads']);
    expect(await repairEventLog(directory)).toMatchObject({ healthy: true, cut: [], findings: [] });
    expect(contentsOf(directory)).toEqual(before);
    expect(readBack(directory, acknowledged)).toEqual({ kind: 'whole' });
  });

  describe.each([
    ['events.db-wal', 'flip'],
    ['events.db-wal', 'truncate'],
    ['events.db', 'flip'],
    ['events.db', 'truncate'],
    ['events.heads', 'flip'],
    ['events.heads', 'truncate'],
  ] as const)('with %s harmed by a %s', (name, kind) => {
    it('has everything, or says what is lost and changes nothing', () => {
      for (let trial = 0; trial < trials; trial += 1) {
        const directory = copy();
        const harm = damage(join(directory, name), kind, random);
        const before = contentsOf(directory);
        const outcome = readBack(directory, acknowledged);
        expect(outcome.kind, harm).not.toBe('silent');
        if (outcome.kind === 'whole' || outcome.kind === 'silent') continue;
        expect(outcome.message, harm).toMatch(/agent-service repair|not an event log|newer agent-service/);
        if (outcome.kind === 'named at open') expect(contentsOf(directory), harm).toEqual(before);
      }
    });

    it('is repaired to what is certain, and the report says what is not', async () => {
      for (let trial = 0; trial < trials; trial += 1) {
        const directory = copy();
        const harm = damage(join(directory, name), kind, random);
        const report = await repairEventLog(directory);
        const log = new EventLog(openDatabase(directory), () => undefined);
        for (const [sessionId, expected] of acknowledged) {
          const found = readAll(log, sessionId);
          expect(found, harm).toEqual(expected.slice(0, found.length));
          const cut = report.cut.find((session) => session.sessionId === sessionId);
          expect(cut?.intactUpTo ?? expected.length, harm).toBe(found.length);
        }
        log[Symbol.dispose]();
        expect(await repairEventLog(directory), harm).toMatchObject({ healthy: true });
      }
    });
  });
});

describe('the high-water marks', () => {
  let root: TempDirectory;
  let directory: string;
  let crashed: string;
  let acknowledged: Acknowledged;
  beforeEach(async () => {
    root = await tempDirectory();
    directory = join(root.path, 'live');
    crashed = join(root.path, 'crashed');
    acknowledged = crashedLog(directory, crashed, randomIntegers(8));
  });
  afterEach(async () => {
    await root[Symbol.asyncDispose]();
  });

  const heads = () => join(crashed, 'events.heads');

  it('raise no alarm when a crash has torn the last of them', () => {
    writeFileSync(heads(), readFileSync(heads()).subarray(0, -4));
    expect(readBack(crashed, acknowledged)).toEqual({ kind: 'whole' });
  });

  it('raise no alarm when they say less than the log, as after a power loss', () => {
    writeFileSync(heads(), '');
    expect(readBack(crashed, acknowledged)).toEqual({ kind: 'whole' });
  });

  it('hold again after a torn one', () => {
    appendFileSync(heads(), 'deadbeef 99 sess');
    const log = new EventLog(openDatabase(crashed), () => undefined);
    log.append([{ sessionId: 'after', expectedSeq: 0, types: ['x'], data: ['{}'] }]);
    expect(readFileSync(heads(), 'latin1')).toMatch(/deadbeef 99 sess\n[0-9a-f]{8} 1 after\n$/);
    log[Symbol.dispose]();
  });

  it.each([
    ['the WAL', 'events.db-wal'],
    ['the whole database', 'events.db'],
  ])('tell that %s was emptied, and which session lost what', (_, name) => {
    writeFileSync(join(crashed, name), '');
    const outcome = readBack(crashed, acknowledged);
    expect(outcome).toMatchObject({ kind: 'named at open' });
    expect('message' in outcome && outcome.message).toMatch(/session session-\d lost seq \d+/);
    expect('message' in outcome && outcome.message).toContain(
      `nothing was changed; stop the service and run: agent-service repair --data-dir ${crashed}`,
    );
  });

  it.each([
    ['an empty rollback journal', '', /session session-\d lost seq \d+/],
    [
      'a rollback journal',
      'x'.repeat(600),
      /events\.db-journal does not belong to this event log; move it away$/,
    ],
  ])('are not ignored beside %s', (_, journal, message) => {
    writeFileSync(join(crashed, 'events.db-wal'), '');
    writeFileSync(join(crashed, 'events.db-journal'), journal);
    const outcome = readBack(crashed, acknowledged);
    expect('message' in outcome && outcome.message).toMatch(message);
  });

  it.each([1, 100, 511])('tell that a database of %i bytes was an event log', (bytes) => {
    truncateSync(join(crashed, 'events.db'), bytes);
    const before = contentsOf(crashed);
    const outcome = readBack(crashed, acknowledged);
    expect('message' in outcome && outcome.message).toContain(
      `the event log ${join(crashed, 'events.db')} is damaged: it has only ${bytes} bytes; nothing was changed; stop`,
    );
    expect(contentsOf(crashed)).toEqual(before);
  });

  it('are forgotten when the log is closed, because its file has everything then', () => {
    expect(readFileSync(join(directory, 'events.heads'), 'latin1')).toBe('');
    expect(readFileSync(heads(), 'latin1')).not.toBe('');
  });
});
