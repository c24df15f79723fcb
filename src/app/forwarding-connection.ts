import type { ToolServerConnection } from '../ports/tool-server.ts';

/** Passes everything on to the connection. Whoever wraps one spreads this, and adds the methods in which it differs. */
export function forwardingConnection(connection: ToolServerConnection): ToolServerConnection {
  const { era, capabilities, instructions } = connection;
  return {
    era,
    capabilities,
    instructions,
    listTools: (...args) => connection.listTools(...args),
    callTool: (...args) => connection.callTool(...args),
    request: (...args) => connection.request(...args),
    close: () => connection.close(),
  };
}
