import { describe, expect, it } from 'vitest';
import type { RunningService } from '../support/service/running-service.ts';
import { viewOf } from '../support/sessions/session-api.ts';
import {
  allFakes,
  budgetClaudeFake,
  geminiOnOpenRouter,
  googleFake,
  responsesFake,
} from './fakes/all-fakes.ts';
import { allRules } from './fakes/all-rules.ts';
import {
  expectCutShort,
  expectHeard,
  expectImage,
  expectLogged,
  expectMistralIds,
  expectNoOtherRefusals,
  expectNoOtherThoughts,
  expectNothingNeedless,
  expectNothingOfOthers,
  expectResultsInOrder,
  expectReturned,
} from './fakes/checks.ts';
import { perplexityFake } from './fakes/compatible-fakes.ts';
import { type Fake, firstRules } from './fakes/fake.ts';
import { inMemory, onDisk } from './fakes/session-store.ts';
import { Stage } from './fakes/stage.ts';
import { overRest, overSocket } from './fakes/talkers.ts';
import { everything, plain } from './fakes/tool-servers.ts';
import { expectFailure, fiveTurns, twoTurns } from './fakes/turns.ts';
import { wordsOf } from './fakes/what-to-say.ts';

const takesAll = ({ blind, toolless }: Fake): boolean => blind === undefined && toolless === undefined;

/** Two others for each: one of another interface, and mostly one of the same, with habits of its own. */
function partnersOf(fake: Fake, place: number): readonly [Fake, Fake] {
  const chats = allFakes.filter((other) => firstRules(other).api === 'chat' && takesAll(other));
  const next = chats.find((other) => allFakes.indexOf(other) > place) ?? googleFake;
  switch (firstRules(fake).api) {
    case 'chat':
      return place % 2 === 0 ? [budgetClaudeFake, next] : [next, responsesFake];
    case 'messages':
      return [responsesFake, chats[place] ?? googleFake];
    case 'responses':
      return [chats.at(-1 - place) ?? googleFake, budgetClaudeFake];
    default:
      throw new Error(`nobody speaks ${firstRules(fake).api}`);
  }
}

/** One of each interface: a data directory and the reference server of the protocol take seconds. */
const thorough = [responsesFake, budgetClaudeFake, googleFake];

type Case = (typeof cases)[number];

const cases = allFakes.map((fake, place) => {
  const [first, second] = partnersOf(fake, place);
  const isThorough = thorough.includes(fake);
  return { name: fake.name, fake, first, second, isThorough, keepReasoning: place % 3 === 0 };
});

describe('the fake providers', () => {
  it('have all rules that are known', async () => {
    const known = await allRules();
    expect(known.length).toBeGreaterThan(20);
    const asked = allFakes.flatMap(({ rules }) => rules);
    expect(known.filter(({ rules }) => !asked.includes(rules)).map(({ file }) => file)).toEqual([]);
  });
});

describe.concurrent('a conversation with', { timeout: 180_000 }, () => {
  it.each(cases)('$name goes on with $first.name, or $second.name, and comes back', async (one) => {
    const { fake, first, second, isThorough } = one;
    await using stage = await Stage.set(isThorough ? await onDisk() : inMemory(), [fake, first, second]);
    try {
      await converse(stage, one);
    } finally {
      // A turn that failed is a riddle; a request that was refused is not.
      for (const provider of stage.providers) expectNoOtherRefusals(provider);
    }
    for (const provider of stage.providers) {
      const others = stage.providers.filter((other) => other !== provider);
      expectResultsInOrder(provider);
      expectNoOtherThoughts(provider);
      expectNothingOfOthers(provider, others);
      expectNothingNeedless(provider);
      expectMistralIds(provider);
      expectImage(provider, fake.blind === undefined);
      for (const session of SESSIONS) expectReturned(provider, session);
    }
  });
});

const SESSIONS = ['ws', 'rest'];

