import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packetsOf } from '../../bench/support/chat-reply.ts';
import type { Subject } from '../../bench/support/contenders.ts';
import { providerReplies } from '../../bench/support/provider-replies.ts';
import { Scope } from '../../bench/support/scope.ts';
import { startAll } from '../../bench/support/subjects.ts';
import { Upstream } from '../../bench/support/upstream.ts';
import { modelApis } from '../../src/config/schema/llm-config.ts';
import { framesOf, framesWith } from '../support/sockets/bench-frames.ts';

/* The bench `providers` compares the service with the controls in each interface: all have to do the same. */
describe.each(modelApis)('floor, service and plain over %s', (api) => {
  const scope = new Scope({ quick: true });
  let upstream: Upstream;
  let subjects: Subject[];

  beforeAll(async () => {
    upstream = await Upstream.start(scope);
    subjects = await startAll(scope, { upstream: upstream.url, api });
  });
  afterAll(() => scope.close());

  it.each(providerReplies.filter((reply) => reply.api === api))(
    'send the same frames of a reply from $shape',
    async ({ shape, piecesOf, eventsOf }) => {
      const pieces = piecesOf(200);
      upstream.packets = packetsOf('burst', eventsOf(pieces));
      for (const subject of subjects)
        expect(await framesOf(subject, shape), subject.name).toEqual(framesWith(pieces));
    },
  );
});
