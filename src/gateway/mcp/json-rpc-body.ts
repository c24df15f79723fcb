import { z } from 'zod';
import { parseJson } from '../requests/json-text.ts';

const Initialize = z.object({ method: z.literal('initialize') });
const Request = z.object({ method: z.string(), id: z.union([z.string(), z.number()]) });

/** The body of a request to `/mcp`: one message of JSON-RPC, or several in the older era. */
export class McpBody {
  readonly text: string;
  /** Undefined if it cannot be read: the transport answers what is wrong with it. */
  readonly json: unknown;

  /** Throws if it is nested too deeply. */
  constructor(text: string) {
    this.text = text;
    this.json = parsed(text);
  }

  get messages(): readonly unknown[] {
    return this.json === undefined ? [] : [this.json].flat();
  }

  /** The ids of the requests that wait for an answer. */
  get requestIds(): readonly (string | number)[] {
    return this.messages.flatMap((message) => {
      const { data } = Request.safeParse(message);
      return data ? [data.id] : [];
    });
  }
}

/** Whether the message begins a session. */
export function isInitialize(message: unknown): boolean {
  return Initialize.safeParse(message).success;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
