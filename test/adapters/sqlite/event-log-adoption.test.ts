import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventLog } from '../../../src/adapters/sqlite/log/event-log.ts';
import { openDatabase } from '../../../src/adapters/sqlite/open/open-database.ts';
import { repairEventLog } from '../../../src/adapters/sqlite/repair/repair-event-log.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';

const text = 'a text that is found nowhere else';
const event = JSON.stringify({ type: 'turn.requested', turnId: 't', text });

let directory: TempDirectory;
beforeEach(async () => {
  directory = await tempDirectory();
});
afterEach(() => directory[Symbol.asyncDispose]());

const openLog = () => new EventLog(openDatabase(directory.path), () => undefined);

function stage(log: EventLog, adoption: number, count: number): void {
  const times = Array.from({ length: count }, (_, index) => 1_000 + index);
  const types = times.map(() => 'turn.requested');
  log.stage({ type: 'stage', adoption, times, types, data: times.map(() => event) });
}

const filesWithText = () =>
  readdirSync(directory.path).filter((name) => readFileSync(join(directory.path, name)).includes(text));

describe('an adoption', () => {
  it('leaves no trace in the log when the process ends before it is whole', () => {
    const log = openLog();
    const { adoption } = log.beginAdoption('s');
    stage(log, adoption, 2_000);
    expect(filesWithText()).toEqual([]);
    log[Symbol.dispose]();
    const next = openLog();
    expect(next.list({ type: 'list', filter: {} }).summaries).toEqual([]);
    expect(filesWithText()).toEqual([]);
    next[Symbol.dispose]();
  });

  it('stores all of a long session, chained and marked as any other', async () => {
    const log = openLog();
    const { adoption } = log.beginAdoption('s');
    for (let part = 0; part < 10; part += 1) stage(log, adoption, 1_000);
    expect(await log.adopt({ type: 'adopt', adoption, open: true })).toEqual({
      type: 'adopted',
      head: 10_000,
      actual: 0,
    });
    expect(readFileSync(join(directory.path, 'events.heads'), 'utf8')).toContain(' 10000 s\n');
    log[Symbol.dispose]();
    expect(await repairEventLog(directory.path)).toMatchObject({
      healthy: true,
      sessions: 1,
      events: 10_000,
    });
  });
});
