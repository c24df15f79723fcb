import type { JsonObject } from '../json-object.ts';
import type { ApprovalPolicy } from '../tool-call/approval-policy.ts';

/** What a tool server may offer, as MCP lists it. */
export type OfferKind = 'tools' | 'resources' | 'templates' | 'prompts';

/** What one connected server offers of one kind. */
export interface ServerOffer {
  readonly serverId: string;
  /** As the server lists them, on all pages. */
  readonly items: readonly JsonObject[];
}

/** A connected tool server, as far as it concerns clients whose requests are passed on to it. */
export interface ServerFeatures {
  readonly serverId: string;
  /** MCP's `ServerCapabilities`. */
  readonly capabilities: JsonObject;
}

/** A tool of a connected server, and whether it may be called without asking anybody. */
export interface CallableTool {
  readonly serverId: string;
  readonly toolName: string;
  readonly policy: ApprovalPolicy;
  /** How long a call that needs approval waits; for ever if absent. */
  readonly expiresAfterMs?: number;
}

/** A request of MCP for one server. */
export interface ServerRequest {
  readonly serverId: string;
  /** Such as `tools/call` or `resources/read`. */
  readonly method: ForwardedMethod;
  /** As the client sent them, with the names by which the server knows its own. */
  readonly params: JsonObject;
}

export type ForwardedMethod =
  | 'tools/call'
  | 'resources/read'
  | 'prompts/get'
  | 'completion/complete'
  | 'logging/setLevel';
