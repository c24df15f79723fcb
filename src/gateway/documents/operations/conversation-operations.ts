import { z } from 'zod';
import { scopeOf, scopesOfAll } from '../../../ports/request-rules.ts';
import {
  Conversation,
  ConversationUpdate,
  DeletedConversation,
  NewConversation,
  NewItems,
} from '../../openai/conversations/conversation-request.ts';
import { OpenAiError, openAiError } from '../../openai/openai-error.ts';
import { ItemsQuery } from '../../openai/responses/item-page.ts';
import { SessionItem, SessionItemList } from '../../openai/responses/session-items.ts';
import { JSON_TYPE, KeyHeader, type Operation } from './operation.ts';

type Example = Operation['examples'][number];

/* Ids and times, in place of those that nobody can foresee. */
const id = 'trip-9d51';
const gone = 'trip-over';
const created = 1_795_240_286;
const turnId = '0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e';
const added = `in_1c7f0e0b-6f0e-4a53-9d51-0d2f3f1c7f0e_0~${id}`;

const one = { conversation: id };
const conversation = { id, object: 'conversation', created_at: created, metadata: { topic: 'trip' } };

const question = {
  type: 'message',
  id: `in_${turnId}_1_0~${id}`,
  status: 'completed',
  role: 'user',
  content: [{ type: 'input_text', text: 'hello' }],
};
const answer = {
  type: 'message',
  id: `msg_${turnId}_1~${id}`,
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hello!', annotations: [], logprobs: [] }],
};
const ann = { type: 'message', role: 'user', content: 'I am Ann.' };

const common = {
  tag: 'OpenAI',
  errorFormat: { schema: OpenAiError, body: openAiError },
} satisfies Partial<Operation>;

const ofConversation = {
  ...common,
  path: '/v1/conversations/:conversation',
  pathParameters: z.object({ conversation: z.string() }),
  errors: ['SESSION_NOT_FOUND'],
} satisfies Partial<Operation>;

const ofItems = { ...ofConversation, path: '/v1/conversations/:conversation/items' } as const;

const ofItem = {
  ...ofConversation,
  path: '/v1/conversations/:conversation/items/:item',
  pathParameters: z.object({ conversation: z.string(), item: z.string() }),
} as const;

const unknown: Example = {
  name: 'unknown',
  summary: 'There is no such conversation',
  parameters: { conversation: 'nobody' },
  answer: {
    error: 'SESSION_NOT_FOUND',
    message: 'There is no conversation nobody.',
    details: {
      field: 'conversation_id',
      suggestion: 'A conversation belongs to the agent under whose address it was created.',
    },
  },
};

const shown: Example = {
  name: 'shown',
  summary: 'A conversation',
  parameters: one,
  answer: { status: 200, body: conversation },
};

/** OpenAI's conversations. */
export const conversationOperations: readonly Operation[] = [
  {
    ...common,
    id: 'createConversation',
    scope: scopesOfAll('session.describe', 'session.view'),
    method: 'POST',
    path: '/v1/conversations',
    summary: 'Begin a conversation',
    description:
      'It is a session. Its id is the `conversation` of responses, and the `sessionId` of every other interface.',
    headers: KeyHeader,
    body: { schema: NewConversation, required: false },
    answers: { [JSON_TYPE]: Conversation },
    errors: [],
    examples: [
      {
        name: 'begun',
        summary: 'With something to find it by',
        body: { metadata: { topic: 'trip' } },
        answer: { status: 200, body: { ...conversation, id: 'conv-0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e' } },
      },
    ],
  },
  {
    ...ofConversation,
    id: 'showConversation',
    scope: scopeOf('session.view'),
    method: 'GET',
    summary: 'Show a conversation',
    answers: { [JSON_TYPE]: Conversation },
    examples: [shown, unknown],
  },
  {
    ...ofConversation,
    id: 'updateConversation',
    scope: scopesOfAll('session.describe', 'session.view'),
    method: 'POST',
    summary: 'Change the metadata of a conversation',
    body: { schema: ConversationUpdate, required: true },
    answers: { [JSON_TYPE]: Conversation },
    examples: [
      {
        name: 'updated',
        summary: 'In place of the present one',
        parameters: one,
        body: { metadata: { topic: 'Rome' } },
        answer: { status: 200, body: { ...conversation, metadata: { topic: 'Rome' } } },
      },
    ],
  },
  {
    ...ofItems,
    id: 'listConversationItems',
    scope: scopeOf('session.events'),
    method: 'GET',
    summary: 'List what was said in a conversation',
    description: 'Since it was last cleared. The items of its responses have the ids that they have there.',
    query: ItemsQuery,
    answers: { [JSON_TYPE]: SessionItemList },
    examples: [
      {
        name: 'items',
        summary: 'A message and its answer, newest first',
        parameters: one,
        answer: {
          status: 200,
          body: {
            object: 'list',
            data: [answer, question],
            first_id: answer.id,
            last_id: question.id,
            has_more: false,
          },
        },
      },
      unknown,
    ],
  },
  {
    ...ofItems,
    id: 'addConversationItems',
    scope: scopesOfAll('session.extend', 'session.events'),
    method: 'POST',
    summary: 'Add to a conversation, without an answer',
    description: 'Refused while a response is in progress.',
    headers: KeyHeader,
    body: { schema: NewItems, required: true },
    answers: { [JSON_TYPE]: SessionItemList },
    errors: ['SESSION_NOT_FOUND', 'SESSION_BUSY', 'MISSING_FIELD'],
    examples: [
      {
        name: 'added',
        summary: 'A message',
        parameters: one,
        body: { items: [ann] },
        answer: {
          status: 200,
          body: {
            object: 'list',
            data: [
              {
                ...ann,
                content: [{ type: 'input_text', text: ann.content }],
                id: added,
                status: 'completed',
              },
            ],
            first_id: added,
            last_id: added,
            has_more: false,
          },
        },
      },
    ],
  },
  {
    ...ofItem,
    id: 'showConversationItem',
    scope: scopeOf('session.events'),
    method: 'GET',
    summary: 'Show an item of a conversation',
    answers: { [JSON_TYPE]: SessionItem },
    examples: [
      {
        name: 'shown',
        summary: 'A message of the agent',
        parameters: { ...one, item: answer.id },
        answer: { status: 200, body: answer },
      },
    ],
  },
  {
    ...ofItem,
    id: 'deleteConversationItem',
    scope: scopesOfAll('session.delete', 'session.events'),
    method: 'DELETE',
    summary: 'Is refused: a conversation is deleted as a whole',
    answers: {},
    examples: [
      {
        name: 'refused',
        summary: 'A message of the agent',
        parameters: { ...one, item: answer.id },
        answer: {
          error: 'INVALID_REQUEST',
          message: 'An item cannot be deleted alone.',
          details: {
            field: 'item_id',
            issue: 'events are erased only with their whole session',
            suggestion: `DELETE /v1/conversations/${id} deletes the conversation.`,
          },
        },
      },
    ],
  },
  {
    ...ofConversation,
    id: 'deleteConversation',
    scope: scopesOfAll('session.delete', 'session.events'),
    method: 'DELETE',
    summary: 'Delete a conversation, with all that was said in it',
    answers: { [JSON_TYPE]: DeletedConversation },
    examples: [
      {
        name: 'deleted',
        summary: 'A conversation',
        parameters: { conversation: gone },
        answer: { status: 200, body: { id: gone, object: 'conversation.deleted', deleted: true } },
      },
      unknown,
    ],
  },
];
