import { z } from 'zod';
import type { Tool } from '../../../core/tool-call/tool.ts';
import type { JsonObject } from '../../../core/tool-server/server-peer.ts';
import { InvalidAnswerError } from '../peer/rpc-errors.ts';

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
  /** For the log: name and error of each tool that was left out. */
  readonly unreadable: readonly string[];
}

/** Asks for one page of the list. */
type ListPage = (params: JsonObject) => Promise<JsonObject>;

/** Reads all pages. Rejects when the answer to a page is malformed, or when the pages do not end. */
export async function readToolList(list: ListPage): Promise<ToolList> {
  const tools = new Map<string, Tool>();
  const outputSchemas = new Map<string, Record<string, unknown>>();
  const unreadable: string[] = [];
  for await (const item of toolItems(list)) {
    const parsed = WireTool.safeParse(item);
    if (!parsed.success) {
      unreadable.push(`${nameOf(item)}: ${z.prettifyError(parsed.error)}`);
      continue;
    }
    const tool = parsed.data;
    tools.set(tool.name, toolOf(tool));
    if (tool.outputSchema) outputSchemas.set(tool.name, tool.outputSchema);
  }
  return { tools: [...tools.values()], outputSchemas, unreadable };
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
