import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { readEventStream, StreamCutError } from '../../src/adapters/openai/event-stream.ts';
import { rejection } from '../support/openai-model-harness.ts';

it('an event stream that was over before anybody listened is a cut one, and not waited for', async () => {
  const body = Readable.from(['data: lost\n\n']).resume();
  await once(body, 'close');
  const ignore = (): void => undefined;
  expect(await rejection(readEventStream(body, { onBytes: ignore, onEvent: ignore }))).toBeInstanceOf(
    StreamCutError,
  );
});
