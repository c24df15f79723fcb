import { z } from 'zod';
import { Image } from '../../core/conversation/image.ts';
import { ServiceError } from '../../core/errors.ts';
import { checkImageSize, type MaxBytes } from '../../core/size-limits.ts';
import { SentImage } from '../../wire/requests.ts';
import { parseWritten } from '../requests/request-fields.ts';
import { a2aError } from './a2a-error.ts';
import type { Message, Part } from './a2a-objects.ts';

/** What a message says to the model. */
export interface MessageContent {
  readonly text: string;
  readonly image?: Image;
}

/** Data is shown to the model as JSON. Throws if the model cannot be shown a part. */
export function messageContent({ parts }: Message, maxImageBytes: MaxBytes): MessageContent {
  if (parts.length === 0) throw noParts();
  const texts: string[] = [];
  const images: Image[] = [];
  for (const [index, part] of parts.entries()) {
    const field = `message.parts.${index}`;
    checkContent(part, field);
    if (part.text !== undefined) texts.push(part.text);
    else if (part.raw !== undefined) images.push(imageOf(part, field));
    else texts.push(JSON.stringify(part.data));
  }
  const [image, ...others] = images;
  if (others.length > 0) throw manyImages();
  if (image) checkImageSize(image, maxImageBytes);
  return { text: texts.join('\n\n'), ...(image && { image }) };
}

const WithFiles = z.object({
  message: z.object({ parts: z.array(z.object({ raw: z.string().optional() })) }),
});

/** Length of the base64 of all files, in the parameters of a method. */
export function filesLength(params: unknown): number {
  const { message } = WithFiles.safeParse(params).data ?? {};
  return (message?.parts ?? []).reduce((sum, { raw = '' }) => sum + raw.length, 0);
}

function checkContent(part: Part, field: string): void {
  const kinds = [part.text, part.raw, part.url, part.data].filter((content) => content !== undefined);
  if (kinds.length !== 1)
    throw new ServiceError('INVALID_REQUEST', 'A part has exactly one content.', {
      field,
      issue: `it has ${kinds.length} of text, raw, url and data`,
    });
  if (part.url !== undefined)
    throw a2aError('CONTENT_TYPE_NOT_SUPPORTED', 'The service fetches no files for a client.', {
      field: `${field}.url`,
      issue: 'it is an address',
      suggestion: 'Send the content of an image itself, as raw.',
    });
}

function imageOf({ raw, mediaType }: Part, field: string): Image {
  const types: readonly string[] = Image.shape.mimeType.options;
  if (mediaType === undefined || !types.includes(mediaType))
    throw a2aError('CONTENT_TYPE_NOT_SUPPORTED', 'The only files that the agent reads are images.', {
      field: `${field}.mediaType`,
      issue: mediaType === undefined ? 'it is missing' : `it is ${mediaType}`,
      supported: types,
    });
  return parseWritten(SentImage, { base64: raw, mimeType: mediaType }, (part) =>
    part === 'mimeType' ? `${field}.mediaType` : `${field}.raw`,
  );
}

function noParts(): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'A message needs at least one part.', {
    field: 'message.parts',
    issue: 'it is empty',
  });
}

function manyImages(): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'A message can have one image.', {
    field: 'message.parts',
    issue: 'it has several images',
    suggestion: 'Send the others with further messages.',
  });
}
