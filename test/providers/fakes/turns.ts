import { expect } from 'vitest';
import type { Image } from '../../../src/core/conversation/image.ts';
import type { Fake } from './fake.ts';
import { images } from './images.ts';
import type { Talker } from './talkers.ts';
import { BEFORE_SUM, type Command, ECHO_RESULT, LOOK, resultsText, SUM_RESULT, TALK } from './what-to-say.ts';

/** What the user gets to read for each command that succeeds. */
const replies = {
  talk: TALK,
  look: LOOK,
  tools: resultsText(ECHO_RESULT, SUM_RESULT),
  sum: `${BEFORE_SUM}\n\n${resultsText(SUM_RESULT)}`,
} as const;

/**
 * Plain talk, two tools at once, an image, a turn that fails, and right behind it one that must not.
 *
 * @param failure how the fourth fails, where tools are called: with an error behind the result of one, or in the middle
 * of a sentence.
 */
export async function fiveTurns(fake: Fake, talker: Talker, failure: 'trouble' | 'break'): Promise<void> {
  const { blind, toolless } = fake;
  await expectReply(talker, 'talk');
  await expectReply(talker, toolless ? 'talk' : 'tools');
  if (blind) await expectFailure(talker, 'look', blind.told, images[blind.image ?? 'png']);
  else await expectReply(talker, 'look', images.png);
  if (toolless) await expectFailure(talker, 'error', /later/);
  else await expectFailure(talker, failure, failure === 'break' ? /closed the connection/ : /later/);
  await expectReply(talker, toolless ? 'talk' : 'sum');
}

/** @param hasTools whether the agent offers any. */
export async function twoTurns(talker: Talker, hasTools: boolean): Promise<void> {
  await expectReply(talker, hasTools ? 'tools' : 'talk');
  await expectReply(talker, hasTools ? 'sum' : 'talk');
}

export async function expectReply(
  talker: Talker,
  command: keyof typeof replies,
  image?: Image,
): Promise<void> {
  expect(await talker.say(command, image), `${talker.session}#${command}`).toEqual({
    text: replies[command],
  });
}

export async function expectFailure(
  talker: Talker,
  command: Command,
  told: RegExp,
  image?: Image,
): Promise<void> {
  const ending = await talker.say(command, image);
  expect(ending, `${talker.session}#${command}`).toEqual({ reason: expect.stringMatching(told) });
}
