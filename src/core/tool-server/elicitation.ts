import { z } from 'zod';
import type { JsonObject } from '../json-object.ts';

/* What a client of MCP declares of the questions that it can put to its user. */

const Elicitation = z.looseObject({ form: z.unknown().optional(), url: z.unknown().optional() });

/** Whether the client can show its user a form. One that names no mode can. */
export function knowsForms({ elicitation }: JsonObject = {}): boolean {
  const { data } = Elicitation.safeParse(elicitation);
  return data !== undefined && (data.form !== undefined || data.url === undefined);
}

/** Whether the client can send its user to an address. */
export function knowsAddresses({ elicitation }: JsonObject): boolean {
  return Elicitation.safeParse(elicitation).data?.url !== undefined;
}
