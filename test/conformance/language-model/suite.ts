import { describe } from 'vitest';
import { cancelScenarios } from './cancelling.ts';
import { endingScenarios } from './endings.ts';
import { errorScenarios } from './errors.ts';
import { type LanguageModelHarness, printLacks } from './harness.ts';
import { opaqueScenarios } from './opaque-parts.ts';
import { replyScenarios } from './replies.ts';
import { wireScenarios } from './wire.ts';

/** Holds a model to the promises written at `LanguageModel`. */
export function languageModelSuite(harness: LanguageModelHarness): void {
  printLacks(harness);
  describe(`${harness.name} keeps the promises of a language model`, () => {
    replyScenarios(harness);
    endingScenarios(harness);
    errorScenarios(harness);
    cancelScenarios(harness);
    wireScenarios(harness);
    opaqueScenarios(harness);
  });
}
