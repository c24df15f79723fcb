import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { NodesResponse, ServersResponse } from '../../../src/wire/responses.ts';
import { unlessLost } from '../crash/session-watchers.ts';
import { type Ending, ServiceProcess } from '../service/service-process.ts';
import { withinMs } from './deadline.ts';
import type { PartitionedLink } from './partitioned-link.ts';

const SHIFTED_CLOCK = fileURLToPath(new URL('shifted-clock.ts', import.meta.url));
/** A start waits for leases of nodes that died, while other tests take the processor. */
const START_MS = 90_000;
/** Longer than any request waits for other nodes. */
const ANSWER_MS = 120_000;

export interface NodeOptions {
  readonly number: number;
  /** Working directory, with the agent file. */
  readonly folder: string;
  readonly args: readonly string[];
  readonly environment: Record<string, string>;
  /** By how much its clock is wrong. */
  readonly clockShiftMs: number;
  readonly database: PartitionedLink;
  /** Null where there is one node, without a bus. */
  readonly bus: PartitionedLink | null;
}

/** One service of a cluster: a process that a test ends and starts again, on its own ways to database and bus. */
export class ClusterNode implements AsyncDisposable {
  /** With which `fetch` and `post` ask, unless they are given another one. */
  key: string | null = null;
  readonly #options: NodeOptions;
  #process: ServiceProcess | null = null;
  #port = 0;
  #isPaused = false;
  #lives: Promise<Ending>[] = [];

  constructor(options: NodeOptions) {
    this.#options = options;
  }

  get number(): number {
    return this.#options.number;
  }

  get database(): PartitionedLink {
    return this.#options.database;
  }

  get hasBus(): boolean {
    return this.#options.bus !== null;
  }

  get bus(): PartitionedLink {
    const { bus } = this.#options;
    if (!bus) throw new Error('this node has no bus');
    return bus;
  }

  /** Another one after each start. */
  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Of its present life, or its last one. */
  get ended(): Promise<Ending> {
    return this.#running.ended;
  }

  /** @param query such as `?session=s&after=0`. */
  socketUrl(query: string): string {
    return `ws://127.0.0.1:${this.#port}/${query}`;
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.key !== null && !headers.has('Authorization'))
      headers.set('Authorization', `Bearer ${this.key}`);
    const answer = fetch(`${this.url}${path}`, { ...init, headers });
    return withinMs(
      ANSWER_MS,
      `the answer of node ${this.number} to ${init.method ?? 'GET'} ${path}`,
      answer,
    );
  }

  post(path: string, body: unknown = {}, more: Record<string, string> = {}): Promise<Response> {
    const headers = { 'Content-Type': 'application/json', ...more };
    return this.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    const { folder, number, args, environment, clockShiftMs } = this.#options;
    const process = new ServiceProcess(
      ['--web-port', '0', '--agent', 'agent.yml', '--data-dir', `data-${number}`, ...args],
      {
        cwd: folder,
        environment: { ...environment, CLOCK_SHIFT_MS: String(clockShiftMs) },
        nodeFlags: clockShiftMs === 0 ? [] : ['--import', SHIFTED_CLOCK],
      },
    );
    this.#process = process;
    this.#isPaused = false;
    this.#lives.push(process.ended);
    const late = setTimeout(() => process.kill('SIGKILL'), START_MS);
    const [, port] = await process.stdout(/listening on http:\/\/127\.0\.0\.1:(\d+)\n/);
    clearTimeout(late);
    this.#port = Number(port);
  }

  /** Sends the signal; `ended` says when it took effect. */
  signal(signal: NodeJS.Signals): void {
    this.#running.kill(signal);
  }

  /** It does nothing until `resume`, and does not know of it. */
  pause(): void {
    this.#isPaused = true;
    this.#running.kill('SIGSTOP');
  }

  resume(): void {
    this.#isPaused = false;
    this.#running.kill('SIGCONT');
  }

  /** Whether its process runs, paused or not. */
  async isRunning(): Promise<boolean> {
    return (await Promise.race([this.#running.ended, Promise.resolve(null)])) === null;
  }

  /** Its line of the log, as soon as it is there. */
  logged(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#running.stderr(pattern);
  }

  /** The nodes of the cluster, as it knows them. */
  async nodes(): Promise<z.infer<typeof NodesResponse>['nodes']> {
    const response = await unlessLost(this.fetch('/api/nodes'));
    if (response?.status !== 200) return [];
    return NodesResponse.parse(await response.json()).nodes;
  }

  /** Of its present life. */
  async nodeId(): Promise<number> {
    const self = (await this.nodes()).find(({ isThis }) => isThis);
    if (!self) throw new Error(`node ${this.number} does not list itself`);
    return self.nodeId;
  }

  async isReady(): Promise<boolean> {
    return (await unlessLost(this.fetch('/readyz')))?.status === 200;
  }

  /** Whether its tool servers are up. */
  async hasTools(): Promise<boolean> {
    const response = await unlessLost(this.fetch('/api/mcp/servers'));
    if (response?.status !== 200) return false;
    const { servers } = ServersResponse.parse(await response.json());
    return servers.every(({ status }) => status === 'connected' || status === 'disconnected');
  }

  /** What it has written to standard error in all its lives. */
  async said(): Promise<string> {
    const before = await Promise.all(this.#lives.slice(0, -1));
    const [now = ''] = this.#process ? await this.#process.stderr(/^.*$/s) : [];
    return before.map(({ stderr }) => stderr).join('--- the next life\n') + now;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]();
  }

  get #running(): ServiceProcess {
    if (!this.#process) throw new Error(`node ${this.number} was not started`);
    return this.#process;
  }
}
