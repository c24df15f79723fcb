import { calledTool } from '../../core/tool-server/forwarded-tool-call.ts';
import type { Unsubscribe } from '../../ports/bus.ts';
import type { Membership } from '../../ports/membership.ts';
import type { ToolServerConnection, ToolServerConnector } from '../../ports/tool-server.ts';
import { forwardingConnection } from '../forwarding-connection.ts';

type Lease = Pick<Membership, 'isHeld' | 'onRenewed'>;

/**
 * Wraps the tool servers: a call begins only while the lease of this node is held. A node that was paused, and whose
 * sessions another one has by now, calls nothing when it wakes up.
 */
export function fencedTools(connector: ToolServerConnector, lease: Lease): ToolServerConnector {
  return {
    async connect(...connect) {
      return fenced(await connector.connect(...connect), lease);
    },
  };
}

function fenced(connection: ToolServerConnection, lease: Lease): ToolServerConnection {
  const mayCall = async (signal: AbortSignal | undefined): Promise<void> => {
    if (!lease.isHeld && !signal?.aborted) await renewed(lease, signal);
  };
  return {
    ...forwardingConnection(connection),
    async callTool(toolName, args, options) {
      await mayCall(options?.signal);
      return connection.callTool(toolName, args, options);
    },
    async request(request, options) {
      if (calledTool(request) !== undefined) await mayCall(options?.signal);
      return connection.request(request, options);
    },
  };
}

/** Resolves when the lease is held, or when nobody wants the call any more. A node that has lost its lease ends. */
function renewed(lease: Lease, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    let stop: Unsubscribe = () => undefined;
    const end = (): void => {
      stop();
      resolve();
    };
    stop = lease.onRenewed(() => {
      if (lease.isHeld) end();
    });
    signal?.addEventListener('abort', end, { once: true });
  });
}
