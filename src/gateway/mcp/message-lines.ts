import { Transform, type TransformCallback, type Writable } from 'node:stream';
import { isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResponse } from '@modelcontextprotocol/server';
import { ServiceError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-object.ts';
import { type JsonRpcFailure, RPC } from '../../core/json-rpc.ts';
import { parseJson } from '../requests/json-text.ts';

interface Lines {
  /** Where clients are answered. */
  readonly output: Writable;
  /** Beyond this, a line is passed on before its end, for the SDK to end the connection. */
  readonly maxBytes: number;
}

/** The lines of a client over stdio. Those that the SDK would drop without an answer are answered here. */
export class MessageLines extends Transform {
  readonly #output: Writable;
  readonly #maxBytes: number;
  /** Of the line that has not ended. */
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor({ output, maxBytes }: Lines) {
    super();
    this.#output = output;
    this.#maxBytes = maxBytes;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let begin = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', begin)) {
      this.#hold(chunk.subarray(begin, end + 1));
      this.#take(this.#release());
      begin = end + 1;
    }
    this.#hold(chunk.subarray(begin));
    if (this.#heldBytes > this.#maxBytes) this.push(this.#release());
    done();
  }

  #hold(part: Buffer): void {
    this.#held.push(part);
    this.#heldBytes += part.length;
  }

  #release(): Buffer {
    const line = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    return line;
  }

  #take(line: Buffer): void {
    const error = refusalOf(line.toString());
    if (!error) this.push(line);
    // A client that writes no messages may not read either, and its answers would pile up.
    else if (!this.#output.writableNeedDrain)
      this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error })}\n`);
  }
}

function refusalOf(line: string): JsonRpcFailure | null {
  if (line.trim() === '') return null;
  let message: unknown;
  try {
    message = parseJson(line);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof ServiceError)) throw error;
    return { code: RPC.parseError, message: `Parse error: ${error.message}` };
  }
  if (Array.isArray(message)) return invalid('over stdio, each message has a line of its own.');
  if (isJSONRPCRequest(message) || isJSONRPCNotification(message) || isJSONRPCResponse(message)) return null;
  // An answer is never answered: two programs would do so for ever.
  if (isJsonObject(message) && ('error' in message || 'result' in message)) return null;
  return invalid('this is no message of JSON-RPC.');
}

function invalid(why: string): JsonRpcFailure {
  return { code: RPC.invalidRequest, message: `Invalid Request: ${why}` };
}
