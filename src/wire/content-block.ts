import { z } from 'zod';
import { wrongTypeOf } from '../core/conversation/image-type.ts';
import type { ToolResult } from '../core/tool-call/tool.ts';

const text = z.string('must be a text');
const mimeType = z.string('must be a text, such as image/png');
const uri = z.string('must be a text: the URI of the resource');
/** Some clients break it into lines. No character fits in two places, so that a long text takes no long time. */
const base64 = z
  .string('must be a text: the bytes in base64')
  .regex(/^[A-Za-z0-9+/\r\n]*(?:=[=\r\n]*)?$/, 'must be base64');
const media = { data: base64, mimeType };

/** A content block of MCP. Clients may add fields. */
const ContentBlock = z.discriminatedUnion(
  'type',
  [
    z.looseObject({ type: z.literal('text'), text }),
    z.looseObject({ type: z.literal('image'), ...media }).superRefine(({ data, mimeType: said }, context) => {
      const message = wrongTypeOf({ base64: data, mimeType: said });
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['mimeType'], message });
    }),
    z.looseObject({ type: z.literal('audio'), ...media }),
    z.looseObject({ type: z.literal('resource_link'), uri }),
    z.looseObject({
      type: z.literal('resource'),
      resource: z.looseObject({ uri, text: text.optional(), blob: base64.optional() }),
    }),
  ],
  'must be text, image, audio, resource_link or resource',
);

/** Reports what is wrong with content blocks, with the place within the list. The blocks stay as they are. */
export function checkContentBlocks(
  content: string | ToolResult['content'],
  context: z.RefinementCtx<string | ToolResult['content']>,
): void {
  if (typeof content === 'string') return;
  for (const [index, block] of content.entries()) {
    const [issue] = ContentBlock.safeParse(block).error?.issues ?? [];
    if (!issue) continue;
    const { message } = issue;
    context.addIssue({ code: 'custom', path: [index, ...issue.path], message });
    return;
  }
}