/** In a session over WebSocket and in one over REST: five turns, two of another provider, and two more. */
async function converse(stage: Stage, one: Case): Promise<void> {
  const { fake, first, second, keepReasoning, isThorough } = one;
  const hasTools = fake.toolless === undefined;
  const othersHaveTools = fake.toolless !== 'history';
  const tools = isThorough ? everything : plain;
  await during(stage.service(fake, hasTools ? tools : {}, { keepReasoning }), async (service) => {
    using client = await service.connect('?session=ws&reasoning=1');
    await fiveTurns(fake, overSocket(client, 'ws'), 'break');
    await fiveTurns(fake, overRest(service, 'rest'), 'trouble');
    expectHeard(client.frames, stage.providerOf(fake).of('ws'));
    expectCutShort(client.frames, stage.providerOf(fake).of('ws'));
  });
  for (const session of SESSIONS) {
    expectLogged(await stage.sessions.log(session), stage.providerOf(fake).of(session), keepReasoning);
  }
  await during(stage.service(first, othersHaveTools ? plain : {}), async (service) => {
    using client = await service.connect('?session=ws&reasoning=1');
    await twoTurns(overSocket(client, 'ws'), othersHaveTools);
    expectHeard(client.frames, stage.providerOf(first).of('ws'));
  });
  await during(stage.service(second, othersHaveTools ? plain : {}), (service) =>
    twoTurns(overRest(service, 'rest'), othersHaveTools),
  );
  await during(stage.service(fake, hasTools ? plain : {}), async (service) => {
    using client = await service.connect('?session=ws');
    await twoTurns(overSocket(client, 'ws'), hasTools);
    await twoTurns(overRest(service, 'rest'), hasTools);
  });
}

describe.concurrent('a turn that one provider has begun', () => {
  const ofEach = allFakes.filter(takesAll).filter((fake, place, all) => {
    const isFirst = all.findIndex((other) => firstRules(other) === firstRules(fake)) === place;
    return isFirst || fake === geminiOnOpenRouter;
  });
  it.each(ofEach)('is ended by another: $name', async (fake) => {
    const beginner = firstRules(fake).api === 'chat' ? responsesFake : googleFake;
    await using stage = await Stage.set(inMemory(), [beginner, fake]);
    const held = Promise.withResolvers<void>();
    stage.providerOf(beginner).holding = held;
    await during(stage.service(beginner, plain), async (service) => {
      using client = await service.connect('?session=ws');
      client.say(wordsOf('ws', 'tools'));
      await held.promise;
    });
    await during(stage.service(fake, plain), async (service) => {
      await twoTurns(overRest(service, 'ws'), true);
      expect((await viewOf(service, 'ws')).turns).toMatchObject({ requested: 3, completed: 3 });
    });
    for (const provider of stage.providers) {
      expectNoOtherRefusals(provider);
      expectResultsInOrder(provider);
    }
    expectNothingOfOthers(stage.providerOf(fake), [stage.providerOf(beginner)]);
  });
});

describe.concurrent('a conversation that has what a provider never takes', () => {
  it('loses one turn at a model that sees no images, and goes on without them', async () => {
    const blind = fakeNamed('OpenAI o3-mini over chat, which sees nothing');
    await using stage = await Stage.set(inMemory(), [budgetClaudeFake, blind]);
    await during(stage.service(budgetClaudeFake, plain), (service) =>
      fiveTurns(budgetClaudeFake, overRest(service, 'rest'), 'trouble'),
    );
    await during(stage.service(blind, plain), async (service) => {
      const talker = overRest(service, 'rest');
      await expectFailure(talker, 'talk', /did not accept an image/);
      await twoTurns(talker, true);
    });
    const { exchanges } = stage.providerOf(blind);
    expect(exchanges.map(({ refusedBy }) => refusedBy)).toEqual([blind.blind?.rule, ...Array(4)]);
  });

  it('begins anew, after three turns, at a provider that takes no trace of tools', async () => {
    await using stage = await Stage.set(inMemory(), [responsesFake, perplexityFake]);
    await during(stage.service(responsesFake, plain), (service) =>
      fiveTurns(responsesFake, overRest(service, 'rest'), 'trouble'),
    );
    await during(stage.service(perplexityFake, {}), async (service) => {
      const talker = overRest(service, 'rest');
      for (let refused = 0; refused < 3; refused += 1)
        await expectFailure(talker, 'talk', /refused the request/);
      await twoTurns(talker, false);
    });
    const { exchanges } = stage.providerOf(perplexityFake);
    const [rule] = firstRules(perplexityFake).rules;
    expect(exchanges.map(({ refusedBy }) => refusedBy)).toEqual([...Array(3).fill(rule?.name), ...Array(2)]);
  });
});

function fakeNamed(name: string): Fake {
  const found = allFakes.find((fake) => fake.name === name);
  if (!found) throw new Error(`there is no fake of ${name}`);
  return found;
}

async function during(
  starting: Promise<RunningService>,
  work: (service: RunningService) => Promise<void>,
): Promise<void> {
  await using service = await starting;
  await work(service);
}
