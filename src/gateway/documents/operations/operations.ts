import { a2aOperations } from './a2a-operations.ts';
import { a2aPushOperations } from './a2a-push-operations.ts';
import { agUiOperations } from './ag-ui-operations.ts';
import { agentOperations } from './agent-operations.ts';
import { conversationOperations } from './conversation-operations.ts';
import { messageOperations } from './message-operations.ts';
import { nodeOperation } from './node-operation.ts';
import { openAiOperations } from './openai-operations.ts';
import type { Operation } from './operation.ts';
import { serverOperations } from './server-operations.ts';
import { serviceOperations } from './service-operations.ts';
import { sessionOperations } from './session-operations.ts';
import { waitingCallOperations } from './waiting-call-operations.ts';

/** The whole REST interface, in the order of the documents. */
export const operations: readonly Operation[] = [
  ...messageOperations,
  ...sessionOperations,
  ...waitingCallOperations,
  ...serverOperations,
  ...agentOperations,
  ...openAiOperations,
  ...conversationOperations,
  ...a2aOperations,
  ...a2aPushOperations,
  ...agUiOperations,
  nodeOperation,
  ...serviceOperations,
];
