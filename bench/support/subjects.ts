import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findMain } from '../../bin/find-main.js';
import type { ModelApi } from '../../src/config/schema/llm-config.ts';
import { type Contender, control, inEachVersion, type Subject, startEach } from './contenders.ts';
import type { Scope } from './scope.ts';
import { ServerProcess, type StartOptions } from './server-process.ts';
import { thisCheckout, type Version } from './version.ts';

/** The reply that the scripted model streams to the message `stream`. */
export interface ScriptedReply {
  readonly piece: string;
  readonly pieces: number;
}

export interface SubjectOptions {
  /** Base URL of a model service. Default: the scripted model. */
  readonly upstream?: string;
  /** The interface of the model service. Default: chat completions. */
  readonly api?: ModelApi;
  readonly reply?: ScriptedReply;
  /** Whether several sockets receive each reply. Only `floor` needs to know. */
  readonly isShared?: boolean;
}

export interface ServiceOptions extends SubjectOptions {
  /** Folder of the log. Default: a new one. */
  readonly dataDir?: string;
  /** More fields of the agent file. */
  readonly agent?: Readonly<Record<string, unknown>>;
  readonly name?: string;
  /** Default: nobody is authenticated. */
  readonly serviceFile?: string;
  /** More variables of the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export const FLOOR = 'floor';
export const PLAIN = 'plain';
export const PLAIN_HTTP = 'plain-http';
export const SERVICE = 'agent-service';

/** The control `floor`: bare uWebSockets.js that reads and sends the same bytes and stores nothing. */
export function floor(scope: Scope, options: SubjectOptions = {}): Contender[] {
  return control(scope, FLOOR, () => startControl(scope, FLOOR, options));
}

/** The control `plain`: what one would write without this service, with Express, ws and the SDK of the provider. */
export function plain(scope: Scope, options: SubjectOptions = {}): Contender[] {
  return control(scope, PLAIN, () => startControl(scope, PLAIN, options));
}

/** The control `plain-http`: `plain` on bare node:http, without Express. */
export function plainHttp(scope: Scope, options: SubjectOptions = {}): Contender[] {
  return control(scope, PLAIN_HTTP, () => startControl(scope, PLAIN_HTTP, options));
}

/** The service, from its sources; see `startSources`. */
export function service(scope: Scope, options: ServiceOptions = {}): Contender[] {
  return inEachVersion(scope, options.name ?? SERVICE, (version) => startSources(scope, version, options));
}

/** One service of this checkout. */
export async function startService(scope: Scope, options: ServiceOptions = {}): Promise<Subject> {
  return { name: options.name ?? SERVICE, server: await startSources(scope, thisCheckout, options) };
}

/** Starts floor, service and plain with the same options, in the order in which they are measured. */
export function startAll(scope: Scope, options: SubjectOptions = {}): Promise<Subject[]> {
  return startEach([floor(scope, options), service(scope, options), plain(scope, options)].flat());
}

/** Starts this version of the service from its sources. A smoke test measures nothing, and the build starts sooner. */
export async function startSources(
  scope: Scope,
  version: Version,
  { dataDir = scope.directory(), ...options }: ServiceOptions = {},
): Promise<ServerProcess> {
  return started(scope, scope.quick ? serviceCommand(version) : serviceMain(version), {
    args: [
      ...serviceArguments(agentFile(scope, options), dataDir),
      ...(options.serviceFile === undefined ? [] : ['--config', options.serviceFile]),
    ],
    ...(options.env && { env: options.env }),
    nodeOptions: scope.profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${scope.profiles}`],
  });
}

export function serviceMain({ root }: Version): string {
  return join(root, 'src', 'app', 'main.ts');
}

/** The file that `npm start` and `npx agent-service` run. Builds first when the build does not match the sources. */
export function serviceCommand({ root }: Version): string {
  if (findMain(root).fromSource)
    execFileSync('npm', ['run', '--silent', 'build:server'], { cwd: root, stdio: 'inherit' });
  return join(root, 'bin', 'agent-service.js');
}

/** Command-line arguments for the default agent. */
export function defaultAgentArguments({ root }: Version, dataDir: string): string[] {
  return serviceArguments(join(root, 'agents', 'default.yml'), dataDir);
}

export function serviceArguments(agent: string, dataDir: string): string[] {
  return ['--agent', agent, '--web-port', '0', '--data-dir', dataDir, '--log-level', 'error'];
}

/** Writes an agent file without rate limits, as JSON, which is also YAML. @returns its path. */
export function agentFile(scope: Scope, { upstream, api, reply, agent }: ServiceOptions): string {
  const path = join(scope.directory(), 'agent.yml');
  const script = [
    ...(reply ? [{ when: '^stream$', reply: reply.piece.repeat(reply.pieces), chunks: reply.pieces }] : []),
    { when: '([^]*)', reply: 'you said $1' },
  ];
  const scripted = { provider: 'scripted', model: 'bench', script };
  const llm =
    upstream === undefined
      ? scripted
      : { provider: 'openai-compatible', model: 'bench', baseURL: upstream, api };
  const limits = { requestsPerMinute: false, messagesPerMinute: false, connectionsPerAddress: false };
  writeFileSync(path, JSON.stringify({ llm, limits, ...agent }));
  return path;
}

function startControl(
  scope: Scope,
  name: string,
  { upstream, api, reply, isShared }: SubjectOptions,
): Promise<ServerProcess> {
  const env = {
    ...(upstream !== undefined && { BENCH_UPSTREAM: upstream }),
    ...(api !== undefined && { BENCH_API: api }),
    ...(isShared && { BENCH_SHARED: '1' }),
    ...(reply && { BENCH_PIECE: reply.piece, BENCH_PIECES: String(reply.pieces) }),
  };
  return started(scope, controlFile(name), { env });
}

export function controlFile(name: string): string {
  return fileURLToPath(new URL(`../controls/${name}.ts`, import.meta.url));
}

/** Starts `node FILE` for as long as the scope lives. */
export async function started(
  scope: Scope,
  file: string,
  options: StartOptions = {},
): Promise<ServerProcess> {
  const server = await ServerProcess.start(file, options);
  scope.defer(() => server.stop());
  return server;
}
