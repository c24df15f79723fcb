import { scriptedHarness } from './scripted-harness.ts';
import { languageModelSuite } from './suite.ts';

languageModelSuite(scriptedHarness);
