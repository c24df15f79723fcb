import {
  OpenAiUpstream,
  textReply,
  toolCallReply,
  type UpstreamReply,
  type UpstreamRequest,
} from '../models/openai-upstream.ts';

/** What a check asks a model for. */
export type Ask = 'words' | 'tool call' | 'tool result' | 'image';

export function askOf({ body }: UpstreamRequest): Ask {
  if (body.messages.some(({ role }) => role === 'tool')) return 'tool result';
  if (body.tools) return 'tool call';
  return JSON.stringify(body.messages).includes('image_url') ? 'image' : 'words';
}

const GOOD: Readonly<Record<Ask, UpstreamReply>> = {
  words: textReply('one, ', 'two, ', 'three'),
  'tool call': toolCallReply([{ id: 'call_1', name: 'add', arguments: { a: 1234, b: 5678 } }]),
  'tool result': textReply('It is ', '6912.'),
  image: textReply('Yellow', '.'),
};

/** A provider that can do all that a check asks for, but for what is said otherwise. */
export async function checkedProvider(
  otherwise: Partial<Record<Ask, UpstreamReply>> = {},
): Promise<OpenAiUpstream> {
  const upstream = await OpenAiUpstream.listen();
  upstream.otherwise = (request) => ({ ...GOOD, ...otherwise })[askOf(request)];
  return upstream;
}
