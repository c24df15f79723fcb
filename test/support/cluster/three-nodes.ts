import { expect } from 'vitest';
import { z } from 'zod';
import { tempDirectory } from '../service/temp-directory.ts';
import { Cluster } from './cluster.ts';
import { clusterAgent } from './cluster-agent.ts';
import { ClusterEngines } from './cluster-engines.ts';
import type { ClusterNode } from './cluster-node.ts';
import { awaited } from './deadline.ts';

const ANSWER_MS = 60_000;
const View = z.looseObject({ session: z.looseObject({ head: z.int() }) });
const Inbox = z.looseObject({
  approvals: z.array(z.looseObject({ sessionId: z.string(), callId: z.string() })),
});

/** A cluster whose first node owns the sessions, so that a test can ask the others. Payments need approval. */
export class ThreeNodes implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly #parts: readonly AsyncDisposable[];

  private constructor(cluster: Cluster, parts: readonly AsyncDisposable[]) {
    this.cluster = cluster;
    this.#parts = parts;
  }

  static async start(): Promise<ThreeNodes> {
    const engines = await ClusterEngines.start();
    const ledger = await tempDirectory();
    const approval = { rules: [{ server: 'tools', tool: 'pay', policy: 'ask' }] };
    const cluster = await Cluster.start({ engines, agent: clusterAgent(ledger.path, { approval }) });
    return new ThreeNodes(cluster, [cluster, engines, ledger]);
  }

  get nodes(): readonly ClusterNode[] {
    return this.cluster.nodes;
  }

  get owner(): ClusterNode {
    return this.cluster.node(0);
  }

  get second(): ClusterNode {
    return this.cluster.node(1);
  }

  get third(): ClusterNode {
    return this.cluster.node(2);
  }

  /** A session of the first node, with one turn. */
  async begin(sessionId: string, more: object = {}): Promise<void> {
    const response = await this.owner.post('/api/message-sync', { message: 'hello', sessionId, ...more });
    expect(response.status).toBe(200);
    expect(await this.cluster.ownerOf(sessionId)).toBe(0);
  }

  async headOf(sessionId: string): Promise<number> {
    const response = await this.third.fetch(`/api/sessions/${sessionId}`);
    return View.parse(await response.json()).session.head;
  }

  /** Begins a turn of the first node. @returns its call of a payment, which waits for approval. */
  async waitingCall(sessionId: string): Promise<string> {
    await this.owner.post('/api/message', { message: `work ${sessionId} 1`, sessionId });
    const callOf = async (): Promise<string> => {
      const { approvals } = Inbox.parse(await (await this.owner.fetch('/api/approvals')).json());
      return approvals.find((call) => call.sessionId === sessionId)?.callId ?? '';
    };
    return awaited(ANSWER_MS, `a call of ${sessionId} waits for approval`, callOf, (callId) => callId !== '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const part of this.#parts) await part[Symbol.asyncDispose]();
  }
}

/** A request with a body of JSON. */
export const sent = (method: string, body?: object): RequestInit => ({
  method,
  headers: { 'Content-Type': 'application/json' },
  ...(body && { body: JSON.stringify(body) }),
});

/** Throws unless all are the same. */
export function expectSame<T>(answers: readonly T[]): void {
  const [first, ...others] = answers;
  for (const other of others) expect(other).toEqual(first);
}

/** Whether so many replies are whole. */
export const isReplied =
  (count: number) =>
  (frames: readonly { readonly event: string }[]): boolean =>
    frames.filter(({ event }) => event === 'response').length === count;
