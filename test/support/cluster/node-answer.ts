import type { ClusterNode } from './cluster-node.ts';

export interface NodeAnswer {
  readonly status: number;
  readonly contentType: string | null;
  /** As it came, but for the time of the answer. */
  readonly body: string;
}

const TIMESTAMP = /"timestamp":"[^"]*"\}$/;

/** What a node answers, in a form that can be compared with the answers of others. */
export async function answerOf(node: ClusterNode, path: string, init?: RequestInit): Promise<NodeAnswer> {
  const response = await node.fetch(path, init);
  const body = await response.text();
  return {
    status: response.status,
    contentType: response.headers.get('Content-Type'),
    body: body.replace(TIMESTAMP, '"timestamp":"…"}'),
  };
}

/** The answers of all nodes, in their order. */
export function answersOf(
  nodes: readonly ClusterNode[],
  path: string,
  init?: RequestInit,
): Promise<NodeAnswer[]> {
  return Promise.all(nodes.map((node) => answerOf(node, path, init)));
}

/** All that an event stream has up to that event. */
export async function streamedTo(node: ClusterNode, path: string, lastId: string): Promise<string> {
  const abort = new AbortController();
  const response = await node.fetch(path, { headers: { Accept: 'text/event-stream' }, signal: abort.signal });
  let text = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    const end = text.indexOf('\n\n', text.indexOf(`id: ${lastId}\n`));
    if (text.includes(`id: ${lastId}\n`) && end >= 0) {
      abort.abort();
      return text.slice(0, end);
    }
  }
  throw new Error(`the stream ended after ${text}`);
}
