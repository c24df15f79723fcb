import { existsSync } from 'node:fs';
import { copyFile, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { headFilePath, logFile, readAddress } from '../../adapters/sqlite/file/data-directory.ts';
import { makeFolder, whyNotCreated } from '../../adapters/sqlite/file/make-folder.ts';
import { counted } from '../../core/counted.ts';
import { messageOf } from '../../core/thrown.ts';
import { BackupResponse, ErrorResponse } from '../../wire/responses.ts';
import { patientPost } from '../service/patient-post.ts';
import { keyHeaders, type RemoteService, serviceAddress } from '../service/remote-service.ts';
import { explainRefusal } from '../service/request-service.ts';
import type { BackupOptions } from './backup-command.ts';
import { verifyBackup } from './verify-backup.ts';

/** Has the service copy its log, moves the copy into a folder, and reads all of it back. @returns what to print. */
export async function runBackup({ log, token, to }: BackupOptions): Promise<string> {
  const folder = resolve(to);
  const url = 'url' in log ? log.url : addressIn(log.dataDir);
  await requireEmpty(folder);
  const isNew = !existsSync(folder);
  create(folder);
  await reserve(folder);
  const file = await fetchCopy(log, { url, token }, folder).catch(async (error: unknown) => {
    for (const path of [logFile(folder), headFilePath(folder)]) await rm(path, { force: true });
    if (isNew) await rmdir(folder);
    throw error;
  });
  if (isNew) await syncNames(dirname(folder));
  const { sessions, events, bytes } = await verifyBackup(folder);
  return [
    `backed up ${counted(sessions, 'session')} and ${counted(events, 'event')} (${bytes} bytes) of ${url} to ${folder}`,
    'every event was read back, and its checksum is right',
    `not copied: secret.key in ${dirname(file)}, if it exists, which must be kept elsewhere; snapshots.db, a cache`,
    '',
  ].join('\n');
}

/** The service that runs on this folder, as it has noted there. */
function addressIn(dataDir: string): string {
  const address = readAddress(resolve(dataDir));
  if (address !== null) return address;
  throw new Error(
    `no service has noted its address in ${resolve(dataDir)}; choose its folder with --data-dir, or its address with --url`,
  );
}

/** Throws if the log is in another folder: another service may have got the address of one that has ended. */
async function requireCopyOf(folder: string, { file, url }: { file: string; url: string }): Promise<void> {
  const madeIn = await stat(dirname(file), { bigint: true }).catch((error: unknown) => {
    throw isMissing(error) ? elsewhere(file) : error;
  });
  const wanted = await stat(folder, { bigint: true });
  // The numbers are the same through links and mounts.
  if (madeIn.dev === wanted.dev && madeIn.ino === wanted.ino) return;
  throw new Error(
    `the service at ${url} has its log in ${dirname(file)}, and not in ${folder}: it has got the address of one that has ended. Nothing was backed up, but ${file} is a copy of the other log. Start the service of ${folder}, or choose another one with --data-dir or --url`,
  );
}

async function requireEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new Error(`--to: ${folder} cannot be used: ${error.message}`);
  });
  if (entries.length > 0) throw notEmpty(folder);
}

function notEmpty(folder: string): Error {
  return new Error(`--to: ${folder} is not empty; choose a new or empty folder`);
}

/**
 * Keeps another backup out of the folder, and completes the log there: the file of high-water marks is empty, because the
 * database file itself has every event.
 */
async function reserve(folder: string): Promise<void> {
  await writeThrough(headFilePath(folder), 'wx').catch((error: unknown) => {
    throw codeOf(error) === 'EEXIST' ? notEmpty(folder) : error;
  });
}

/** Resolves to the file of the service's data directory that was moved into the folder. */
async function fetchCopy(log: BackupOptions['log'], service: RemoteService, folder: string): Promise<string> {
  const file = await copyOf(log, service);
  await move(file, logFile(folder));
  await syncNames(folder);
  return file;
}

/** Resolves to the file of the copy that the service has made of this log. */
async function copyOf(log: BackupOptions['log'], service: RemoteService): Promise<string> {
  const { file } = await askForCopy(service);
  if ('dataDir' in log) await requireCopyOf(resolve(log.dataDir), { file, url: service.url });
  return file;
}

/** Before the service copies its log, which may take long. */
function create(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw new Error(`--to: ${whyNotCreated(error)}; choose another folder`, { cause: error });
  }
}

async function askForCopy({ url, token }: RemoteService): Promise<BackupResponse> {
  const headers = keyHeaders(token);
  const answer = await patientPost(serviceAddress(url, 'api/backup'), headers).catch((error: unknown) => {
    throw new Error(
      `no service answers at ${url} (${messageOf(error)}); choose another with --url. If it is stopped, copy its data directory instead`,
    );
  });
  const parsed = z.union([BackupResponse, ErrorResponse]).safeParse(jsonIn(answer.body));
  if (!parsed.success)
    throw new Error(`${url} answered ${answer.status}, and not as an agent-service of this version`);
  if ('error' in parsed.data) throw new Error(explainRefusal(parsed.data.error));
  return parsed.data;
}

/** Undefined for a text that is no JSON, such as the page of a proxy. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A rename, or a copy if the folder is on another disk. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (isMissing(error)) throw elsewhere(from);
    if (codeOf(error) !== 'EXDEV') throw error;
    await writeThrough(to, 'wx');
    await copyFile(from, to);
    // A service that starts meanwhile removes it, too.
    await rm(from, { force: true });
  }
  await writeThrough(to, 'r+');
}

function elsewhere(file: string): Error {
  return new Error(
    `${file} is not there: run this command on the machine, and in the container, of the service`,
  );
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Windows cannot open folders, and does not need this. */
async function syncNames(folder: string): Promise<void> {
  if (process.platform !== 'win32') await writeThrough(folder, 'r');
}

/** Opens a file or a folder, or creates a file that its owner alone can read, and synchronises it with the disk. */
async function writeThrough(file: string, flags: 'wx' | 'r+' | 'r'): Promise<void> {
  const handle = await open(file, flags, 0o600);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
