import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { closeAtOnce, listenLocally, originOf } from '../sockets/local-server.ts';

const Value = z
  .union([
    z.object({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
    z.object({ intValue: z.union([z.string(), z.number()]) }).transform(({ intValue }) => Number(intValue)),
    z.object({ doubleValue: z.number() }).transform(({ doubleValue }) => doubleValue),
    z.object({ boolValue: z.boolean() }).transform(({ boolValue }) => boolValue),
  ])
  .or(z.unknown().transform(() => undefined));
const Attributes = z
  .array(z.object({ key: z.string(), value: Value }))
  .default([])
  .transform((pairs) => Object.fromEntries(pairs.map(({ key, value }) => [key, value])));
const Span = z.object({
  name: z.string(),
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z.string().optional(),
  attributes: Attributes,
  status: z.object({ code: z.number().optional(), message: z.string().optional() }).default({}),
});
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(z.object({ spans: z.array(Span) })),
    }),
  ),
});

export type ReceivedSpan = z.infer<typeof Span>;

/** What a collector is to the service: takes spans by OTLP over HTTP, as JSON. */
export class OtlpReceiver implements AsyncDisposable {
  readonly #server: Server;
  readonly paths: string[] = [];
  readonly bodies: string[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        this.paths.push(request.url ?? '');
        this.bodies.push(body);
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
  }

  static async listen(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await listenLocally(receiver.#server);
    return receiver;
  }

  get url(): string {
    return originOf(this.#server);
  }

  get resource(): Record<string, unknown> {
    return this.#exports[0]?.resource.attributes ?? {};
  }

  get spans(): ReceivedSpan[] {
    return this.#exports.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  }

  /** The one span of that name. */
  span(name: string): ReceivedSpan {
    const [span, ...others] = this.spans.filter((candidate) => candidate.name === name);
    if (!span || others.length > 0)
      throw new Error(`not one ${name} among ${this.spans.map((other) => other.name)}`);
    return span;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAtOnce(this.#server);
  }

  get #exports() {
    return this.bodies.flatMap((body) => Export.parse(JSON.parse(body)).resourceSpans);
  }
}
