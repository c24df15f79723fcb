import { providerHarness } from './provider-harness.ts';
import { responsesFormat } from './responses-format.ts';
import { languageModelSuite } from './suite.ts';

languageModelSuite(providerHarness('the model of the Responses API', responsesFormat));
