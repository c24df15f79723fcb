import { describe, expect, it } from 'vitest';
import { filesLength, type GivenThread, givenThread } from '../../../../src/gateway/ag-ui/given-thread.ts';
import { InputMessage } from '../../../../src/gateway/ag-ui/run-input.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = (value: string, mimeType?: string) => ({
  type: 'image',
  source: { type: 'data', value, ...(mimeType && { mimeType }) },
});

/** A message of the user with these parts, as a client sends it. */
const sent = (...content: object[]) => InputMessage.parse({ id: 'u', role: 'user', content });
const given = (...content: object[]): GivenThread =>
  givenThread([sent(...content)], { maxImageBytes: false, isKnown: false });

describe('the parts of a message of AG-UI', () => {
  it('are left out with a warning if nobody knows their type', () => {
    const binary = { type: 'binary', mimeType: 'image/png', data: PIXEL };
    const { history, warnings } = given({ type: 'text', text: 'Look.' }, binary, { type: 'mood' });
    expect(history).toEqual([{ role: 'user', text: 'Look.' }]);
    expect(warnings).toEqual([
      'messages.0.content.1 was left out: the agent takes text and images, and no binary.',
      'messages.0.content.2 was left out: the agent takes text and images, and no mood.',
    ]);
    expect(filesLength([sent(binary)])).toBe(JSON.stringify(binary).length);
  });

  it('are refused if they are not what their type says', () => {
    expect(() => given({ type: 'text' })).toThrow();
    expect(() => given({ type: 'image', data: PIXEL })).toThrow();
    expect(() => given({ text: 'no type' })).toThrow();
  });

  it('are images by their first bytes', () => {
    const { history, warnings } = given(image(PIXEL), image(PIXEL, 'image/jpeg'), image('aaaa'));
    expect(history).toEqual([{ role: 'user', text: '', images: [{ mimeType: 'image/png', base64: PIXEL }] }]);
    expect(warnings).toEqual([
      'messages.0.content.1 was left out: source.mimeType is not valid: must be image/png, as the first bytes of the image say.',
      'messages.0.content.2 was left out: source.mimeType is not valid: is needed, because the first bytes are those of no PNG, JPEG, GIF or WebP.',
    ]);
  });
});
