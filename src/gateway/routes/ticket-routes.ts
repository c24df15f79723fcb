import type { TicketResponse } from '../../wire/responses.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import type { Route } from '../http/router.ts';
import type { HeldCredentials } from '../security/held-credentials.ts';
import type { Tickets } from '../security/tickets.ts';

/** `POST /api/tickets`: a ticket for one WebSocket or event stream of the same client. */
export function ticketRoutes(tickets: Tickets, credentials: Pick<HeldCredentials, 'refuseRevoked'>): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/tickets',
      access: null,
      handler: async ({ context }) => {
        credentials.refuseRevoked(context);
        const { ticket, expiresAt } = tickets.issue(context);
        return jsonResponse<TicketResponse>({
          ticket,
          expiresAt: new Date(expiresAt).toISOString(),
          timestamp: now(),
        });
      },
    },
  ];
}
