import { asServiceError } from '../../core/errors.ts';
import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import type { Bus } from '../../ports/bus.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { OAuthCallbackQuery } from '../../wire/requests.ts';
import { type Html, html } from '../documents/page/html.ts';
import type { ServedRequest } from '../http/http-message.ts';
import type { Route } from '../http/router.ts';
import { parseForeign } from '../requests/request-fields.ts';

export const CALLBACK_PATH = '/oauth/callback';

const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  // The address of this page has the code.
  'Referrer-Policy': 'no-referrer',
};

/** Where an authorization server sends the browser of a person who was asked about a tool server. */
export function oauthCallbackRoute(bus: Bus): Route {
  return { method: 'GET', path: CALLBACK_PATH, access: 'open', handler: (request) => finish(bus, request) };
}

/** Answers with a page also for what goes wrong: a person reads it. */
async function finish(bus: Bus, request: ServedRequest): Promise<HttpResponse> {
  try {
    const response = parseForeign(OAuthCallbackQuery, Object.fromEntries(new URLSearchParams(request.query)));
    return page(200, succeeded(await bus.send('mcp-server.authorize', response, request.context)));
  } catch (thrown) {
    const error = asServiceError(thrown);
    if (error.code === 'INTERNAL_ERROR') throw thrown;
    return page(400, failed(error.message, error.details));
  }
}

function succeeded({ name, status, error }: McpServerRecord): Html {
  if (status === 'connected')
    return html`<h1>Authorized</h1><p>The tool server ${name} is connected. You can close this page.</p>`;
  return html`<h1>Authorized, but not connected</h1><p>The service may use the tool server ${name} now, but could not connect it: ${error ?? status}. It tries again by itself.</p>`;
}

function failed(message: string, { reason, suggestion }: Readonly<Record<string, unknown>>): Html {
  const said = [message, reason, suggestion].filter((text) => typeof text === 'string');
  return html`<h1>Not authorized</h1>${said.map((text) => html`<p>${text}</p>`)}`;
}

function page(status: number, content: Html): HttpResponse {
  const document = html`<!doctype html><html lang="en"><meta charset="utf-8"><title>agent-service</title><main>${content}</main></html>`;
  return { status, headers, body: document.markup };
}
