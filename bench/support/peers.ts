import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Contender, control } from './contenders.ts';
import { mastraProtocol } from './mastra-protocol.ts';
import { npmCi } from './npm-ci.ts';
import type { Protocol } from './protocol.ts';
import type { Scope } from './scope.ts';
import { started } from './subjects.ts';

/** A server by others, with packages of its own in bench/peers. */
interface Peer {
  readonly protocol: Protocol;
  readonly env: Readonly<Record<string, string>>;
}

const known: Readonly<Record<string, Peer>> = {
  mastra: { protocol: mastraProtocol, env: { MASTRA_TELEMETRY_DISABLED: '1' } },
};

export const peerNames = Object.keys(known);

/** The benches that can be run with a peer. */
export const benchesWithPeers = ['stream', 'sync'];

/** The peers that were asked for, with this model service. */
export function peers(scope: Scope, upstream: string): Contender[] {
  return scope.peers.flatMap((name) => {
    const peer = known[name];
    if (!peer) throw new Error(`there is no peer ${name}`);
    const start = () =>
      started(scope, join(folderOf(name), 'server.js'), { env: { ...peer.env, BENCH_UPSTREAM: upstream } });
    return control(scope, name, start).map((contender) => ({ ...contender, protocol: peer.protocol }));
  });
}

/** Installs the packages of a peer unless they are there. */
export async function installPeer(name: string): Promise<void> {
  const folder = folderOf(name);
  if (!existsSync(join(folder, 'node_modules', '.package-lock.json'))) await npmCi(folder);
}

function folderOf(name: string): string {
  return fileURLToPath(new URL(`../peers/${name}/`, import.meta.url));
}
