import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeadFile, readHeads } from '../../../src/adapters/sqlite/integrity/head-file.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';

let root: TempDirectory;
beforeEach(async () => {
  root = await tempDirectory();
});
afterEach(() => root[Symbol.asyncDispose]());

const heads = () => join(root.path, 'events.heads');

describe('the file of the high-water marks', () => {
  it('gives back the marks of any stream, also with spaces and letters beyond ASCII', () => {
    const marks = new Map([
      ['~server-oauth:My Server/1', 3],
      ['~server-oauth:Büro  Süd/1', 4],
      ['~server-oauth:東京 🗼/2', 5],
      ['plain', 2],
    ]);
    using file = new HeadFile(root.path);
    file.record(marks);
    expect(readHeads(root.path)).toEqual({ heads: marks, unreadable: 0 });
  });

  it('reads what earlier releases wrote, and counts the lines that it cannot read', () => {
    writeFileSync(heads(), '\n7a3efbe1 2 plain\ne64ef60a 4 ~server-oauth:Büro/1\n');
    appendFileSync(heads(), Buffer.from([0xff, 0xfe, 0x20, 0x31, 0x20, 0x80, 0x0a]));
    appendFileSync(heads(), '00000000 7 plain\n1234');
    expect(readHeads(root.path)).toEqual({
      heads: new Map([
        ['plain', 2],
        ['~server-oauth:Büro/1', 4],
      ]),
      unreadable: 2,
    });
  });
});
