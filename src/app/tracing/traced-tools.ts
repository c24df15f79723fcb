import type { JsonObject } from '../../core/json-object.ts';
import { calledTool, toolCallStatus } from '../../core/tool-server/forwarded-tool-call.ts';
import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { ToolCallOptions, ToolServerConnection, ToolServerConnector } from '../../ports/tool-server.ts';
import type { Span, SpanAttributes, Tracing } from '../../ports/tracing.ts';
import { forwardingConnection } from '../forwarding-connection.ts';
import type { TurnTraces } from './turn-traces.ts';

/** Wraps the tool servers: each call is a span of the step that asked for it, and the server gets its context. */
export function tracedTools(
  connector: ToolServerConnector,
  tracing: Tracing,
  turns: TurnTraces,
): ToolServerConnector {
  return {
    async connect(name, config, ...rest) {
      const connection = await connector.connect(name, config, ...rest);
      return traced(connection, serverAttributes(name, config), tracing, turns);
    },
  };
}

function traced(
  connection: ToolServerConnection,
  server: SpanAttributes,
  tracing: Tracing,
  turns: TurnTraces,
): ToolServerConnection {
  return {
    ...forwardingConnection(connection),
    async callTool(toolName, args, options = {}) {
      const { origin, trace, signal } = options;
      const open = origin && turns.openTurn(origin.turnId);
      const span = tracing.begin(`execute_tool ${toolName}`, {
        kind: 'client',
        parent: open?.step ?? open?.turn ?? trace,
        attributes: { ...callAttributes(toolName, origin), ...server, ...open?.attributes },
      });
      const outcome = await connection.callTool(toolName, args, { ...options, trace: span.context });
      const failed = outcome.status === 'failed';
      if (signal?.aborted) span.set({ 'agent.tool.outcome': 'cancelled' });
      // The text of a tool's failure is message content, which no span may contain.
      span.end(
        failed && !signal?.aborted ? { type: outcome.result ? 'tool_error' : 'call_failed' } : undefined,
      );
      return outcome;
    },
    async request(request, options = {}) {
      const toolName = calledTool(request);
      if (toolName === undefined) return await connection.request(request, options);
      const span = tracing.begin(`execute_tool ${toolName}`, {
        kind: 'client',
        parent: options.trace,
        attributes: { ...callAttributes(toolName, undefined), ...server },
      });
      return await inSpan(span, options.signal, () =>
        connection.request(request, { ...options, trace: span.context }),
      );
    },
  };
}

/** Ends the span with the passed call. */
async function inSpan(
  span: Span,
  signal: AbortSignal | undefined,
  call: () => Promise<JsonObject>,
): Promise<JsonObject> {
  try {
    const result = await call();
    span.end(toolCallStatus(result) === 'failed' ? { type: 'tool_error' } : undefined);
    return result;
  } catch (error) {
    if (signal?.aborted) span.set({ 'agent.tool.outcome': 'cancelled' });
    span.end(signal?.aborted ? undefined : { type: 'call_failed' });
    throw error;
  }
}

function callAttributes(toolName: string, origin: ToolCallOptions['origin']): SpanAttributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': toolName,
    'mcp.method.name': 'tools/call',
    ...(origin && { 'gen_ai.tool.call.id': origin.callId }),
  };
}

function serverAttributes(name: string, { type }: McpServerConfig): SpanAttributes {
  return { 'agent.mcp_server.name': name, 'network.transport': type === 'stdio' ? 'pipe' : 'tcp' };
}
