import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import { parseJson } from '../requests/json-text.ts';

/** As the SDK has it, which would count them at the end. */
const MOST_MESSAGES = 100;

const Request = z.object({ method: z.string(), id: z.union([z.string(), z.number()]) });

/** The body of a request to `/mcp`: one message of JSON-RPC, or several in the older era. */
export class McpBody {
  readonly text: string;
  /** Undefined if it cannot be read: the transport answers what is wrong with it. */
  readonly json: unknown;

  /** Throws `INVALID_REQUEST` if it is nested too deeply, or is too large a batch. */
  constructor(text: string) {
    this.text = text;
    this.json = parsed(text);
    if (Array.isArray(this.json) && this.json.length > MOST_MESSAGES) throw tooMany(this.json.length);
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

function tooMany(count: number): ServiceError {
  return new ServiceError('INVALID_REQUEST', `A batch must not exceed ${MOST_MESSAGES} messages.`, {
    issue: `it has ${count}`,
    suggestion: 'Send them in several requests.',
  });
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
