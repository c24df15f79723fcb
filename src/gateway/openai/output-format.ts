import type { OutputFormat } from '../../core/turn/output-format.ts';

/** The form that a request wants, as both of OpenAI's interfaces name it. */
export type AskedFormat =
  | { readonly type: 'text' | 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly schema?: Readonly<Record<string, unknown>> | undefined;
      readonly strict?: boolean | undefined;
    };

export function outputFormat(format: AskedFormat | undefined): OutputFormat | undefined {
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined;
    case 'json_object':
      return { schema: { type: 'object' }, name: 'output' };
    case 'json_schema': {
      const { name, schema = {}, strict } = format;
      return { schema, name, ...(strict !== undefined && { strict }) };
    }
    default:
      return format satisfies never;
  }
}
