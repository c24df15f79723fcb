import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project/source-imports.ts';
import { freePort } from '../service/running-service.ts';
import { type TempDirectory, tempDirectory } from '../service/temp-directory.ts';

const DEBIAN_FOLDER = '/usr/lib/postgresql';
/** PostgreSQL does not run as root: it runs as `nobody` then. */
const NOBODY = 65_534;
/** What `initdb` has made, for each version of it. */
const CACHE = join(projectRoot, 'node_modules', '.cache', 'agent-service-test');
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=60'];

/** The folder of PostgreSQL's programs; undefined if there is none. Debian does not put it into the PATH. */
export function findPostgres(): string | undefined {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER) : [];
  const folders = versions
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(DEBIAN_FOLDER, version, 'bin'));
  const inPath = (process.env.PATH ?? '').split(':');
  return [...folders, ...inPath].find((folder) => existsSync(join(folder, 'initdb')));
}

/** A PostgreSQL server of its own, with an empty database. It goes away with `await using`. */
export class PostgresServer implements AsyncDisposable {
  readonly port: number;
  readonly #directory: TempDirectory;
  #process: ChildProcess | undefined;
  #schemas = 0;

  readonly #settings: readonly string[];

  private constructor(directory: TempDirectory, port: number, settings: readonly string[]) {
    this.#directory = directory;
    this.port = port;
    this.#settings = settings;
  }

  /** The certificate of a server with TLS, which is its own authority. */
  get certificate(): string {
    return join(this.#directory.path, 'server.crt');
  }

  /** @param fsync whether a commit would survive a crash of the machine. Tests end processes, but no machine. */
  static async start({ fsync = false, tls = false } = {}): Promise<PostgresServer> {
    const directory = await tempDirectory();
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(directory.path, NOBODY, NOBODY);
    initialise(join(directory.path, 'data'));
    if (tls) makeCertificate(directory.path);
    const server = new PostgresServer(directory, await freePort(), [
      ...SETTINGS,
      `fsync=${fsync ? 'on' : 'off'}`,
      ...(tls ? ['ssl=on', ...fileSettings(directory.path)] : []),
    ]);
    await server.run();
    return server;
  }

  /** Its address, with a schema that nobody has used before. */
  newUrl(): string {
    this.#schemas += 1;
    return this.urlOf(`s${this.#schemas}`);
  }

  urlOf(schema: string, port = this.port): string {
    return `postgres://tester@127.0.0.1:${port}/postgres?schema=${schema}`;
  }

  /** Starts it again. Resolves when it can be reached. */
  async run(): Promise<void> {
    const settings = this.#settings.flatMap((setting) => ['-c', setting]);
    const data = join(this.#directory.path, 'data');
    const child = spawn(program('postgres'), ['-D', data, '-p', String(this.port), ...settings], {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...asNobody(),
    });
    this.#process = child;
    let said = '';
    for await (const text of child.stderr.setEncoding('utf8')) {
      said += text;
      if (said.includes('ready to accept connections')) break;
    }
    if (!said.includes('ready to accept connections')) throw new Error(`PostgreSQL did not start: ${said}`);
    child.stderr.resume();
  }

  /** Ends it at once and cuts its connections, as a shutdown with SIGINT or as a crash with SIGQUIT. */
  async end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGQUIT');
    await this.#directory[Symbol.asyncDispose]();
  }
}

/** Makes an empty database. `initdb` computes for a second; a copy of what it has made takes a tenth of that. */
function initialise(data: string): void {
  const version = execFileSync(program('initdb'), ['--version'], { encoding: 'utf8' });
  const made = join(CACHE, version.replace(/[^\w.]+/g, '-'));
  if (existsSync(made)) {
    copy(made, data);
    return;
  }
  execFileSync(
    program('initdb'),
    ['-D', data, '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    { stdio: ['ignore', 'ignore', 'pipe'], ...asNobody() },
  );
  keep(data, made);
}

/** Whole or not at all, because other processes look for it. */
function keep(data: string, made: string): void {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'new-'));
  try {
    copy(data, join(folder, 'data'));
    renameSync(join(folder, 'data'), made);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(made)) throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Its owner stays the same. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-Rp', from, to]);
}

function fileSettings(folder: string): string[] {
  return [`ssl_cert_file=${join(folder, 'server.crt')}`, `ssl_key_file=${join(folder, 'server.key')}`];
}

function makeCertificate(folder: string): void {
  const files = ['-keyout', join(folder, 'server.key'), '-out', join(folder, 'server.crt')];
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names, ...files],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...asNobody(),
    },
  );
}

function program(name: string): string {
  const folder = findPostgres();
  if (folder === undefined)
    throw new Error('the tests need PostgreSQL: npm test installs it on Debian as root');
  return join(folder, name);
}

function asNobody() {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}
