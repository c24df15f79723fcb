import { z } from 'zod';

/** The only version of JSON-RPC that MCP uses. */
export const JSON_RPC = '2.0';

export const RequestId = z.union([z.string(), z.number()]);
export type RequestId = z.infer<typeof RequestId>;

const RpcObject = z.record(z.string(), z.unknown());
const head = { jsonrpc: z.literal(JSON_RPC) };

const RpcRequest = z.object({ ...head, id: RequestId, method: z.string(), params: RpcObject.optional() });
const RpcNotification = z.object({ ...head, method: z.string(), params: RpcObject.optional() });
const RpcResult = z.object({ ...head, id: RequestId, result: RpcObject });
/** The id is missing when the other end could not read the request. */
const RpcError = z.object({
  ...head,
  id: RequestId.nullish(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
});

/** A message of JSON-RPC. What is in parameters, results and errors stays as it came. */
export const RpcMessage = z.union([RpcRequest, RpcNotification, RpcResult, RpcError]);
export type RpcMessage = z.infer<typeof RpcMessage>;
export type RpcRequest = z.infer<typeof RpcRequest>;
export type RpcNotification = z.infer<typeof RpcNotification>;
