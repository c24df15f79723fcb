import { chatFormat } from './chat-format.ts';
import { providerHarness } from './provider-harness.ts';
import { languageModelSuite } from './suite.ts';

languageModelSuite(providerHarness('the model of chat completions', chatFormat));
