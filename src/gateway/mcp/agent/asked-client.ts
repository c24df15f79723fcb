import { z } from 'zod';
import type { McpObject } from '../mcp-object.ts';

const Elicitation = z.looseObject({ form: z.unknown().optional(), url: z.unknown().optional() });

/** Whether the client can show its user a form. One that names no mode can. */
export function knowsForms({ elicitation }: McpObject): boolean {
  const { data } = Elicitation.safeParse(elicitation);
  return data !== undefined && (data.form !== undefined || data.url === undefined);
}

/** Whether the client can send its user to an address. */
export function knowsAddresses({ elicitation }: McpObject): boolean {
  return Elicitation.safeParse(elicitation).data?.url !== undefined;
}

/** What came of a question. `open`: the client leaves it to others. `unreadable`: nobody can tell what it has answered. */
export type Answered = 'answered' | 'open' | 'unreadable';
