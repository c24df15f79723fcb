import { assign, fromCallback, setup } from 'xstate';

export interface McpServerContext {
  readonly name: string;
  /** Failed attempts and lost connections since a connection held. The delay before the next attempt grows with them. */
  readonly failures: number;
  readonly toolCount: number;
  /** Why the server is in `error`. */
  readonly error: string | null;
}

export type McpServerEvent =
  /** Connect, or connect again. */
  | { readonly type: 'CONNECT' }
  | { readonly type: 'DISCONNECT' }
  /** The server has answered the handshake, and its tools are known. */
  | { readonly type: 'OPENED'; readonly toolCount: number }
  | { readonly type: 'FAILED'; readonly reason: string }
  /** The connection ended by itself. */
  | { readonly type: 'CLOSED'; readonly reason: string }
  | { readonly type: 'TOOLS_CHANGED'; readonly toolCount: number };

/** A server that dies sooner after it has connected is as good as down: each attempt may start a process. */
const HELD_MS = 60_000;

/** The input of the actors. */
export type ConnectionEffect = { readonly name: string };

/**
 * One tool server. Its states are the four statuses that clients see. After an error, the machine tries to connect
 * again, with longer and longer delays, until it succeeds or is disconnected. The delays begin anew only after a connection
 * that held.
 */
export const mcpServerMachine = setup({
  types: {} as { context: McpServerContext; input: { name: string }; events: McpServerEvent },
  actors: {
    /** Connects and lists the tools. Sends `OPENED` or `FAILED`. Leaving the state aborts the attempt. */
    open: fromCallback<McpServerEvent, ConnectionEffect>(notProvided),
    /** Watches the open connection. Sends `CLOSED` or `TOOLS_CHANGED`. Leaving the state closes the connection. */
    hold: fromCallback<McpServerEvent, ConnectionEffect>(notProvided),
  },
  actions: {
    noteTools: assign({
      toolCount: ({ context, event }) => ('toolCount' in event ? event.toolCount : context.toolCount),
    }),
    noteFailure: assign({
      error: ({ context, event }) => ('reason' in event ? event.reason : context.error),
      failures: ({ context }) => context.failures + 1,
      toolCount: 0,
    }),
    forgetFailures: assign({ failures: 0 }),
    forgetError: assign({ error: null }),
    forgetTools: assign({ toolCount: 0 }),
  },
  delays: {
    /** The runtime provides the delay, in milliseconds: it grows with the failures and has a jitter. */
    retryDelay: () => notProvided(),
    holdDelay: HELD_MS,
  },
}).createMachine({
  id: 'mcp-server',
  context: ({ input }) => ({ name: input.name, failures: 0, toolCount: 0, error: null }),
  initial: 'disconnected',
  states: {
    disconnected: {
      description: 'The service is not connected to this tool server, and nobody has asked it to connect.',
      entry: ['forgetFailures', 'forgetError', 'forgetTools'],
      on: { CONNECT: 'connecting' },
    },
    connecting: {
      description: 'The service connects to the tool server and asks for its tools.',
      invoke: { src: 'open', input: ({ context: { name } }) => ({ name }) },
      on: {
        OPENED: { target: 'connected', actions: 'noteTools' },
        FAILED: { target: 'error', actions: 'noteFailure' },
        CONNECT: { target: 'connecting', reenter: true },
        DISCONNECT: 'disconnected',
      },
    },
    connected: {
      description: 'The connection is open. The model can use the tools of this server.',
      entry: 'forgetError',
      invoke: { src: 'hold', input: ({ context: { name } }) => ({ name }) },
      on: {
        TOOLS_CHANGED: { actions: 'noteTools' },
        CLOSED: { target: 'error', actions: 'noteFailure' },
        CONNECT: { target: 'connecting', actions: 'forgetTools' },
        DISCONNECT: 'disconnected',
      },
      after: { holdDelay: { actions: 'forgetFailures' } },
    },
    error: {
      description:
        'The connection failed or ended. The service tries again by itself, after a longer pause each time.',
      on: { CONNECT: 'connecting', DISCONNECT: 'disconnected' },
      after: { retryDelay: 'connecting' },
    },
  },
});

function notProvided(): never {
  throw new Error('the MCP server machine was started without its effects');
}
