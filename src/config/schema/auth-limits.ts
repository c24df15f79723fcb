import { z } from 'zod';

interface Defaults {
  readonly requestsPerMinute: number;
  readonly messagesPerMinute: number;
  readonly connections: number;
  readonly sessions: number;
  readonly runningTurns: number;
}

const limit = (value: number) => z.union([z.int().min(1), z.literal(false)]).default(value);

/** `false` switches a limit off. */
const limitsOf = (defaults: Defaults) =>
  z
    .strictObject({
      /** REST requests, MCP requests and frames of WebSockets. */
      requestsPerMinute: limit(defaults.requestsPerMinute),
      /** Messages for an agent, over every protocol. */
      messagesPerMinute: limit(defaults.messagesPerMinute),
      /** Open WebSockets and event streams. */
      connections: limit(defaults.connections),
      /** Sessions that belong to it, of all agents. */
      sessions: limit(defaults.sessions),
      /** Turns that it has started and that are not over, and messages that wait behind them. */
      runningTurns: limit(defaults.runningTurns),
    })
    .prefault({});

/** How much each principal, and all principals of a tenant together, may use. */
export const AuthLimits = z.strictObject({
  principal: limitsOf({
    requestsPerMinute: 300,
    messagesPerMinute: 100,
    connections: 20,
    sessions: 10_000,
    runningTurns: 50,
  }),
  tenant: limitsOf({
    requestsPerMinute: 6_000,
    messagesPerMinute: 2_000,
    connections: 1_000,
    sessions: 100_000,
    runningTurns: 500,
  }),
});
export type AuthLimits = z.infer<typeof AuthLimits>;
