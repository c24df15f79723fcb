import { z } from 'zod';
import type { JsonObject } from '../../../core/json-object.ts';
import type { TraceContext } from '../../../core/trace.ts';
import type { RequestId } from '../peer/rpc-message.ts';

const Meta = z.record(z.string(), z.unknown()).catch({});

const PREFIX = 'io.modelcontextprotocol/';
const VERSION = `${PREFIX}protocolVersion`;
const INFO = `${PREFIX}clientInfo`;
const CAPABILITIES = `${PREFIX}clientCapabilities`;
const LOG_LEVEL = `${PREFIX}logLevel`;

/** What MCP itself keeps in `_meta`. What another client wrote there is about its own connection. */
const ownKeys = ['progressToken', VERSION, INFO, CAPABILITIES];

export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** What a stateless server is told with each request. */
export interface Envelope {
  readonly version: string;
  readonly clientInfo: ClientInfo;
  readonly capabilities: JsonObject;
}

export interface MetaFields {
  readonly trace?: TraceContext | undefined;
  /** For progress notifications, which then come with this token. */
  readonly progressToken?: RequestId | undefined;
  /** Only for stateless servers. */
  readonly envelope?: Envelope | undefined;
}

/** The parameters with the fields of this connection in `_meta`. Other fields stay as they are. */
export function withMeta(params: JsonObject, fields: MetaFields): JsonObject {
  const { _meta, ...rest } = params;
  const { trace, progressToken, envelope } = fields;
  const given = Object.entries(Meta.parse(_meta)).filter(([key]) => !ownKeys.includes(key));
  const meta = {
    // A stateless server logs only for requests that ask for it.
    ...(envelope && progressToken !== undefined && { [LOG_LEVEL]: 'info' }),
    ...Object.fromEntries(given),
    ...trace,
    ...(progressToken !== undefined && { progressToken }),
    ...(envelope && {
      [VERSION]: envelope.version,
      [INFO]: envelope.clientInfo,
      [CAPABILITIES]: envelope.capabilities,
    }),
  };
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}
