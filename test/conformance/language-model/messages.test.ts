import { messagesFormat } from './messages-format.ts';
import { providerHarness } from './provider-harness.ts';
import { languageModelSuite } from './suite.ts';

const lacks = { refusal: 'Claude refuses by an ending, not in words of their own' };
languageModelSuite(providerHarness('the model of the Messages API', messagesFormat, lacks));
