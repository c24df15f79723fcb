import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeAtOnce, listenLocally, originOf } from '../../support/sockets/local-server.ts';
import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { isJsonObject, type JsonObject } from '../rules/body-fields.ts';
import { type Fake, firstRules } from './fake.ts';
import { type Api, type Item, paths, readConversation } from './read-conversation.ts';
import { halves, type Saying, type Spoken } from './voice.ts';
import { type Asked, askedIn, replyTo } from './what-to-say.ts';

/** A request, and what the fake made of it. */
export interface Exchange extends Asked {
  readonly body: JsonObject;
  readonly items: readonly Item[];
  /** The name of the rule by which it was refused. */
  readonly refusedBy: string | undefined;
  /** What was answered; undefined where that was an error. */
  readonly spoken: Spoken | undefined;
  /** Whether the answer was broken off. */
  readonly isBroken: boolean;
}

/** A provider over real HTTP: it refuses what the provider refuses, and answers as the provider does. */
export class FakeProvider implements AsyncDisposable {
  readonly fake: Fake;
  readonly exchanges: Exchange[] = [];
  /** Set where requests with results of tools are to be left unanswered: resolved when one has come. */
  holding: PromiseWithResolvers<void> | undefined;
  readonly #server: Server;
  /** Its replies are marked with it. */
  readonly #letter: string;
  #replies = 0;

  private constructor(server: Server, fake: Fake, letter: string) {
    this.fake = fake;
    this.#server = server;
    this.#letter = letter;
    server.on('request', (request, response) => {
      this.#take(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)));
    });
  }

  /** @param letter that no other fake of the test has. */
  static async listen(fake: Fake, letter: string): Promise<FakeProvider> {
    const server = createServer();
    const provider = new FakeProvider(server, fake, letter);
    await listenLocally(server);
    return provider;
  }

  /** For `llm.baseURL`. */
  get baseURL(): string {
    return `${originOf(this.#server)}/v1`;
  }

  get api(): Api {
    return firstRules(this.fake).api;
  }

  /** The exchanges of a session, in their order. */
  of(session: string): readonly Exchange[] {
    return this.exchanges.filter((exchange) => exchange.session === session);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAtOnce(this.#server);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url !== `/v1${paths[this.api]}`) throw new Error(`nothing is served at ${request.url}`);
    const body: unknown = JSON.parse(await text(request));
    if (!isJsonObject(body)) throw new Error('the body is no object');
    const refused = refusedIn(this.fake.rules, body);
    const items = readConversation(this.api, body);
    const asked = askedIn(items);
    if (this.holding && asked.results.length > 0) {
      this.holding.resolve();
      return;
    }
    const reply = refused ? 'error' : replyTo(asked, this.#nextMark(), this.fake.alwaysThinks ?? false);
    const spoken = reply === 'error' ? undefined : this.fake.voice(reply.saying, this.#mark);
    const isBroken = reply !== 'error' && reply.isBroken === true;
    this.exchanges.push({ ...asked, body, items, refusedBy: refused?.rule, spoken, isBroken });
    if (refused) sendJson(response, refused.refusal);
    else if (reply === 'error' || !spoken) sendJson(response, trouble(this.api));
    else await sendEvents(response, bodyOf(spoken), isBroken ? reply.saying : undefined);
  }

  #nextMark(): string {
    this.#replies += 1;
    return this.#mark;
  }

  get #mark(): string {
    return `${this.#letter}${String(this.#replies).padStart(4, '0')}`;
  }
}

/** The first rule that the request breaks. */
function refusedIn(
  all: readonly ProviderRules[],
  body: JsonObject,
): { readonly rule: string; readonly refusal: Refusal } | undefined {
  for (const { name, refusal } of all.flatMap(({ rules }) => rules)) {
    const refused = refusal(body);
    if (refused) return { rule: name, refusal: refused };
  }
  return undefined;
}

function trouble(api: Api): Refusal {
  const message = 'Internal server error';
  return api === 'messages'
    ? { status: 500, body: { type: 'error', error: { type: 'api_error', message } } }
    : { status: 500, body: { error: { message, type: 'server_error', param: null, code: null } } };
}

function bodyOf({ answer: { body } }: Spoken): string {
  if (typeof body !== 'string') throw new Error('a voice answers with one text');
  return body;
}

function sendJson(response: ServerResponse, { status, body }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** @param broken what is broken off in the middle of its text. */
async function sendEvents(response: ServerResponse, body: string, broken: Saying | undefined): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (!broken) {
    response.end(body);
    return;
  }
  const events = body.split(/(?<=\n\n)/);
  const [first] = halves(broken.text);
  const place = events.findIndex((event) => event.includes(first));
  if (place === -1) throw new Error('the text is nowhere to be broken off');
  const written = Promise.withResolvers<void>();
  response.write(events.slice(0, place + 1).join(''), () => written.resolve());
  await written.promise;
  response.destroy();
}
