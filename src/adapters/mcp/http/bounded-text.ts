/** The text of a body, or its beginning. */
export interface BoundedText {
  readonly text: string;
  readonly isCut: boolean;
}

/** Reads at most so many bytes, and cancels the rest. */
export async function boundedText({ body }: Response, maxBytes: number): Promise<BoundedText> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body ?? []) {
    const room = maxBytes - bytes;
    bytes += chunk.byteLength;
    text += decoder.decode(chunk.subarray(0, room), { stream: true });
    if (chunk.byteLength > room) return { text, isCut: true };
  }
  return { text: text + decoder.decode(), isCut: false };
}
