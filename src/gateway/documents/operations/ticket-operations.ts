import { TicketResponse } from '../../../wire/responses.ts';
import { JSON_TYPE, type Operation, ok } from './operation.ts';

const ticket: Operation = {
  id: 'issueTicket',
  scope: null,
  method: 'POST',
  path: '/api/tickets',
  tag: 'Access',
  summary: 'A ticket for one WebSocket or event stream',
  description:
    'Browsers can send no header with either. The ticket stands for the credential of this request: `?ticket=…`, once, within 30 seconds. What was opened with it ends when that credential does.',
  answers: { [JSON_TYPE]: TicketResponse },
  errors: [],
  examples: [
    {
      name: 'ticket',
      summary: 'A ticket',
      answer: ok({
        ticket: 'mXj0v2k3hQ1b0m2J8f0cJkq3nq4oP1x0aX5H0l1sQ2A',
        expiresAt: '2026-11-21T05:51:56.421Z',
      }),
    },
  ],
};

/** Only where clients are authenticated. */
export const ticketOperations: readonly Operation[] = [ticket];
