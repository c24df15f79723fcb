import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../../core/json-object.ts';
import type { Tool } from '../../../core/tool-call/tool.ts';
import { InvalidAnswerError } from '../peer/rpc-errors.ts';
import { type ParamHeader, ParamHeaderError, paramHeaders } from './param-headers.ts';

const MAX_PAGES = 1_000;

const ToolPage = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

const hint = z.boolean().nullish().catch(undefined);

/** More lenient than the SDK, which rejects the whole list when one tool is malformed. */
const WireTool = z.object({
  name: z.string().min(1),
  description: z.string().nullish(),
  inputSchema: z.looseObject({ type: z.literal('object').default('object') }).nullish(),
  outputSchema: z.record(z.string(), z.unknown()).nullish(),
  annotations: z.object({ readOnlyHint: hint, idempotentHint: hint }).nullish(),
});

export interface ToolList {
  readonly tools: Tool[];
  /** By tool name. */
  readonly outputSchemas: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** By tool name: the arguments that are repeated as headers. */
  readonly paramHeaders: ReadonlyMap<string, readonly ParamHeader[]>;
  /** For the log: name and error of each tool that was left out. */
  readonly unreadable: readonly string[];
  /** The same if the server has said the same, also what is not read here and MCP clients are told. */
  readonly digest: string;
}

/** Asks for one page of the list. */
type ListPage = (params: JsonObject) => Promise<JsonObject>;

/**
 * Reads all pages. Rejects when the answer to a page is malformed, or when the pages do not end.
 * @param hasHeaders whether calls repeat arguments as headers; then tools that mark them wrongly are left out.
 */
export async function readToolList(list: ListPage, hasHeaders: boolean): Promise<ToolList> {
  const tools = new Map<string, Tool>();
  const outputSchemas = new Map<string, Record<string, unknown>>();
  const paramHeaders = new Map<string, readonly ParamHeader[]>();
  const unreadable: string[] = [];
  const digest = createHash('sha256');
  for await (const item of toolItems(list)) {
    digest.update(`${JSON.stringify(item)}\n`);
    const parsed = WireTool.safeParse(item);
    if (!parsed.success) {
      unreadable.push(`${nameOf(item)}: ${z.prettifyError(parsed.error)}`);
      continue;
    }
    const tool = parsed.data;
    const headers = hasHeaders ? headersOf(tool) : [];
    if (headers instanceof ParamHeaderError) {
      unreadable.push(`${tool.name}: ${headers.message}`);
      continue;
    }
    if (headers.length > 0) paramHeaders.set(tool.name, headers);
    tools.set(tool.name, toolOf(tool));
    if (tool.outputSchema) outputSchemas.set(tool.name, tool.outputSchema);
  }
  return {
    tools: [...tools.values()],
    outputSchemas,
    paramHeaders,
    unreadable,
    digest: digest.digest('base64'),
  };
}

async function* toolItems(list: ListPage): AsyncGenerator<unknown> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = toolPage(await list(cursor === undefined ? {} : { cursor }));
    yield* page.tools;
    // Some servers mark the last page with an empty cursor or null.
    cursor = page.nextCursor || undefined;
    if (cursor !== undefined && seen.has(cursor))
      throw new Error('the pages of the tool list go in a circle');
    if (seen.size >= MAX_PAGES) throw new Error(`the tool list has more than ${MAX_PAGES} pages`);
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
}

function headersOf({ inputSchema }: z.infer<typeof WireTool>): readonly ParamHeader[] | ParamHeaderError {
  try {
    return paramHeaders(inputSchema ?? {});
  } catch (error) {
    if (error instanceof ParamHeaderError) return error;
    throw error;
  }
}

function toolPage(answer: JsonObject): z.infer<typeof ToolPage> {
  const page = ToolPage.safeParse(answer);
  if (!page.success) throw new InvalidAnswerError(page.error);
  return page.data;
}

function toolOf(tool: z.infer<typeof WireTool>): Tool {
  return {
    name: tool.name,
    description: tool.description ?? '',
    inputSchema: tool.inputSchema ?? { type: 'object' },
    repeatable: tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true,
  };
}

function nameOf(item: unknown): string {
  const named = z.object({ name: z.string() }).safeParse(item);
  return named.success ? named.data.name : '(no name)';
}
