/** How the bytes of a reply are divided into HTTP chunks and packets. */
export type Shape =
  /** Many events in one HTTP chunk, as behind a proxy; the whole reply in one write. */
  | 'burst'
  /** Each event in its own HTTP chunk; the whole reply in one write. */
  | 'framed'
  /** Each event in its own HTTP chunk and packet, at a steady rate. */
  | 'paced';

/** A reply as the buffers that are written one after the other. */
export type Packets = readonly Buffer[];

const EVENTS_PER_HTTP_CHUNK = 32;
const HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n' +
  'x-request-id: req_0a1b2c3d4e5f\r\nTransfer-Encoding: chunked\r\n\r\n';
/** Padding is cut from here: about as random as that of a provider. */
const PADDING = 'kYtDZr3qWc8LmXp0vN5sJh1GbTf7RdUe';
const MAX_PADDING = 16;
const LAST_CHUNK = '0\r\n\r\n';

/** A reply of equal pieces, as events of OpenAI's chat completions. */
export function chatReply(shape: Shape, piece: string, pieces: number): Packets {
  return packetsOf(shape, chatEvents(Array.from({ length: pieces }, () => piece)));
}

/** A reply of these pieces, as events of OpenAI's chat completions. */
export function chatEvents(pieces: readonly string[]): string[] {
  return [
    event({ role: 'assistant', content: '' }, null),
    ...pieces.map((content, index) => event({ content }, null, index)),
    [event({}, 'stop'), usage(pieces.length), 'data: [DONE]\n\n'].join(''),
  ];
}

/** A reply of this text that was not asked for as a stream, as the bytes of a whole HTTP response. */
export function wholeChatReply(content: string): Buffer {
  const message = { role: 'assistant', content };
  const body = JSON.stringify({
    ...envelope,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 20, completion_tokens: 3, total_tokens: 23 },
  });
  return Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** The events of a reply as the bytes of a whole HTTP response. */
export function packetsOf(shape: Shape, events: readonly string[]): Packets {
  if (shape === 'paced') return pacedPackets(events);
  const grouped = shape === 'burst' ? inGroups(events, EVENTS_PER_HTTP_CHUNK) : events;
  return [Buffer.from(HEAD + grouped.map(httpChunk).join('') + LAST_CHUNK)];
}

function pacedPackets(events: readonly string[]): Packets {
  const [opening = '', ...rest] = events.map(httpChunk);
  const ending = rest.pop() ?? '';
  const packets = [HEAD + opening, ...rest, ending + LAST_CHUNK];
  // Most packets are equal, so share their buffers.
  const known = new Map<string, Buffer>();
  return packets.map((packet) => {
    const bytes = known.get(packet) ?? Buffer.from(packet);
    known.set(packet, bytes);
    return bytes;
  });
}

function event(delta: Readonly<Record<string, string>>, finishReason: string | null, index = 6): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
  return `data: ${JSON.stringify({ ...envelope, choices, obfuscation: padding(index) })}\n\n`;
}

/**
 * OpenAI pads each event with a random text of another length, so that the size of a packet does not reveal the length
 * of its text.
 */
export function padding(index: number): string {
  const from = (index * 5) % (PADDING.length - MAX_PADDING);
  return PADDING.slice(from, from + 1 + ((index * 7) % MAX_PADDING));
}

function usage(pieces: number): string {
  const counts = { prompt_tokens: 20, completion_tokens: pieces, total_tokens: pieces + 20 };
  return `data: ${JSON.stringify({ ...envelope, choices: [], usage: counts })}\n\n`;
}

const envelope = {
  id: 'chatcmpl-C3tBmKz8hOq1vWnYxLpRdEfGhIjKl',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'gpt-4.1-mini-2025-04-14',
  service_tier: 'default',
  system_fingerprint: 'fp_4f5d9b2e1a',
};

function httpChunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

function inGroups(texts: readonly string[], size: number): string[] {
  return Array.from({ length: Math.ceil(texts.length / size) }, (_, group) =>
    texts.slice(group * size, (group + 1) * size).join(''),
  );
}
