import { z } from 'zod';
import type { JsonObject } from '../../../core/tool-server/server-peer.ts';
import type { TraceContext } from '../../../core/trace.ts';
import type { RequestId } from '../peer/rpc-message.ts';

const Meta = z.record(z.string(), z.unknown()).catch({});

/** What MCP itself keeps in `_meta`. What another client wrote there is about its own connection. */
const ownKeys = [
  'progressToken',
  'io.modelcontextprotocol/protocolVersion',
  'io.modelcontextprotocol/clientInfo',
  'io.modelcontextprotocol/clientCapabilities',
];

export interface MetaFields {
  readonly trace?: TraceContext | undefined;
  /** For progress notifications, which then come with this token. */
  readonly progressToken?: RequestId | undefined;
}

/** The parameters with the fields of this connection in `_meta`. Other fields stay as they are. */
export function withMeta(params: JsonObject, { trace, progressToken }: MetaFields): JsonObject {
  const { _meta, ...rest } = params;
  const given = Object.entries(Meta.parse(_meta)).filter(([key]) => !ownKeys.includes(key));
  const meta = {
    ...Object.fromEntries(given),
    ...trace,
    ...(progressToken !== undefined && { progressToken }),
  };
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}
