import { hasPattern } from '../../../core/tool-call/schema-risk.ts';
import type { ToolResult } from '../../../core/tool-call/tool.ts';
import type { SchemaCheck } from '../../../ports/schema-check.ts';

export interface OutputCheckDeps {
  readonly schemas: Pick<SchemaCheck, 'ofResult'>;
  /** Called once for each tool whose schema cannot be used. `reason` is for people. */
  readonly onUnusable: (toolName: string, reason: string) => void;
}

/** Checks results against the tools' output schemas. */
export class OutputCheck {
  /** By tool name. Without those that turned out to be unusable. */
  readonly #schemas: Map<string, Readonly<Record<string, unknown>>>;
  readonly #deps: OutputCheckDeps;

  constructor(schemas: ReadonlyMap<string, Readonly<Record<string, unknown>>>, deps: OutputCheckDeps) {
    this.#schemas = new Map(schemas);
    this.#deps = deps;
  }

  /** What is wrong with the result; undefined when it matches, or when the tool has no usable schema. */
  async problem(toolName: string, { structuredContent }: ToolResult): Promise<string | undefined> {
    const schema = this.#schemas.get(toolName);
    if (schema === undefined || hasPattern(schema)) return undefined;
    const { issue, unusable } = await this.#deps.schemas.ofResult(schema, structuredContent);
    if (unusable !== undefined) {
      // Of several calls at once, the first one tells.
      if (this.#schemas.delete(toolName)) this.#deps.onUnusable(toolName, unusable);
      return undefined;
    }
    if (structuredContent === undefined)
      return 'the tool has an output schema, but gave no structured result';
    return issue && `the result does not match the output schema of the tool: ${issue}`;
  }
}
