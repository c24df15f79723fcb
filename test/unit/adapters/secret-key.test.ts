import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sealedBox } from '../../../src/adapters/secret-key/sealed-box.ts';
import { parseSecretKey } from '../../../src/adapters/secret-key/secret-key.ts';
import { secretKeys } from '../../../src/app/adapters/secret-keys.ts';
import { SealedError } from '../../../src/ports/secret-box.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const GIVEN = Buffer.alloc(32, 7).toString('base64');

function boxOf(dataDir: string, key?: string, log = recordingLog()) {
  const environment = key === undefined ? {} : { AGENT_SERVICE_SECRET_KEY: key };
  return sealedBox(secretKeys({ dataDir, environment, log }));
}

describe('the key in the data directory', () => {
  it('is made with the first secret and not before, for its owner alone', async () => {
    await using directory = await tempDirectory();
    const box = boxOf(directory.path);
    await expect(box.open('1.00000000.AAAA', 'a')).rejects.toThrow(SealedError);
    expect(await readdir(directory.path)).toEqual([]);
    const sealed = await box.seal('sekrit', 'a');
    expect(await readdir(directory.path)).toEqual(['secret.key']);
    const file = join(directory.path, 'secret.key');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(parseSecretKey(await readFile(file, 'utf8'))?.bytes).toHaveLength(32);
    expect(await boxOf(directory.path).open(sealed, 'a')).toBe('sekrit');
  });

  it('is one key for all who need it first, in this process and in others', async () => {
    await using directory = await tempDirectory();
    const processes = [boxOf(directory.path), boxOf(directory.path), boxOf(directory.path)];
    const sealed = await Promise.all(
      processes.flatMap((box) => Array.from({ length: 20 }, () => box.seal('sekrit', 'a'))),
    );
    expect(await readdir(directory.path)).toEqual(['secret.key']);
    const later = boxOf(directory.path);
    for (const text of sealed) expect(await later.open(text, 'a')).toBe('sekrit');
  });

  it('is made at the next try when it could not be made', async () => {
    await using directory = await tempDirectory();
    const dataDir = join(directory.path, 'data');
    await writeFile(dataDir, 'in the way');
    const box = boxOf(dataDir);
    await expect(box.seal('sekrit', 'a')).rejects.toThrow(/ENOTDIR|EEXIST/);
    await rm(dataDir);
    expect(await box.open(await box.seal('sekrit', 'a'), 'a')).toBe('sekrit');
  });

  it('is closed to others where it was open to them, which is told', async () => {
    await using directory = await tempDirectory();
    const file = join(directory.path, 'secret.key');
    await boxOf(directory.path).seal('sekrit', 'a');
    await chmod(file, 0o644);
    const log = recordingLog();
    await boxOf(directory.path, undefined, log).seal('more', 'a');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(log.lines).toEqual([expect.objectContaining({ level: 'warn', fields: { file } })]);
  });

  it('is refused, and left as it is, when it is something else', async () => {
    await using directory = await tempDirectory();
    const file = join(directory.path, 'secret.key');
    await writeFile(file, 'not a key\n', { mode: 0o600 });
    await expect(boxOf(directory.path).seal('sekrit', 'a')).rejects.toThrow(/secret\.key is not a key/);
    expect(await readFile(file, 'utf8')).toBe('not a key\n');
  });
});

describe('the key of the environment', () => {
  it('seals instead of the file, whose seals are opened still', async () => {
    await using directory = await tempDirectory();
    const early = await boxOf(directory.path).seal('sekrit', 'a');
    const box = boxOf(directory.path, GIVEN);
    expect(await box.open(early, 'a')).toBe('sekrit');
    expect(await box.isOutdated(early)).toBe(true);
    const sealed = await box.seal('sekrit', 'a');
    expect(await box.isOutdated(sealed)).toBe(false);
    await expect(boxOf(directory.path).open(sealed, 'a')).rejects.toThrow(
      `there is no such key in AGENT_SERVICE_SECRET_KEY or in ${join(directory.path, 'secret.key')}`,
    );
  });

  it('makes no file', async () => {
    await using directory = await tempDirectory();
    await boxOf(directory.path, GIVEN).seal('sekrit', 'a');
    expect(await readdir(directory.path)).toEqual([]);
  });

  it('may be base64, base64url or hexadecimal', () => {
    const bytes = Buffer.alloc(32, 0xfb);
    for (const encoding of ['base64', 'base64url', 'hex'] as const)
      expect(parseSecretKey(bytes.toString(encoding))?.bytes).toEqual(bytes);
  });

  it('is refused by name, and not shown, when it is no key', () => {
    for (const wrong of ['hunter2-hunter2', Buffer.alloc(31).toString('base64'), 'g'.repeat(64)]) {
      const refused = (): unknown => boxOf('/nowhere', wrong);
      expect(refused).toThrow(
        /^AGENT_SERVICE_SECRET_KEY: found \d+ characters that are not a key; expected 32 bytes/,
      );
      expect(refused).not.toThrow(wrong);
    }
  });
});

describe('a seal', () => {
  it('says nothing of its text, and never the same twice', async () => {
    const box = boxOf(':memory:');
    const [first, second] = [await box.seal('sekrit', 'a'), await box.seal('sekrit', 'a')];
    expect(first).not.toBe(second);
    expect(Buffer.from(first.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('sekrit');
  });

  it('opens for what it was made for alone', async () => {
    const box = boxOf(':memory:');
    await expect(box.open(await box.seal('sekrit', 'a'), 'b')).rejects.toThrow(SealedError);
  });

  it('does not open when a character of it was changed, not even in the bits that decoding drops', async () => {
    const box = boxOf(':memory:');
    const sealed = await box.seal('sekrit', 'a');
    for (const at of [sealed.length - 8, sealed.length - 1]) {
      for (const other of BASE64URL.replace(sealed[at] ?? '', '')) {
        const changed = `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
        await expect(box.open(changed, 'a'), changed).rejects.toThrow(SealedError);
      }
    }
    await expect(box.open('sekrit', 'a')).rejects.toThrow('no seal');
  });
});
